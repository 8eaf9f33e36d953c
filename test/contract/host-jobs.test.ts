/** Lives of jobs on a real host, as its clients see them: records, logs, children, limits of time and tries. */
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  attemptsOf,
  lastAttempt,
  over,
  refusalOf,
  running,
  shell,
  stop,
  submit,
  tasksOf,
  textOf,
  verifiedGone,
} from '../harness/host-jobs.js';
import { processesOf } from '../harness/left-processes.js';
import { sharedHost } from '../harness/shared-host.js';

const shared = sharedHost();

describe('records', () => {
  test('the audit holds a whole job life in order', async () => {
    const gate = `${shared.root}/gate`;
    const jobId = await submit(shared.client, shell(`until test -e ${gate}; do sleep 0.05; done`));
    await running(shared.client, jobId);
    writeFileSync(gate, '');
    await over(shared.client, jobId);
    const { uid } = await lastAttempt(shared.client, jobId);
    const { events } = await shared.client.call('audit.list', { limit: 100 });
    const attempt = `${jobId}/0:0`;
    const about = [jobId, `${jobId}/0`, attempt];
    const life = events.filter((event) => about.includes(event.entity)).reverse();
    expect(life.map((event) => [event.action, event.entity, event.actor])).toEqual([
      ['job_submitted', jobId, shared.user],
      ['task_assigned', `${jobId}/0`, 'controller'],
      ['attempt_started', attempt, 'controller'],
      ['job_started', jobId, 'controller'],
      ['attempt_ended', attempt, 'controller'],
      ['task_ended', `${jobId}/0`, 'controller'],
      ['job_completed', jobId, 'controller'],
    ]);
    const times = life.map((event) => event.atMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(life.filter((event) => event.entity === attempt).map((event) => event.detail['uid'])).toEqual([
      uid,
      uid,
    ]);
    // Asked about the job, its task or its attempt, the record holds what lies under it.
    const of = async (entity: string) =>
      (await shared.client.call('audit.list', { entity, limit: 100 })).events.reverse();
    expect(await of(jobId)).toEqual(life);
    expect(await of(`${jobId}/0`)).toEqual(life.filter((event) => event.entity !== jobId));
    expect(await of(attempt)).toEqual(life.filter((event) => event.entity === attempt));
  });

  test('one inbox item an end; reading it lowers the count of unread ones and of unseen failures', async () => {
    await shared.client.call('inbox.read', {});
    const jobId = await submit(shared.client, shell('exit 9', { name: 'inbox' }));
    await over(shared.client, jobId);
    const page = await shared.client.call('inbox.list', { limit: 50 });
    expect(page.unread).toBe(1);
    const own = page.items.filter((item) => item.jobId === jobId);
    expect(own).toEqual([
      {
        id: page.items[0]?.id,
        jobId,
        jobName: 'inbox',
        state: 'FAILED',
        cause: expect.objectContaining({ code: 'EXIT_CODE' }) as unknown,
        atMs: expect.any(Number) as unknown,
        durationMs: expect.any(Number) as unknown,
        read: false,
      },
    ]);
    expect((await shared.client.call('status', {})).counts.failedUnseen).toBe(1);
    expect(await shared.client.call('inbox.read', { ids: [own[0]?.id ?? 0] })).toEqual({ unread: 0 });
    expect((await shared.client.call('status', {})).counts.failedUnseen).toBe(0);
    expect((await shared.client.call('inbox.list', { limit: 1 })).items[0]?.read).toBe(true);
  });

  test('logs: each stream, both merged, and searched', async () => {
    const jobId = await submit(shared.client, shell('echo one; echo Two >&2; echo three; printf four'));
    await over(shared.client, jobId);
    const { uid } = await lastAttempt(shared.client, jobId);
    expect(await textOf(shared.client, uid)).toBe('one\nthree\nfour');
    expect(await textOf(shared.client, uid, 'err')).toBe('Two\n');
    const part = await shared.client.call('log.read', {
      attemptUid: uid,
      stream: 'out',
      offset: 4,
      maxBytes: 5,
    });
    expect(part).toEqual({
      dataBase64: Buffer.from('three').toString('base64'),
      size: 14,
      complete: false,
    });
    const merged = await shared.client.call('log.merged', { attemptUid: uid, cursor: null, maxBytes: 1000 });
    expect(merged).toMatchObject({ outSize: 14, errSize: 4, complete: true, cursor: { out: 14, err: 4 } });
    const of = (stream: 'out' | 'err') =>
      merged.chunks
        .filter((chunk) => chunk.stream === stream)
        .map((chunk) => Buffer.from(chunk.dataBase64, 'base64').toString())
        .join('');
    expect([of('out'), of('err')]).toEqual(['one\nthree\nfour', 'Two\n']);
    const search = (stream: 'out' | 'err', text: string, matchCase = false) =>
      shared.client.call('log.search', { attemptUid: uid, stream, text, matchCase, offset: 0, limit: 10 });
    expect(await search('out', 'THREE')).toEqual({
      matches: [{ offset: 4, line: 'three' }],
      nextOffset: null,
    });
    expect((await search('err', 'two', true)).matches).toEqual([]);
    expect((await search('err', 'Two', true)).matches).toEqual([{ offset: 0, line: 'Two' }]);
  });

  test('what is not there is NOT_FOUND by every method that names it', async () => {
    const attemptUid = '0123456789abcdef';
    const jobId = `/${shared.user}/nothing`;
    const refusals = await Promise.all([
      refusalOf(shared.client.call('job.get', { jobId })),
      refusalOf(shared.client.call('job.get', { jobId: 'nothing' })),
      refusalOf(shared.client.call('log.read', { attemptUid, stream: 'out', offset: 0, maxBytes: 1 })),
      refusalOf(shared.client.call('log.merged', { attemptUid, cursor: null, maxBytes: 1 })),
      refusalOf(
        shared.client.call('log.search', { attemptUid, stream: 'out', text: 'x', offset: 0, limit: 1 }),
      ),
      refusalOf(shared.client.until('job', { jobId }, () => true)),
      refusalOf(shared.client.until('log', { attemptUid }, () => true)),
    ]);
    expect(refusals.map((refused) => [refused.code, refused.message])).toEqual([
      ['NOT_FOUND', `There is no job ${jobId}.`],
      ['NOT_FOUND', 'There is no job nothing.'],
      ...Array.from({ length: 3 }, () => ['NOT_FOUND', `There is no attempt ${attemptUid}.`]),
      ['NOT_FOUND', `There is no job ${jobId}.`],
      ['NOT_FOUND', `There is no attempt ${attemptUid}.`],
    ]);
  });
});

describe('children', () => {
  test('run under their parent and end with it', async () => {
    const parent = await submit(shared.client, shell('exec sleep 600', { name: 'parent', grace: 1 }));
    const child = await submit(shared.client, shell('exec sleep 600', { name: 'child', parent, grace: 1 }));
    expect(child).toBe(`${parent}/child`);
    await running(shared.client, child);
    const { rows } = await shared.client.call('job.children', { jobId: parent, offset: 0, limit: 10 });
    expect(rows.map((row) => [row.id, row.parentId, row.rootId, row.depth])).toEqual([
      [child, parent, parent, 2],
    ]);
    expect((await shared.client.call('job.get', { jobId: child })).ancestors).toEqual([parent]);
    await stop(shared.client, parent);
    expect(await over(shared.client, child)).toMatchObject({
      state: 'KILLED',
      cause: { code: 'PARENT_ENDED' },
    });
    await verifiedGone(shared.client, child);
    expect(processesOf(new Set([(await lastAttempt(shared.client, child)).uid]))).toEqual([]);
    // Only root jobs are told of in the inbox.
    const { items } = await shared.client.call('inbox.list', { limit: 50 });
    expect(items.filter((item) => item.jobId.startsWith(parent)).map((item) => item.jobId)).toEqual([parent]);
  });

  test("the parent's own end takes them along", async () => {
    const gate = `${shared.root}/parent-gate`;
    const parent = await submit(shared.client, shell(`until test -e ${gate}; do sleep 0.05; done`));
    const child = await submit(shared.client, shell('exec sleep 600', { name: 'child', parent, grace: 1 }));
    writeFileSync(gate, '');
    expect((await over(shared.client, parent)).state).toBe('SUCCEEDED');
    expect(await over(shared.client, child)).toMatchObject({
      state: 'KILLED',
      cause: { code: 'PARENT_ENDED' },
    });
  });

  test('a parent that is over or never was is refused', async () => {
    const parent = await submit(shared.client, shell('exit 0'));
    await over(shared.client, parent);
    for (const wrong of [parent, `/${shared.user}/never`]) {
      expect(await refusalOf(shared.send(shell('true', { name: 'child', parent: wrong })))).toMatchObject({
        code: 'FAILED_PRECONDITION',
        fields: [{ field: 'parent', value: wrong }],
      });
    }
  });
});

describe('limits of time and tries', () => {
  test('the time limit ends an attempt as FAILED with exit code 124, without another try', async () => {
    const jobId = await submit(
      shared.client,
      shell('exec sleep 600', { timeout: 1, grace: 1, maxRetries: 3 }),
    );
    expect(await over(shared.client, jobId)).toMatchObject({
      state: 'FAILED',
      exitCode: 124,
      cause: { code: 'TIME_LIMIT' },
    });
    await verifiedGone(shared.client, jobId);
    const attempts = await attemptsOf(shared.client, jobId);
    expect(attempts).toHaveLength(1);
    expect(attempts[0]).toMatchObject({
      state: 'FAILED',
      exitCode: 124,
      signal: 'SIGTERM',
      cause: { code: 'TIME_LIMIT' },
    });
    expect((await tasksOf(shared.client, jobId))[0]?.exitCode).toBe(124);
    expect(attempts[0]?.durationMs).toBeGreaterThanOrEqual(900);
    expect(processesOf(new Set([attempts[0]?.uid ?? '']))).toEqual([]);
  });

  test('a job that could not start in time says what it waited for', async () => {
    await shared.fillMachine();
    const jobId = await submit(shared.client, shell('true', { cpu: 1, schedulingTimeout: 1 }));
    const ended = await over(shared.client, jobId);
    expect(ended).toMatchObject({ state: 'UNSCHEDULABLE', cause: { code: 'SCHEDULING_DEADLINE' } });
    expect(ended.cause?.message).toMatch(/Could not start within 1 ?s.* of its submission\. .*(CPU|core)/);
    expect((ended.finishedAtMs ?? 0) - ended.submittedAtMs).toBeGreaterThanOrEqual(1000);
    expect(await attemptsOf(shared.client, jobId)).toEqual([]);
  });

  test('a failed task is tried again as often as asked, then the job fails with its code', async () => {
    const jobId = await submit(shared.client, shell('echo try $IRIS_TASK_ID; exit 5', { maxRetries: 2 }));
    expect(await over(shared.client, jobId)).toMatchObject({ state: 'FAILED', exitCode: 5, failureCount: 3 });
    const attempts = await attemptsOf(shared.client, jobId);
    expect(attempts.map((attempt) => [attempt.number, attempt.state, attempt.exitCode])).toEqual([
      [0, 'FAILED', 5],
      [1, 'FAILED', 5],
      [2, 'FAILED', 5],
    ]);
    const texts = await Promise.all(attempts.map((attempt) => textOf(shared.client, attempt.uid)));
    expect(texts).toEqual([`try ${jobId}/0\n`, `try ${jobId}/0:1\n`, `try ${jobId}/0:2\n`]);
  });

  test('a try that succeeds ends it well', async () => {
    const flag = `${shared.root}/flag`;
    const jobId = await submit(
      shared.client,
      shell(`test -e ${flag} && exit 0; touch ${flag}; exit 1`, { maxRetries: 5 }),
    );
    expect(await over(shared.client, jobId)).toMatchObject({
      state: 'SUCCEEDED',
      failureCount: 1,
      exitCode: 0,
    });
  });

  test('one failed task of several ends the others, unless failures are allowed', async () => {
    const script = 'test "${IRIS_TASK_ID##*/}" = 1 && exit 7; exec sleep 600';
    const jobId = await submit(shared.client, shell(script, { replicas: 3, grace: 1 }));
    expect(await over(shared.client, jobId)).toMatchObject({ state: 'FAILED', exitCode: 7 });
    expect((await tasksOf(shared.client, jobId)).map((task) => task.state)).toEqual([
      'KILLED',
      'FAILED',
      'KILLED',
    ]);
    const allowed = await submit(
      shared.client,
      shell('test "${IRIS_TASK_ID##*/}" = 1 && exit 7; exit 0', { replicas: 3, maxTaskFailures: 1 }),
    );
    // The others go on to their ends; the job is no success for that.
    expect(await over(shared.client, allowed)).toMatchObject({ state: 'FAILED', exitCode: 7 });
    expect((await tasksOf(shared.client, allowed)).map((task) => task.state)).toEqual([
      'SUCCEEDED',
      'FAILED',
      'SUCCEEDED',
    ]);
  });
});
