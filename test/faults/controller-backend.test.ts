/** A whole host over a backend that hangs, lies or dies: it harms nothing else, is told by name, and all is well once it is. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HostStatus } from '../../core/contract/views.js';
import type { BackendPatience } from '../../main/controller/guarded-backend.js';
import { eventually } from '../harness/eventually.js';
import { report } from '../../core/model/test-world.js';
import { FakeBackend, FakeMachine } from '../harness/fake-backend.js';
import {
  attemptsOf,
  over,
  refusalOf,
  running,
  shell,
  submit,
  tasksOf,
  verifiedGone,
} from '../harness/host-jobs.js';
import { hostWith, type HostInProcess } from '../harness/host-in-process.js';

/** Longer than any test, so that load alone never looks like a hang; a test that waits for an end of patience shortens it. */
const long = 3_600_000;
let patience: { -readonly [Name in keyof BackendPatience]: number };

let machine: FakeMachine;
let backend: FakeBackend;
let host: HostInProcess;

beforeEach(() => {
  patience = { callMs: long, attemptMs: long, retryMs: 50 };
  machine = new FakeMachine();
  backend = new FakeBackend(machine);
});
afterEach(() => host.dispose());

const open = async (): Promise<void> => {
  host = await hostWith(backend, patience);
};

async function statusWhen(healthy: boolean): Promise<HostStatus> {
  await host.client.until('status', {}, (value) => (value as HostStatus).healthy === healthy);
  return await host.client.call('status', {});
}

/** Commands and queries that do not need what hangs are answered; a hang of theirs would outlast the test. */
async function answersAll(): Promise<string> {
  const { client } = host;
  const jobId = await submit(client, shell('true', { name: `quick-${randomUUID()}` }));
  const sort = { key: 'submitted' as const, descending: true };
  const list = await client.call('job.list', { filter: {}, sort, offset: 0, limit: 10 });
  expect(list.rows.map((row) => row.id)).toContain(jobId);
  expect((await client.call('job.get', { jobId })).summary.id).toBe(jobId);
  expect((await client.call('machine.list', {})).machines).toHaveLength(1);
  await client.call('overview.get', {});
  await client.call('audit.list', { limit: 10 });
  await client.call('inbox.list', { limit: 10 });
  return jobId;
}

const oneUid = async (jobId: string): Promise<string> => {
  await eventually(async () => (await attemptsOf(host.client, jobId)).length).toBeGreaterThan(0);
  return (await attemptsOf(host.client, jobId)).at(-1)?.uid ?? '';
};

const droppedReports = () =>
  host.log().filter((line) => String(line['message']).startsWith('A report was dropped'));

async function failuresOf(jobId: string): Promise<number | undefined> {
  return (await tasksOf(host.client, jobId))[0]?.failureCount;
}

describe('a backend that hangs', () => {
  test('in reading a log: all else is answered meanwhile, the reader is told on what it hangs', async () => {
    await open();
    const { client } = host;
    const jobId = await submit(client, shell('true'));
    const uid = await oneUid(jobId);
    await running(client, jobId);
    const release = backend.hang('readLog');
    const read = () => client.call('log.read', { attemptUid: uid, stream: 'out', offset: 0, maxBytes: 10 });
    let answered = false;
    const early = read().finally(() => (answered = true));
    const other = await answersAll();
    expect(answered).toBe(false);
    patience.callMs = 200;
    const message = 'The backend fake has not answered readLog within 0.2 s.';
    const refusals = await Promise.all([
      refusalOf(read()),
      refusalOf(client.call('log.merged', { attemptUid: uid, cursor: null, maxBytes: 10 })),
      refusalOf(
        client.call('log.search', { attemptUid: uid, stream: 'out', text: 'x', offset: 0, limit: 1 }),
      ),
    ]);
    for (const refused of refusals) expect(refused).toMatchObject({ code: 'UNREACHABLE', message });
    expect(await statusWhen(false)).toMatchObject({ health: message });
    // Its attempts go on and end as ever, those it is asked for now included.
    machine.end(uid, { exitCode: 3 });
    expect(await over(client, jobId)).toMatchObject({ state: 'FAILED', exitCode: 3 });
    machine.end(await oneUid(other), { exitCode: 0 });
    expect((await over(client, other)).state).toBe('SUCCEEDED');
    release();
    // What was asked before the patience of the others ended is answered still.
    expect(await early).toMatchObject({ size: 0 });
    expect((await statusWhen(true)).health).toBe('All is well.');
    patience.callMs = long;
    expect(await read()).toMatchObject({ size: 0, complete: true });
  });

  test('in its start: the host starts without it, and what was submitted meanwhile runs once it has started', async () => {
    const release = backend.hang('start');
    patience.callMs = 200;
    await open();
    const { client } = host;
    expect(await client.call('status', {})).toMatchObject({
      healthy: false,
      health:
        'The backend fake has not answered start within 0.2 s; it is waited for, and nothing starts there meanwhile.',
    });
    const jobId = await submit(client, shell('true'));
    expect((await client.call('job.get', { jobId })).summary.state).toBe('PENDING');
    release();
    await running(client, jobId);
    expect((await statusWhen(true)).health).toBe('All is well.');
    machine.end(await oneUid(jobId), { exitCode: 0 });
    expect((await over(client, jobId)).state).toBe('SUCCEEDED');
  });

  test('in starting attempts: told by uid, stopped jobs end at once, and it is well when they are heard of', async () => {
    await open();
    const { client } = host;
    backend.idle = true;
    patience.attemptMs = 200;
    const jobId = await submit(client, shell('true', { name: 'silent' }));
    const uid = await oneUid(jobId);
    expect(await statusWhen(false)).toMatchObject({
      health: `The backend fake has said nothing of attempt ${uid}, which it was asked to start.`,
    });
    patience.attemptMs = long;
    await answersAll();
    // A stop counts at once; its place stays taken until it is known to be gone.
    await client.call('job.stop', { requestId: randomUUID(), jobIds: [jobId] });
    expect((await over(client, jobId)).state).toBe('KILLED');
    expect((await attemptsOf(client, jobId))[0]?.finishedAtMs).toBeNull();
    backend.idle = false;
    backend.reconcile(backend.desired);
    await verifiedGone(client, jobId);
    expect((await statusWhen(true)).health).toBe('All is well.');
  });

  test('in its end: the host ends nevertheless', async () => {
    await open();
    const release = backend.hang('close');
    await host.host.stop('the test says so');
    expect(host.log().map((line) => line['message'])).toContain(
      "Ending 'backend' took longer than 5000 ms; going on without it",
    );
    release();
  });
});

describe('a backend that lies', () => {
  test('about attempts nobody asked for, or that are over: nothing changes, the report is logged', async () => {
    await open();
    const { client } = host;
    const jobId = await submit(client, shell('true'));
    const uid = await oneUid(jobId);
    await running(client, jobId);
    const never = 'ffffffffffffffff';
    backend.say(report(never, 'SUCCEEDED', { exitCode: 0 }));
    await eventually(droppedReports).toHaveLength(1);
    expect(droppedReports()[0]).toMatchObject({
      level: 'warn',
      message: 'A report was dropped: nothing unfinished has that uid',
      backend: 'fake',
      uid: never,
      state: 'SUCCEEDED',
    });
    expect((await client.call('job.get', { jobId })).summary.state).toBe('RUNNING');
    expect((await client.call('status', {})).counts).toMatchObject({ running: 1, waiting: 0, finished: 0 });
    machine.end(uid, { exitCode: 0 });
    expect((await over(client, jobId)).state).toBe('SUCCEEDED');
  });

  test('about a superseded attempt: its successor is not touched, the report is logged', async () => {
    await open();
    const { client } = host;
    const jobId = await submit(client, shell('true', { maxRetries: 1 }));
    const first = await oneUid(jobId);
    await running(client, jobId);
    machine.end(first, { exitCode: 1 });
    await eventually(async () => (await attemptsOf(client, jobId)).length).toBe(2);
    const second = await oneUid(jobId);
    await eventually(async () => (await attemptsOf(client, jobId)).at(-1)?.state).toBe('RUNNING');
    const before = await tasksOf(client, jobId);
    backend.say(
      report(first, 'SUCCEEDED', { exitCode: 0 }),
      report(first, 'RUNNING', { pid: 9 }),
      report(first, 'FAILED', { exitCode: 9 }),
    );
    await eventually(droppedReports).toHaveLength(1);
    expect(droppedReports()[0]).toMatchObject({
      message: 'A report was dropped: its attempt is over already',
      uid: first,
      state: 'SUCCEEDED',
    });
    expect(await tasksOf(client, jobId)).toEqual(before);
    machine.end(second, { exitCode: 0 });
    expect(await over(client, jobId)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 });
  });

  test('by telling an end twice: it counts once', async () => {
    await open();
    const { client } = host;
    const jobId = await submit(client, shell('true', { maxRetries: 2 }));
    const first = await oneUid(jobId);
    await running(client, jobId);
    const failed = report(first, 'FAILED', { exitCode: 4 });
    backend.say(failed, failed);
    backend.say(failed);
    await eventually(async () => (await attemptsOf(client, jobId)).length).toBe(2);
    await eventually(async () => (await attemptsOf(client, jobId)).at(-1)?.state).toBe('RUNNING');
    backend.say(failed);
    const second = await oneUid(jobId);
    const succeeded = report(second, 'SUCCEEDED', { exitCode: 0 });
    backend.say(succeeded, succeeded);
    backend.say(succeeded);
    expect(await over(client, jobId)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 });
    // One more job goes through, so that every report before it has been looked at.
    const later = await submit(client, shell('true'));
    machine.end(await oneUid(later), { exitCode: 0 });
    await over(client, later);
    expect(await failuresOf(jobId)).toBe(1);
    expect((await attemptsOf(client, jobId)).map(({ state }) => state)).toEqual(['FAILED', 'SUCCEEDED']);
    expect((await client.call('status', {})).counts).toMatchObject({ running: 0, waiting: 0, finished: 2 });
    const { items } = await client.call('inbox.list', { limit: 10 });
    expect(items.filter((item) => item.jobId === jobId)).toHaveLength(1);
    const { events } = await client.call('audit.list', { limit: 200 });
    const ends = events.filter(
      ({ action, entity }) => action === 'attempt_ended' && entity.startsWith(jobId),
    );
    expect(ends).toHaveLength(2);
  });

  test('by throwing in the middle of a round: the round holds, and the set is given again', async () => {
    await open();
    const { client } = host;
    backend.break('reconcile', 'out of order');
    const jobId = await submit(client, shell('true'));
    expect(await statusWhen(false)).toMatchObject({
      health: 'The backend fake failed in reconcile: out of order.',
    });
    expect((await client.call('machine.list', {})).machines[0]?.state).toBe('DEGRADED');
    // Nothing more is placed there: its state says why.
    const waits = await submit(client, shell('true'));
    expect((await client.call('job.get', { jobId: waits })).summary.state).toBe('PENDING');
    expect(await attemptsOf(client, waits)).toEqual([]);
    backend.mend();
    await running(client, jobId);
    await running(client, waits);
    expect((await statusWhen(true)).health).toBe('All is well.');
  });
});

describe('a backend that dies', () => {
  test('is a state, not an end: what it ran is known again when it is back', async () => {
    await open();
    const { client } = host;
    const lives = await submit(client, shell('true', { name: 'lives' }));
    await running(client, lives);
    const livesUid = await oneUid(lives);
    backend.break('all', 'the backend is dead');
    // It ends while nobody can tell.
    machine.end(livesUid, { exitCode: 6 });
    const submitted = await submit(client, shell('true', { name: 'submitted' }));
    const dead = await statusWhen(false);
    expect(dead.health).toContain('the backend is dead');
    expect(dead.health).toContain('The backend fake failed in ');
    const refused = client.call('log.read', { attemptUid: livesUid, stream: 'out', offset: 0, maxBytes: 1 });
    expect(await refusalOf(refused)).toMatchObject({
      code: 'UNREACHABLE',
      message: 'The backend fake failed in readLog: the backend is dead.',
    });
    expect((await client.call('job.get', { jobId: lives })).summary.state).toBe('RUNNING');
    backend.mend();
    expect(await over(client, lives)).toMatchObject({ state: 'FAILED', exitCode: 6 });
    await running(client, submitted);
    machine.end(await oneUid(submitted), { exitCode: 0 });
    expect((await over(client, submitted)).state).toBe('SUCCEEDED');
    expect((await statusWhen(true)).health).toBe('All is well.');
  });

  test('in its start: it is started again until it comes up', async () => {
    backend.break('start', 'no room');
    await open();
    const { client } = host;
    expect(await client.call('status', {})).toMatchObject({
      healthy: false,
      health: 'The backend fake failed in start: no room.',
    });
    const jobId = await submit(client, shell('true'));
    await eventually(() => backend.calls.filter((call) => call === 'start').length).toBeGreaterThan(2);
    backend.mend();
    await running(client, jobId);
    expect((await statusWhen(true)).health).toBe('All is well.');
  });
});
