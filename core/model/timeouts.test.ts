/** Section 2.7 (timeouts) with the adapted deadline, and the one timer that serves them. */
import { afterEach, describe, expect, test } from 'vitest';
import { executionTimeouts, schedulingDeadlines, preempt } from './transitions.js';
import { World } from './test-world.js';

let world = new World();
const fresh = () => (world = new World());
const expire = () => world.step((draft) => schedulingDeadlines(draft, world.nowMs));
const limit = () => world.step((draft) => executionTimeouts(draft, world.nowMs));

afterEach(() => {
  expect(world.violations()).toEqual([]);
});

describe('scheduling timeout', () => {
  test('is an absolute deadline from the effective submission', () => {
    fresh().submit();
    const id = world.submit({ schedulingTimeout: '1m' });
    expect(world.job(id).schedulingDeadlineMs).toBe(world.job(id).submittedAtMs + 60_000);
    expect(world.job(id).submittedAtMs).toBe(world.nowMs + 1);
    expect(world.state.nextDeadlineMs()).toBe(world.nowMs + 60_001);
  });

  test('absent is none', () => {
    const id = fresh().submit();
    world.nowMs += 1e9;
    expect(expire()).toBe(0);
    expect(world.job(id).state).toBe('PENDING');
    expect(world.state.nextDeadlineMs()).toBeNull();
  });

  test('before the deadline nothing happens', () => {
    fresh().submit({ schedulingTimeout: '10s' });
    world.nowMs += 9_999;
    expect(expire()).toBe(0);
  });

  test('a job of which nothing has run ends as a whole', () => {
    const id = fresh().submit({ schedulingTimeout: '10s', replicas: 2 });
    world.nowMs += 10_000;
    expire();
    expect(world.job(id)).toMatchObject({ state: 'UNSCHEDULABLE', exitCode: null });
    expect(world.job(id).cause?.message).toContain('within 10s of its submission');
    expect(world.state.nextDeadlineMs()).toBeNull();
  });

  test('a task that ran and has to run again waits on', () => {
    const id = fresh().submit({ schedulingTimeout: '10s', maxRetries: 1 });
    const uid = world.run(`${id}/0`);
    world.nowMs += 20_000;
    world.observe(uid, 'FAILED', { exitCode: 1 });
    expect(world.state.nextDeadlineMs()).toBeNull();
    expect(expire()).toBe(0);
    expect(world.task(`${id}/0`).state).toBe('PENDING');
    expect(world.job(id).state).toBe('RUNNING');
  });

  test('a task never placed ends alone where others of its job run; the job ends with them', () => {
    const id = fresh().submit({ schedulingTimeout: '10s', replicas: 2 });
    const uid = world.run(`${id}/0`);
    world.nowMs += 10_000;
    expect(expire()).toBe(1);
    expect(world.taskStates(id)).toEqual(['RUNNING', 'UNSCHEDULABLE']);
    expect(world.job(id).state).toBe('RUNNING');
    world.observe(uid, 'SUCCEEDED');
    expect(world.taskStates(id)).toEqual(['SUCCEEDED', 'UNSCHEDULABLE']);
    expect(world.job(id)).toMatchObject({ state: 'UNSCHEDULABLE', cause: { code: 'SCHEDULING_DEADLINE' } });
  });

  test('the cause says what it waited for', () => {
    const id = fresh().submit({ schedulingTimeout: '10s' });
    world.nowMs += 10_000;
    const why = { code: 'WAITS_FOR_CAPACITY', message: 'Waits for 2 CPU cores (1 of 4 free).' } as const;
    world.step((draft) => schedulingDeadlines(draft, world.nowMs, () => why));
    expect(world.job(id).cause?.message).toBe(
      'Could not start within 10s of its submission. Waits for 2 CPU cores (1 of 4 free).',
    );
  });

  test('of one job: a requeued task waits on, one never placed ends', () => {
    const id = fresh().submit({ schedulingTimeout: '10s', replicas: 3, maxRetries: 1 });
    const uid = world.run(`${id}/0`);
    world.run(`${id}/1`);
    world.observe(uid, 'FAILED', { exitCode: 1 });
    world.nowMs += 10_000;
    expect(expire()).toBe(1);
    expect(world.taskStates(id)).toEqual(['PENDING', 'RUNNING', 'UNSCHEDULABLE']);
    expect(world.state.nextDeadlineMs()).toBeNull();
  });

  test('placed in time, lost before it started, after the deadline: it has not run, so it ends', () => {
    const id = fresh().submit({ schedulingTimeout: '10s' });
    const uid = world.assign(`${id}/0`);
    world.nowMs += 11_000;
    expect(expire()).toBe(0);
    expect(world.state.nextDeadlineMs()).toBeNull();
    world.observe(uid, 'MISSING');
    expect(world.state.nextDeadlineMs()).toBe(world.nowMs - 1_000);
    expire();
    expect(world.job(id).state).toBe('UNSCHEDULABLE');
  });

  test('a deadline that was acted on leaves none behind', () => {
    const id = fresh().submit({ schedulingTimeout: '10s', replicas: 3 });
    world.run(`${id}/0`);
    world.nowMs += 10_000;
    expire();
    expect(world.state.nextDeadlineMs()).toBeNull();
  });
});

describe('execution timeout', () => {
  test.each(['BUILDING', 'RUNNING'] as const)(
    'counts from the start of the attempt, %s included',
    (state) => {
      const id = fresh().submit({ timeout: '5s' });
      const uid = world.assign(`${id}/0`);
      expect(world.state.nextDeadlineMs()).toBeNull();
      world.observe(uid, state, { startedAtMs: world.nowMs });
      expect(world.state.nextDeadlineMs()).toBe(world.nowMs + 5000);
      world.nowMs += 4999;
      expect(limit()).toBe(0);
      world.nowMs += 1;
      expect(limit()).toBe(1);
      expect(world.job(id)).toMatchObject({
        state: 'FAILED',
        exitCode: 124,
        cause: { code: 'TIME_LIMIT', message: 'Ran longer than its time limit of 5s.' },
      });
      expect(world.state.nextDeadlineMs()).toBeNull();
    },
  );

  test('counts anew with each attempt', () => {
    const id = fresh().submit({ timeout: '5s', maxRetries: 1 });
    const first = world.run(`${id}/0`);
    world.nowMs += 4000;
    world.observe(first, 'FAILED', { exitCode: 1 });
    world.run(`${id}/0`);
    world.nowMs += 4000;
    expect(limit()).toBe(0);
    world.nowMs += 1000;
    expect(limit()).toBe(1);
  });

  test('enforced by the supervisor itself while nobody watched: the same, no retry', () => {
    const id = fresh().submit({ timeout: '5s', maxRetries: 5 });
    const uid = world.run(`${id}/0`);
    world.observe(uid, 'FAILED', {
      signal: 'SIGTERM',
      cause: { code: 'TIME_LIMIT', message: 'limit of 5s' },
    });
    expect(world.attempt(uid)).toMatchObject({ state: 'FAILED', exitCode: 124, signal: 'SIGTERM' });
    expect(world.task(`${id}/0`)).toMatchObject({ state: 'FAILED', exitCode: 124, final: true });
    expect(world.job(id)).toMatchObject({ state: 'FAILED', exitCode: 124 });
  });

  test('a timed-out attempt is verified gone later: one reading of its exit, the signal beside it', () => {
    const id = fresh().submit({ timeout: '5s' });
    const uid = world.run(`${id}/0`);
    world.nowMs += 5000;
    limit();
    expect(world.attempt(uid).exitCode).toBe(124);
    expect(world.observe(uid, 'FAILED', { signal: 'SIGKILL', exitCode: 137 })).toBe('finished');
    expect(world.attempt(uid)).toMatchObject({
      state: 'FAILED',
      cause: { code: 'TIME_LIMIT' },
      exitCode: 124,
      signal: 'SIGKILL',
    });
    expect([world.task(`${id}/0`).exitCode, world.job(id).exitCode]).toEqual([124, 124]);
    // What the command itself left with is in the record.
    expect(world.changes.at(-1)?.audit).toMatchObject([
      {
        action: 'attempt_verified_gone',
        entity: `${id}/0:0`,
        detail: { uid, reported: 'FAILED', exitCode: 137, signal: 'SIGKILL' },
      },
    ]);
  });

  test('an attempt preempted before its limit has none any more', () => {
    const id = fresh().submit({ timeout: '5s' });
    const uid = world.run(`${id}/0`);
    world.step((draft) => preempt(draft, uid, { reason: 'r', actor: 'controller', nowMs: world.nowMs }));
    expect(world.state.nextDeadlineMs()).toBeNull();
    world.nowMs += 6000;
    expect(limit()).toBe(0);
  });

  test('the timer is for the earliest of all', () => {
    const a = fresh().submit({ timeout: '50s' });
    const b = world.submit({ timeout: '20s' });
    world.submit({ schedulingTimeout: '30s' });
    const start = world.nowMs;
    world.run(`${a}/0`);
    const uid = world.run(`${b}/0`);
    expect(world.state.nextDeadlineMs()).toBe(start + 20_000);
    world.observe(uid, 'SUCCEEDED');
    expect(world.state.nextDeadlineMs()).toBe(start + 30_002);
  });
});
