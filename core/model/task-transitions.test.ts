/** Table 2.2 (who moves a task) and the two-step ending, one test a row. */
import { afterEach, describe, expect, test } from 'vitest';
import { executionTimeouts, preempt, schedulingDeadlines, workerLost } from './transitions.js';
import { pendingOf, World } from './test-world.js';

let world = new World();
const fresh = () => (world = new World());

afterEach(() => {
  expect(world.violations()).toEqual([]);
});

describe('who moves a task', () => {
  test('submit: PENDING, no attempt', () => {
    const id = fresh().submit();
    expect(world.taskStates(id)).toEqual(['PENDING']);
    expect(world.task(`${id}/0`)).toMatchObject({ currentAttempt: -1, final: false, startedAtMs: null });
    expect(world.attempts.size).toBe(0);
    expect(world.job(id)).toMatchObject({ state: 'PENDING', startedAtMs: null });
  });

  test('PENDING, assign: ASSIGNED, new attempt with id+1 and a fresh uid, band stamped, job RUNNING', () => {
    const id = fresh().submit({ maxRetries: 1 });
    const first = world.tryAssign(`${id}/0`, 'w1', { band: 'BATCH' });
    expect(first).toMatchObject({ ok: true, value: { number: 0, state: 'ASSIGNED', workerId: 'w1' } });
    expect(world.task(`${id}/0`)).toMatchObject({ state: 'ASSIGNED', band: 'BATCH', currentAttempt: 0 });
    expect(world.job(id)).toMatchObject({ state: 'RUNNING', band: 'INTERACTIVE' });
    if (first.ok) world.observe(first.value.uid, 'FAILED', { exitCode: 1 });
    const second = world.tryAssign(`${id}/0`);
    expect(second).toMatchObject({ ok: true, value: { number: 1 } });
    expect(second.ok && first.ok && second.value.uid !== first.value.uid).toBe(true);
  });

  test('PENDING, scheduling deadline passed: UNSCHEDULABLE, and the job', () => {
    const id = fresh().submit({ schedulingTimeout: '10s', replicas: 2 });
    world.nowMs += 10_000;
    expect(world.step((draft) => schedulingDeadlines(draft, world.nowMs))).toBe(2);
    expect(world.taskStates(id)).toEqual(['UNSCHEDULABLE', 'UNSCHEDULABLE']);
    expect(world.job(id)).toMatchObject({ state: 'UNSCHEDULABLE', cause: { code: 'SCHEDULING_DEADLINE' } });
    expect(world.actions()).toContain('task_unschedulable');
  });

  test('ASSIGNED, observed BUILDING then RUNNING: same, started_at of the first', () => {
    const id = fresh().submit();
    const uid = world.assign(`${id}/0`);
    world.observe(uid, 'BUILDING', { startedAtMs: 50 });
    expect(world.attempt(uid)).toMatchObject({ state: 'BUILDING', startedAtMs: 50 });
    world.observe(uid, 'RUNNING', { startedAtMs: 99, pid: 7 });
    expect(world.attempt(uid)).toMatchObject({ state: 'RUNNING', startedAtMs: 50, pid: 7 });
    expect(world.task(`${id}/0`)).toMatchObject({ state: 'RUNNING', startedAtMs: 50 });
    expect(world.job(id)).toMatchObject({ state: 'RUNNING', startedAtMs: 50 });
  });

  test('ASSIGNED, observed RUNNING without a time: now', () => {
    const id = fresh().submit();
    const uid = world.assign(`${id}/0`);
    world.nowMs += 40;
    world.observe(uid, 'RUNNING');
    expect(world.attempt(uid).startedAtMs).toBe(world.nowMs);
  });

  test('active, SUCCEEDED: SUCCEEDED, exit code 0 when none is given', () => {
    const id = fresh().submit();
    const uid = world.run(`${id}/0`);
    world.observe(uid, 'SUCCEEDED', { finishedAtMs: 123, durationMs: 20 });
    expect(world.attempt(uid)).toMatchObject({
      state: 'SUCCEEDED',
      exitCode: 0,
      finishedAtMs: 123,
      durationMs: 20,
    });
    expect(world.task(`${id}/0`)).toMatchObject({
      state: 'SUCCEEDED',
      exitCode: 0,
      cause: null,
      final: true,
    });
    expect(world.job(id)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0, cause: null, finishedAtMs: 123 });
  });

  test('active, FAILED within the budget: PENDING, attempt FAILED and finished', () => {
    const id = fresh().submit({ maxRetries: 1 });
    const uid = world.run(`${id}/0`);
    world.observe(uid, 'FAILED', { exitCode: 3, finishedAtMs: 9 });
    expect(world.attempt(uid)).toMatchObject({
      state: 'FAILED',
      exitCode: 3,
      finishedAtMs: 9,
      cause: { code: 'EXIT_CODE', message: 'Ended with exit code 3.' },
    });
    expect(world.task(`${id}/0`)).toMatchObject({
      state: 'PENDING',
      failureCount: 1,
      exitCode: null,
      cause: null,
    });
    expect(world.job(id).state).toBe('RUNNING');
    expect(world.actions()).toContain('task_retry_scheduled');
  });

  test('active, FAILED beyond the budget: FAILED, and the job with its exit code', () => {
    const id = fresh().submit({ maxRetries: 1 });
    world.observe(world.run(`${id}/0`), 'FAILED', { exitCode: 3 });
    world.observe(world.run(`${id}/0`), 'FAILED', { exitCode: 4 });
    expect(world.task(`${id}/0`)).toMatchObject({
      state: 'FAILED',
      failureCount: 2,
      exitCode: 4,
      final: true,
    });
    expect(world.job(id)).toMatchObject({ state: 'FAILED', exitCode: 4, cause: { code: 'EXIT_CODE' } });
  });

  test('active, FAILED by a signal: 128+n and its name', () => {
    const id = fresh().submit();
    const uid = world.run(`${id}/0`);
    world.observe(uid, 'FAILED', { signal: 'SIGKILL' });
    expect(world.attempt(uid)).toMatchObject({
      exitCode: 137,
      signal: 'SIGKILL',
      cause: { code: 'SIGNALED' },
    });
    expect(world.job(id).exitCode).toBe(137);
  });

  test('ASSIGNED, FAILED: counts although it never started; the job never started', () => {
    const id = fresh().submit();
    const uid = world.assign(`${id}/0`);
    const cause = { code: 'PROGRAM_NOT_FOUND', message: 'There is no program nope.' } as const;
    world.observe(uid, 'FAILED', { cause });
    expect(world.attempt(uid)).toMatchObject({ state: 'FAILED', startedAtMs: null });
    expect(world.job(id)).toMatchObject({ state: 'FAILED', exitCode: 127, startedAtMs: null, cause });
  });

  test.each(['WORKER_FAILED', 'KILLED', 'MISSING'] as const)(
    'ASSIGNED, %s reported: PENDING, free',
    (state) => {
      const id = fresh().submit({ maxRetriesPreemption: 0 });
      const uid = world.assign(`${id}/0`);
      world.observe(uid, state);
      expect(world.task(`${id}/0`)).toMatchObject({ state: 'PENDING', preemptionCount: 0, failureCount: 0 });
      expect(world.attempt(uid)).toMatchObject({ state: state === 'MISSING' ? 'WORKER_FAILED' : state });
      expect(world.attempt(uid).finishedAtMs).not.toBeNull();
      expect(world.job(id)).toMatchObject({ state: 'PENDING', startedAtMs: null });
    },
  );

  test('ASSIGNED and lost more than ten times in a row: counted, so that it ends with its reason', () => {
    const id = fresh().submit({ maxRetriesPreemption: 1 });
    const cause = { code: 'START_FAILED', message: 'The launcher does not answer.' } as const;
    const lose = () => world.observe(world.assign(`${id}/0`), 'WORKER_FAILED', { cause });
    for (let turn = 0; turn < 10; turn += 1) lose();
    expect(world.task(`${id}/0`)).toMatchObject({ state: 'PENDING', preemptionCount: 0 });
    lose();
    expect(world.task(`${id}/0`)).toMatchObject({ state: 'PENDING', preemptionCount: 1 });
    lose();
    expect(world.job(id)).toMatchObject({ state: 'WORKER_FAILED', cause });
  });

  test('a start in between makes the next ones free again', () => {
    const id = fresh().submit({ maxRetriesPreemption: 5 });
    for (let turn = 0; turn < 10; turn += 1) world.observe(world.assign(`${id}/0`), 'MISSING');
    world.observe(world.run(`${id}/0`), 'WORKER_FAILED');
    world.observe(world.assign(`${id}/0`), 'MISSING');
    expect(world.task(`${id}/0`)).toMatchObject({ state: 'PENDING', preemptionCount: 1 });
  });

  test('ASSIGNED, worker lost: PENDING, free, finished at once', () => {
    const id = fresh().submit({ maxRetriesPreemption: 0 });
    const uid = world.assign(`${id}/0`);
    world.step((draft) => workerLost(draft, 'w1', { code: 'WORKER_LOST', message: 'gone' }, world.nowMs));
    expect(world.task(`${id}/0`)).toMatchObject({ state: 'PENDING', preemptionCount: 0 });
    expect(world.attempt(uid)).toMatchObject({ state: 'WORKER_FAILED', finishedAtMs: world.nowMs });
    expect(world.state.used('w1').attempts).toBe(0);
  });

  test.each(['WORKER_FAILED', 'KILLED', 'MISSING', 'PREEMPTED'] as const)(
    'executing, %s reported within the budget: PENDING, counted as preemption',
    (state) => {
      const id = fresh().submit({ maxRetriesPreemption: 1 });
      world.observe(world.run(`${id}/0`), state);
      expect(world.task(`${id}/0`)).toMatchObject({ state: 'PENDING', preemptionCount: 1, failureCount: 0 });
      expect(world.job(id).state).toBe('RUNNING');
    },
  );

  test.each([
    ['WORKER_FAILED', 'WORKER_FAILED'],
    ['KILLED', 'WORKER_FAILED'],
    ['MISSING', 'WORKER_FAILED'],
    ['PREEMPTED', 'PREEMPTED'],
  ] as const)('executing, %s reported beyond the budget: %s, job WORKER_FAILED', (state, task) => {
    const id = fresh().submit({ maxRetriesPreemption: 0 });
    world.observe(world.run(`${id}/0`), state);
    expect(world.task(`${id}/0`)).toMatchObject({ state: task, preemptionCount: 1, final: true });
    expect(world.job(id)).toMatchObject({ state: 'WORKER_FAILED', exitCode: null });
  });

  test('executing, worker lost: the preemption budget', () => {
    const id = fresh().submit({ maxRetriesPreemption: 1 });
    world.run(`${id}/0`);
    const lose = () =>
      world.step((draft) =>
        workerLost(draft, 'w1', { code: 'WORKER_LOST', message: 'w1 is gone' }, world.nowMs),
      );
    expect(lose()).toBe(1);
    expect(world.task(`${id}/0`)).toMatchObject({ state: 'PENDING', preemptionCount: 1 });
    world.run(`${id}/0`);
    lose();
    expect(world.job(id)).toMatchObject({
      state: 'WORKER_FAILED',
      cause: { code: 'WORKER_LOST', message: 'w1 is gone' },
    });
  });

  test('reported lost while ASSIGNED, with a start in the same report: it ran, so it counts', () => {
    const id = fresh().submit({ maxRetriesPreemption: 0 });
    world.observe(world.assign(`${id}/0`), 'WORKER_FAILED', { startedAtMs: 10 });
    expect(world.task(`${id}/0`)).toMatchObject({
      state: 'WORKER_FAILED',
      preemptionCount: 1,
      startedAtMs: 10,
    });
  });

  test('ASSIGNED, preempt decision: PENDING, free, attempt PREEMPTED and not finished', () => {
    const id = fresh().submit({ maxRetriesPreemption: 0 });
    const uid = world.assign(`${id}/0`);
    world.step((draft) =>
      preempt(draft, uid, { reason: 'for better work', actor: 'controller', nowMs: world.nowMs }),
    );
    expect(world.task(`${id}/0`)).toMatchObject({ state: 'PENDING', preemptionCount: 0 });
    expect(world.attempt(uid)).toMatchObject({ state: 'PREEMPTED', finishedAtMs: null });
  });

  test.each([
    [5, 'PENDING'],
    [0, 'PREEMPTED'],
  ] as const)(
    'RUNNING, preempt decision with %i retries: %s, count 1, not finished',
    (maxRetriesPreemption, state) => {
      const id = fresh().submit({ maxRetriesPreemption });
      const uid = world.run(`${id}/0`);
      world.step((draft) =>
        preempt(draft, uid, { reason: 'for better work', actor: 'controller', nowMs: world.nowMs }),
      );
      expect(world.task(`${id}/0`)).toMatchObject({ state, preemptionCount: 1 });
      expect(world.attempt(uid)).toMatchObject({
        state: 'PREEMPTED',
        finishedAtMs: null,
        cause: { code: 'PREEMPTED' },
      });
      expect(world.state.used('w1').attempts).toBe(1);
    },
  );

  test('active, execution timeout: FAILED without retry, not finished', () => {
    const id = fresh().submit({ timeout: '5s', maxRetries: 3 });
    const uid = world.run(`${id}/0`);
    world.nowMs += 5000;
    expect(world.step((draft) => executionTimeouts(draft, world.nowMs))).toBe(1);
    expect(world.task(`${id}/0`)).toMatchObject({ state: 'FAILED', failureCount: 1, final: true });
    expect(world.attempt(uid)).toMatchObject({
      state: 'FAILED',
      finishedAtMs: null,
      cause: { code: 'TIME_LIMIT' },
    });
    expect(world.job(id)).toMatchObject({ state: 'FAILED', exitCode: 124 });
  });

  test('non-terminal, job cancelled: KILLED, running attempt KILLED and not finished', () => {
    const id = fresh().submit({ replicas: 3 });
    const running = world.run(`${id}/0`);
    world.cancel(id);
    expect(world.taskStates(id)).toEqual(['KILLED', 'KILLED', 'KILLED']);
    expect(world.attempt(running)).toMatchObject({ state: 'KILLED', finishedAtMs: null });
    expect(world.job(id)).toMatchObject({
      state: 'KILLED',
      exitCode: null,
      cause: { code: 'STOPPED_BY_USER' },
    });
  });

  test('killing a PENDING retry does not re-stamp its last FAILED attempt', () => {
    const id = fresh().submit({ maxRetries: 1 });
    const uid = world.run(`${id}/0`);
    world.observe(uid, 'FAILED', { exitCode: 3 });
    const before = world.attempt(uid);
    world.cancel(id);
    expect(world.task(`${id}/0`).state).toBe('KILLED');
    expect(world.attempt(uid)).toEqual(before);
  });
});

describe('two-step ending', () => {
  test('capacity and devices stay held until the end is verified', () => {
    const id = fresh().submit({ cpu: 2, memory: '1G', gpu: 1 });
    const result = world.tryAssign(`${id}/0`, 'w1', { devices: ['GPU-a'] });
    const uid = result.ok ? result.value.uid : '';
    world.observe(uid, 'RUNNING');
    world.cancel(id);
    const held = world.state.used('w1');
    expect(held).toMatchObject({ cpuMillicores: 2000, memoryBytes: 1e9, attempts: 1 });
    expect(held.devices.get('GPU-a')).toEqual([uid]);
    expect(world.observe(uid, 'FAILED', { signal: 'SIGTERM', durationMs: 7 })).toBe('finished');
    expect(world.state.used('w1')).toMatchObject({ cpuMillicores: 0, memoryBytes: 0, attempts: 0 });
    expect(world.state.used('w1').devices.size).toBe(0);
    expect(world.attempt(uid)).toMatchObject({
      state: 'KILLED',
      exitCode: 143,
      signal: 'SIGTERM',
      durationMs: 7,
    });
    expect(world.actions().at(-1)).toBe('attempt_verified_gone');
  });

  test('a worker declared dead stamps what was only waiting for verification', () => {
    const id = fresh().submit();
    const uid = world.run(`${id}/0`);
    world.cancel(id);
    world.step((draft) => workerLost(draft, 'w1', { code: 'WORKER_LOST', message: 'gone' }, world.nowMs));
    expect(world.attempt(uid)).toMatchObject({
      state: 'KILLED',
      finishedAtMs: world.nowMs,
      cause: { code: 'STOPPED_BY_USER' },
    });
  });

  test('a preempted task is not placed again while its last attempt may live', () => {
    const id = fresh().submit();
    const uid = world.run(`${id}/0`);
    world.step((draft) => preempt(draft, uid, { reason: 'r', actor: 'controller', nowMs: world.nowMs }));
    expect(pendingOf(world.state).length).toBe(0);
    expect(world.state.predecessorCause(`${id}/0`)?.code).toBe('WAITS_FOR_PREDECESSOR');
    expect(world.tryAssign(`${id}/0`, 'w2')).toMatchObject({
      ok: false,
      refusal: { code: 'FAILED_PRECONDITION' },
    });
    world.observe(uid, 'KILLED');
    expect(pendingOf(world.state).length).toBe(1);
    expect(world.tryAssign(`${id}/0`, 'w2').ok).toBe(true);
  });
});
