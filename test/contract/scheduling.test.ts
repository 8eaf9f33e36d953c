/** The scheduling policy on a real host with real processes: preemption with notice, holds, dependencies, deadlines, the queue. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JobRequest } from '../../core/contract/job-request.js';
import type { JobChange, QueueView } from '../../core/contract/queue.js';
import { eventually } from '../harness/eventually.js';
import {
  lastAttempt,
  over,
  running,
  shell,
  submit,
  summaryWhen,
  verifiedGone,
} from '../harness/host-jobs.js';
import { sharedHost } from '../harness/shared-host.js';

const shared = sharedHost();
const irisctlFile = path.resolve(import.meta.dirname, '../../out/main/cli.js');
let cores = 1;

const send = (script: string, more: Partial<JobRequest> = {}) => submit(shared.client, shell(script, more));
const queue = () => shared.client.call('queue.get', {});
const change = async (jobId: string, asked: JobChange) =>
  (await shared.client.call('job.change', { requestId: randomUUID(), jobIds: [jobId], change: asked }))
    .results[0];
const actions = async (entity: string) =>
  (await shared.client.call('audit.list', { entity, limit: 100 })).events
    .map(({ action }) => action)
    .reverse();

function jobsIn(view: QueueView, band: string): string[] {
  return view.bands.find((lane) => lane.band === band)?.jobs.map(({ jobId }) => jobId) ?? [];
}

beforeEach(async () => {
  cores = (await shared.machine()).cpuMillicoresTotal / 1000;
  await shared.client.call('budget.set', {
    requestId: randomUUID(),
    user: shared.user,
    change: { allow: ['PRODUCTION'], limit: 'unlimited' },
  });
});

let begun: string[] = [];
const gates: (() => void)[] = [];
afterEach(async () => {
  for (const open of gates.splice(0)) open();
  for (const jobId of begun.splice(0)) {
    await shared.stopOf(jobId);
    await over(shared.client, jobId);
    // Else the host would be gone before what ignores its signal is.
    await verifiedGone(shared.client, jobId);
  }
});

/** Its command runs and has said something: what it does about signals is set. */
async function spoke(jobId: string): Promise<void> {
  await running(shared.client, jobId);
  const { uid } = await lastAttempt(shared.client, jobId);
  const read = { attemptUid: uid, stream: 'out', offset: 0, maxBytes: 100 } as const;
  await eventually(async () => (await shared.client.call('log.read', read)).size > 0).toBe(true);
}

/** What a script waits for, however long that takes here; opened at the end of the test in any case. */
function gateOf(name: string): { readonly wait: string; readonly isOpen: string; open(): void } {
  const file = path.join(shared.root, `${name}-gate`);
  const isOpen = `test -e ${file}`;
  const open = () => writeFileSync(file, '');
  gates.push(open);
  return { wait: `until ${isOpen}; do sleep 0.05; done`, isOpen, open };
}

async function begin(script: string, more: Partial<JobRequest> = {}): Promise<string> {
  const jobId = await send(script, more);
  begun.push(jobId);
  return jobId;
}

describe('preemption', () => {
  test('BATCH is told, leaves and runs again; PRODUCTION takes its place meanwhile', async () => {
    const victim = await begin('trap "echo told; exit 0" TERM; echo began; while :; do sleep 0.05; done', {
      cpu: cores,
      priority: 'batch',
    });
    await spoke(victim);
    const hot = await send('sleep 0.3', { cpu: cores, priority: 'production' });
    expect((await over(shared.client, hot)).state).toBe('SUCCEEDED');
    const again = await summaryWhen(
      shared.client,
      victim,
      (line) => line.preemptionCount === 1 && (line.taskCounts.RUNNING ?? 0) > 0,
    );
    expect(again.state).toBe('RUNNING');
    const { rows } = await shared.client.call('task.list', { jobId: victim, offset: 0, limit: 1 });
    const [first, second] = rows[0]?.attempts ?? [];
    expect(first).toMatchObject({
      state: 'PREEMPTED',
      cause: { code: 'PREEMPTED', message: `Makes room for ${hot} (PRODUCTION).` },
    });
    expect(first?.noticeAtMs).toBeGreaterThanOrEqual(first?.startedAtMs ?? Number.POSITIVE_INFINITY);
    // What follows was started after what it makes room for was over, on what the victim had verifiably left.
    const between = await lastAttempt(shared.client, hot);
    expect(between.startedAtMs).toBeGreaterThanOrEqual(first?.finishedAtMs ?? Number.POSITIVE_INFINITY);
    expect(second?.startedAtMs).toBeGreaterThanOrEqual(between.finishedAtMs ?? Number.POSITIVE_INFINITY);
    expect(await actions(`${victim}/0`)).toEqual(
      expect.arrayContaining([
        'attempt_notified',
        'attempt_ended',
        'task_retry_scheduled',
        'attempt_verified_gone',
      ]),
    );
    expect(await actions(hot)).toEqual(
      expect.arrayContaining(['task_claimed', 'task_assigned', 'job_completed']),
    );
  });

  test('a program that polls reads why and until when, and its checkpoint is known', async () => {
    // It runs again once it was told and has left: the gate ends that.
    const gate = gateOf('polls');
    const victim = await begin(
      'trap "" USR1; touch "$IRIS_CHECKPOINT_FILE"; echo began; ' +
        `until [ -e "$IRIS_WORKDIR/preemption.json" ] || ${gate.isOpen}; do sleep 0.05; done; ` +
        'cat "$IRIS_WORKDIR/preemption.json"',
      { cpu: cores, priority: 'batch', stopSignal: 'SIGUSR1', grace: '5m' },
    );
    await spoke(victim);
    const { uid } = await lastAttempt(shared.client, victim);
    const hot = await send('true', { cpu: cores, priority: 'production' });
    expect((await over(shared.client, hot)).state).toBe('SUCCEEDED');
    const { rows } = await shared.client.call('task.list', { jobId: victim, offset: 0, limit: 1 });
    const told = rows[0]?.attempts[0];
    expect(told?.checkpointAtMs).toBeGreaterThanOrEqual(told?.startedAtMs ?? Number.POSITIVE_INFINITY);
    const read = { attemptUid: uid, stream: 'out', offset: 0, maxBytes: 1000 } as const;
    const { dataBase64 } = await shared.client.call('log.read', read);
    const [, json = ''] = Buffer.from(dataBase64, 'base64').toString().split('began\n');
    expect(JSON.parse(json)).toEqual({
      deadline: new Date((told?.noticeAtMs ?? 0) + 300_000).toISOString(),
      reason: `Makes room for ${hot} (PRODUCTION).`,
    });
  });

  test('a promised place outlives the host', async () => {
    const gate = gateOf('promised');
    const victim = await begin(`trap "" TERM; echo began; ${gate.wait}`, {
      cpu: cores,
      priority: 'batch',
      grace: '5m',
    });
    await spoke(victim);
    const hot = await send('true', { cpu: cores, priority: 'production' });
    const waits = await summaryWhen(shared.client, hot, (line) => line.waiting?.code === 'WAITS_FOR_VICTIM');
    expect(waits.waiting?.message).toContain(`waits until ${victim}/0 has left`);
    const { noticeAtMs } = await lastAttempt(shared.client, victim);
    const { explanation } = await shared.client.call('job.explain', { jobId: hot });
    expect(explanation).toMatchObject({
      reasons: [{ kind: 'victim', attempts: [{ taskId: `${victim}/0` }] }],
      expected: { kind: 'at', startMs: (noticeAtMs ?? 0) + 300_000 },
    });
    expect(jobsIn(await queue(), 'PRODUCTION')).toEqual([hot]);
    await shared.killAndStart();
    gate.open();
    expect((await over(shared.client, hot)).state).toBe('SUCCEEDED');
    expect((await shared.client.call('job.get', { jobId: victim })).summary.preemptionCount).toBe(1);
  });
});

describe('the queue', () => {
  test('is in the order of a round, and follows holds, bands and moves', async () => {
    const filler = await begin('exec sleep 600', { cpu: cores, grace: 1 });
    await running(shared.client, filler);
    const [a, b, c] = [
      await begin('true', { cpu: cores }),
      await begin('true', { cpu: cores }),
      await begin('true', { cpu: cores }),
    ];
    expect(jobsIn(await queue(), 'INTERACTIVE')).toEqual([a, b, c]);
    expect(await change(c, { kind: 'move', to: 'first' })).toMatchObject({ refusal: null });
    expect(jobsIn(await queue(), 'INTERACTIVE')).toEqual([c, a, b]);
    await change(a, { kind: 'band', band: 'BATCH' });
    expect(jobsIn(await queue(), 'INTERACTIVE')).toEqual([c, b]);
    expect(jobsIn(await queue(), 'BATCH')).toEqual([a]);
    await change(b, { kind: 'hold' });
    const held = await summaryWhen(shared.client, b, (line) => line.waiting?.code === 'WAITS_HELD');
    expect(held.held).toBe(true);
    expect((await queue()).items).toMatchObject([{ taskId: `${filler}/0`, state: 'RUNNING', toMs: null }]);
    await shared.stopOf(filler);
    await over(shared.client, c);
    await over(shared.client, a);
    expect((await shared.client.call('job.get', { jobId: b })).summary.state).toBe('PENDING');
    await change(b, { kind: 'release' });
    expect((await over(shared.client, b)).state).toBe('SUCCEEDED');
    const { items } = await shared.client.call('queue.history', { sinceMs: 0 });
    expect(items.map(({ jobId }) => jobId)).toEqual(expect.arrayContaining([a, b, c, filler]));
    begun = [];
  });

  test('what is over cannot be changed', async () => {
    const jobId = await send('true');
    await over(shared.client, jobId);
    expect(await change(jobId, { kind: 'hold' })).toMatchObject({ refusal: { code: 'FAILED_PRECONDITION' } });
  });
});

describe('an explanation', () => {
  const explain = async (jobId: string) => (await shared.client.call('job.explain', { jobId })).explanation;

  test('says what is short, what would help, and when it starts by known time limits', async () => {
    const filler = await begin('exec sleep 600', { cpu: cores, grace: 1, timeout: '1h' });
    // Its time limit counts from its start, which is told a little after its place was given.
    await eventually(async () => (await lastAttempt(shared.client, filler)).startedAtMs).not.toBeNull();
    const waits = await begin('true', { cpu: cores, timeout: '1m' });
    const { startedAtMs } = await lastAttempt(shared.client, filler);
    const told = await explain(waits);
    expect(told).toMatchObject({
      jobId: waits,
      waiting: 1,
      reasons: [
        {
          kind: 'capacity',
          best: { lacks: [{ resource: 'cpu', needed: cores * 1000, free: 0, total: cores * 1000 }] },
        },
      ],
      expected: { kind: 'at', startMs: (startedAtMs ?? 0) + 3_600_000 },
    });
    expect(told?.remedies).toContainEqual(expect.objectContaining({ kind: 'wait-for', jobId: filler }));
    expect(await explain(filler)).toBeNull();
    // One that came later is not told from a look ahead that did not see it.
    const next = await begin('true', { cpu: cores });
    expect((await explain(next))?.expected).toMatchObject({
      kind: 'at',
      startMs: (startedAtMs ?? 0) + 3_660_000,
    });
  });

  test('of a job behind what is left of its last run names that', async () => {
    const gate = gateOf('last-run');
    const first = await begin(`trap "" TERM; echo began; ${gate.wait}`, { name: 'again', grace: '5m' });
    await spoke(first);
    await shared.stopOf(first);
    const second = await begin('true', { name: 'again' });
    expect(await explain(second)).toMatchObject({
      reasons: [{ kind: 'backend', code: 'WAITS_FOR_PREDECESSOR' }],
      message: expect.stringContaining(`the processes of ${first}`),
    });
    gate.open();
  });
});

describe('gates', () => {
  test('after success, and never when the other failed', async () => {
    const gate = gateOf('success');
    const first = await send(`${gate.wait}; exit 3`);
    const wantsSuccess = await send('true', { dependencies: [{ job: first }] });
    const wantsFailure = await send('true', { dependencies: [{ job: first, on: 'FAILURE' }] });
    gate.open();
    expect(await over(shared.client, wantsSuccess)).toMatchObject({
      state: 'UNSCHEDULABLE',
      cause: { code: 'DEPENDENCY_UNMET', message: `Waited for ${first} to succeed; it failed.` },
    });
    expect((await over(shared.client, wantsFailure)).state).toBe('SUCCEEDED');
  });

  test('not before its time, by the timer alone', async () => {
    const jobId = await send('true', { startNotBefore: '700ms' });
    const ended = await over(shared.client, jobId);
    expect(ended.state).toBe('SUCCEEDED');
    expect((ended.startedAtMs ?? 0) - ended.submittedAtMs).toBeGreaterThanOrEqual(700);
  });

  test('a deadline that can no longer be met ends the job with the arithmetic', async () => {
    const jobId = await send('true', { timeout: '2h', finishBy: '1h' });
    expect(await over(shared.client, jobId)).toMatchObject({
      state: 'UNSCHEDULABLE',
      cause: {
        code: 'FINISH_DEADLINE',
        message: expect.stringContaining('its time limit of 2h 00m lasts until'),
      },
    });
  });
});

describe('a record of rounds', () => {
  function replayed(file: string): Promise<{ code: number; out: string }> {
    return new Promise((resolve) => {
      const words = [irisctlFile, '--home', shared.root, 'debug', 'replay', file];
      const child = execFile(process.execPath, words, (_error, out) => {
        resolve({ code: child.exitCode ?? -1, out });
      });
    });
  }
  const record = (on: boolean) => shared.client.call('debug.record', { on });

  test('is decided again to the same, also when its host was killed', async () => {
    const first = (await record(true)).path ?? '';
    const ids = [await send('true'), await send('true', { replicas: 3 }), await send('true', { held: true })];
    for (const id of ids.slice(0, 2)) await over(shared.client, id);
    expect(await record(false)).toEqual({ path: null });
    const whole = await replayed(first);
    expect(whole.out).toMatch(/^([3-9]|\d\d+) rounds decided again, 0 came out differently\.\n$/);
    expect(whole.code).toBe(0);

    const second = (await record(true)).path ?? '';
    await over(shared.client, await send('true'));
    await shared.killAndStart();
    const cut = await replayed(second);
    expect(cut.out).toMatch(/^[1-9]\d* rounds decided again, 0 came out differently\.\n$/);
  });

  test('what is no record is refused by name', async () => {
    expect((await replayed('/etc/hostname')).code).toBe(125);
  });
});
