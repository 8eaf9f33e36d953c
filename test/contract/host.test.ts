/** The contract over a real host's socket: submission, stop, retry, checks. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JobRequest } from '../../core/contract/job-request.js';
import { eventually } from '../harness/eventually.js';
import {
  lastAttempt,
  over,
  refusalOf,
  running,
  shell,
  stop,
  submit,
  summaryWhen,
  verifiedGone,
} from '../harness/host-jobs.js';
import { processesOf } from '../harness/left-processes.js';
import { sharedHost } from '../harness/shared-host.js';

const shared = sharedHost();

describe('submission', () => {
  test('the same request again gives the first answer and no second job, also after a kill of the host', async () => {
    const requestId = randomUUID();
    const request = shell('exit 0');
    const first = await shared.send(request, requestId);
    expect(first).toMatchObject({ existed: false });
    expect(await shared.send(request, requestId)).toEqual(first);
    expect((await over(shared.client, first.jobId)).state).toBe('SUCCEEDED');
    await shared.killAndStart();
    expect(await shared.send(request, requestId)).toEqual(first);
    const { total } = await shared.client.call('job.list', {
      filter: { search: first.jobId },
      sort: { key: 'submitted', descending: false },
      offset: 0,
      limit: 10,
    });
    expect(total).toBe(1);
  });

  test('what no machine has is refused with field, value and what there is', async () => {
    const { cpuMillicoresTotal } = await shared.machine();
    const cores = cpuMillicoresTotal / 1000;
    const refused = await refusalOf(shared.send(shell('true', { cpu: 5000, memory: '800TiB' })));
    expect(refused.code).toBe('INFEASIBLE');
    expect(refused.fields[0]).toEqual({
      field: 'cpu',
      value: '5000 CPU cores',
      expected: `${cores} CPU core${cores === 1 ? '' : 's'} on this machine`,
    });
    expect(refused.fields[1]).toMatchObject({ field: 'memory', value: '800 TiB' });
    expect(refused.message).toContain('5000 CPU cores');
  });

  test('cards that no machine has are waited for, and the submission says so', async () => {
    const sent = await shared.send(shell('true', { gpu: 'H100x8' }));
    expect(sent.warnings.join(' ')).toMatch(/^No machine has 8 h100 GPUs now \(what there is: no GPU/);
    const { summary } = await shared.client.call('job.get', { jobId: sent.jobId });
    expect(summary).toMatchObject({
      state: 'PENDING',
      waiting: { code: 'WAITS_NO_WORKER_FITS', message: expect.stringContaining('Asked for 8 h100 GPUs') },
    });
    await shared.client.call('job.stop', { jobIds: [sent.jobId], requestId: 'stop-h100-waiter' });
  });

  test('a wrong field is refused with its name, value and what would be right', async () => {
    const refused = await refusalOf(shared.send({ ...shell('true'), replicas: 'many' }));
    expect(refused).toMatchObject({
      code: 'INVALID_ARGUMENT',
      fields: [
        { field: 'replicas', value: 'many', expected: expect.stringMatching(/^a whole number from 1/) },
      ],
    });
  });

  test('a name in use: ERROR and the default refuse, KEEP returns it, RECREATE replaces it', async () => {
    const name = 'policy';
    const long = shell('exec sleep 600', { name, grace: 1 });
    const first = await shared.send(long);
    expect(first).toMatchObject({ jobId: `/${shared.user}/policy`, existed: false });
    await running(shared.client, first.jobId);
    for (const existingJobPolicy of ['UNSPECIFIED', 'ERROR'] as const) {
      const refused = await refusalOf(shared.send({ ...long, existingJobPolicy }));
      expect(refused.code).toBe('ALREADY_EXISTS');
      expect(refused.message).toContain(`/${shared.user}/policy`);
    }
    expect(await shared.send({ ...long, existingJobPolicy: 'KEEP' })).toMatchObject({
      jobId: first.jobId,
      existed: true,
    });
    const second = await shared.send({ ...shell('exit 0', { name }), existingJobPolicy: 'RECREATE' });
    expect(second.existed).toBe(false);
    expect(second.jobId).toMatch(new RegExp(`^/${shared.user}/policy-.+`));
    expect(await over(shared.client, first.jobId)).toMatchObject({
      state: 'KILLED',
      cause: { code: 'STOPPED_BY_USER', message: 'Replaced by a new run of policy.' },
    });
    expect((await over(shared.client, second.jobId)).state).toBe('SUCCEEDED');
    const ended = (await lastAttempt(shared.client, first.jobId)).finishedAtMs;
    const began = (await lastAttempt(shared.client, second.jobId)).createdAtMs;
    expect(ended).not.toBeNull();
    // The next run of a name waits until nothing lives of the one before.
    expect(began).toBeGreaterThanOrEqual(ended ?? Number.POSITIVE_INFINITY);
    expect((await shared.client.call('job.get', { jobId: name })).summary.id).toBe(second.jobId);
  });

  test('more open tasks than one user may have', async () => {
    await shared.fillMachine();
    const many = shell('true', { cpu: 0.5, replicas: 9000 });
    await shared.send(many);
    const refused = await refusalOf(shared.send(many));
    expect(refused.code).toBe('RESOURCE_EXHAUSTED');
    expect(refused.message).toMatch(/has 9001 unfinished tasks; 9000 more would pass the limit of 16000/);
  });
});

describe('stop and retry', () => {
  test('a running job ends, its processes are gone, and a second stop has nothing to stop', async () => {
    const jobId = await submit(shared.client, shell('sleep 600 & sleep 600; wait', { grace: 1 }));
    await running(shared.client, jobId);
    const { uid } = await lastAttempt(shared.client, jobId);
    await eventually(() => processesOf(new Set([uid])).length >= 2).toBe(true);
    expect(await shared.stopOf(jobId)).toEqual([{ id: jobId, newId: null, refusal: null }]);
    expect(await over(shared.client, jobId)).toMatchObject({
      state: 'KILLED',
      cause: { code: 'STOPPED_BY_USER', message: `Stopped by ${shared.user}.` },
    });
    await verifiedGone(shared.client, jobId);
    expect(processesOf(new Set([uid]))).toEqual([]);
    const attempt = await lastAttempt(shared.client, jobId);
    expect(attempt.state).toBe('KILLED');
    expect(attempt.durationMs).toBeGreaterThanOrEqual(0);
    const [again] = await shared.stopOf(jobId);
    expect(again?.refusal).toMatchObject({ code: 'FAILED_PRECONDITION' });
    expect(again?.refusal?.message).toContain('has ended already (it was stopped)');
  });

  test('one of several targets that is wrong does not keep the others', async () => {
    const jobId = await submit(shared.client, shell('exec sleep 600', { grace: 1 }));
    const [missing, stopped] = await shared.stopOf(`/${shared.user}/nowhere`, jobId);
    expect(missing?.refusal).toMatchObject({
      code: 'NOT_FOUND',
      message: `There is no job /${shared.user}/nowhere.`,
    });
    expect(stopped?.refusal).toBeNull();
    expect((await over(shared.client, jobId)).state).toBe('KILLED');
  });

  test('a retry is a new job that names the first; the first stays', async () => {
    const jobId = await submit(shared.client, shell('exit 3', { name: 'again' }));
    expect(await over(shared.client, jobId)).toMatchObject({ state: 'FAILED', exitCode: 3 });
    const requestId = randomUUID();
    const { results } = await shared.client.call('job.retry', { requestId, jobIds: [jobId] });
    const newId = results[0]?.newId ?? '';
    expect(newId).toMatch(new RegExp(`^/${shared.user}/again-.+`));
    expect(await over(shared.client, newId)).toMatchObject({ state: 'FAILED', exitCode: 3, retryOf: jobId });
    expect((await shared.client.call('job.get', { jobId })).summary).toMatchObject({
      state: 'FAILED',
      retryOf: null,
    });
    expect((await shared.client.call('job.retry', { requestId, jobIds: [jobId] })).results).toEqual(results);
  });

  test('a job that is not over is not run again', async () => {
    const jobId = await submit(shared.client, shell('exec sleep 600', { grace: 1 }));
    const { results } = await shared.client.call('job.retry', { requestId: randomUUID(), jobIds: [jobId] });
    expect(results[0]).toMatchObject({ newId: null, refusal: { code: 'FAILED_PRECONDITION' } });
  });
});

describe('job.check', () => {
  const check = (request: JobRequest) => shared.client.call('job.check', { request });

  test('says that the working folder is not there, and nothing of it once it is', async () => {
    const { id } = await shared.machine();
    const folder = path.join(mkdtempSync(path.join(os.tmpdir(), 'iris-check-')), 'later');
    const request = shell('true', { workingDirectory: folder });
    expect(await check(request)).toMatchObject({
      verdict: 'STARTS_NOW',
      fields: [
        {
          field: 'workingDirectory',
          value: folder,
          expected: `a folder that exists on ${id} and may be entered`,
        },
      ],
    });
    mkdirSync(folder);
    expect(await check(request)).toMatchObject({ verdict: 'STARTS_NOW', fields: [] });
    rmSync(path.dirname(folder), { recursive: true });
  });

  test('says whether it would start now, wait, never run, or is wrong', async () => {
    const { id, cpuMillicoresTotal } = await shared.machine();
    const starts = await check(shell('true', { cpu: cpuMillicoresTotal / 1000 }));
    expect(starts.message).toBe(`Starts now on ${id}.`);
    expect(starts).toMatchObject({
      verdict: 'STARTS_NOW',
      fields: [],
      dryRun: { verdict: 'STARTS_NOW', places: [{ index: 0, workerId: id, provisional: false }] },
    });
    expect(await check(shell('true', { cpu: 5000 }))).toMatchObject({
      verdict: 'NEVER',
      fields: [{ field: 'cpu', value: '5000 CPU cores' }],
    });
    expect(await check({ ...shell('true'), command: [] })).toMatchObject({
      verdict: 'INVALID',
      fields: [{ field: 'command', expected: 'a program and its arguments' }],
      commandLine: '',
    });
    await shared.fillMachine();
    const waits = await check(shell('true', { cpu: 1 }));
    expect(waits.verdict).toBe('WAITS');
    expect(waits.message).toMatch(/^Waits for 1 CPU core \(0 of \d+ free\)/);
    expect(waits.dryRun).toMatchObject({ verdict: 'WAITS', waiting: 1, places: [] });
    expect(waits.commandLine).toContain('irisctl job run --cpu 1');
  });

  test('submits nothing', async () => {
    const before = (await shared.client.call('status', {})).counts;
    await check(shell('true'));
    expect((await shared.client.call('status', {})).counts).toEqual(before);
  });
});

test('the socket and the folder are for their owner only', () => {
  expect(statSync(shared.host.home.socket).mode & 0o777).toBe(0o600);
  expect(statSync(shared.host.home.folder).mode & 0o777).toBe(0o700);
  expect(statSync(shared.host.home.database).mode & 0o777).toBe(0o600);
});

test('a job waits with its reason, and starts when there is room', async () => {
  const filling = await shared.fillMachine();
  const jobId = await submit(shared.client, shell('exit 0', { cpu: 1 }));
  const waiting = await summaryWhen(shared.client, jobId, (summary) => summary.waiting !== null);
  expect(waiting).toMatchObject({ state: 'PENDING', waiting: { code: 'WAITS_FOR_CAPACITY' } });
  await stop(shared.client, filling);
  expect((await over(shared.client, jobId)).state).toBe('SUCCEEDED');
});
