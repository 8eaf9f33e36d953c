/** Section 2.8 (gangs) and the gang rows of 2.2, one test a rule. */
import { afterEach, describe, expect, test } from 'vitest';
import { executionTimeouts, observeAll, preempt, workerLost } from './transitions.js';
import { pendingOf, report, World } from './test-world.js';

let world = new World();
let uids: string[] = [];

function gang(
  request: { maxRetries?: number; maxRetriesPreemption?: number; timeout?: string } = {},
): string {
  world = new World();
  const id = world.submit({ name: 'g', replicas: 3, gangBy: 'rack', ...request });
  uids = [0, 1, 2].map((index) => world.run(`${id}/${index}`));
  return id;
}

const uid = (index: number) => uids[index] ?? '';
const counts = (id: string) =>
  world.state.tasksOf(id).map((task) => [task.failureCount, task.preemptionCount]);

afterEach(() => {
  expect(world.violations()).toEqual([]);
});

describe('gang', () => {
  test('a member requeued after a failure: every active sibling requeued, COSCHED_FAILED, free', () => {
    const id = gang({ maxRetries: 1 });
    world.observe(uid(1), 'FAILED', { exitCode: 1 });
    expect(world.taskStates(id)).toEqual(['PENDING', 'PENDING', 'PENDING']);
    expect(counts(id)).toEqual([
      [0, 0],
      [1, 0],
      [0, 0],
    ]);
    expect(world.attempt(uid(0))).toMatchObject({
      state: 'COSCHED_FAILED',
      finishedAtMs: null,
      cause: { code: 'GANG_SIBLING_ENDED' },
    });
    expect(world.job(id).state).toBe('RUNNING');
  });

  test.each(['WORKER_FAILED', 'KILLED', 'PREEMPTED', 'MISSING'] as const)(
    'a member %s within budget: all requeued',
    (state) => {
      const id = gang({ maxRetriesPreemption: 1 });
      world.observe(uid(2), state);
      expect(world.taskStates(id)).toEqual(['PENDING', 'PENDING', 'PENDING']);
      expect(counts(id)).toEqual([
        [0, 0],
        [0, 0],
        [0, 1],
      ]);
    },
  );

  test('a member that FAILED for good: every active sibling COSCHED_FAILED for good', () => {
    const id = gang();
    world.observe(uid(0), 'FAILED', { exitCode: 7 });
    expect(world.taskStates(id)).toEqual(['FAILED', 'COSCHED_FAILED', 'COSCHED_FAILED']);
    expect(world.attempt(uid(1))).toMatchObject({ state: 'COSCHED_FAILED', finishedAtMs: null });
    expect(world.job(id)).toMatchObject({ state: 'FAILED', exitCode: 7 });
  });

  test('a member lost for good: siblings COSCHED_FAILED, job WORKER_FAILED', () => {
    const id = gang({ maxRetriesPreemption: 0 });
    world.observe(uid(0), 'WORKER_FAILED');
    expect(world.taskStates(id)).toEqual(['WORKER_FAILED', 'COSCHED_FAILED', 'COSCHED_FAILED']);
    expect(world.job(id).state).toBe('WORKER_FAILED');
  });

  test('a member that SUCCEEDED leaves its siblings alone', () => {
    const id = gang();
    world.observe(uid(0), 'SUCCEEDED');
    expect(world.taskStates(id)).toEqual(['SUCCEEDED', 'RUNNING', 'RUNNING']);
  });

  test('a timeout tears the gang down', () => {
    const id = gang({ timeout: '5s', maxRetries: 3 });
    world.nowMs += 5000;
    world.step((draft) => executionTimeouts(draft, world.nowMs));
    expect(world.taskStates(id)).toEqual(['FAILED', 'COSCHED_FAILED', 'COSCHED_FAILED']);
    expect(world.job(id)).toMatchObject({ state: 'FAILED', exitCode: 124 });
  });

  test('preempting every member charges only the first', () => {
    const id = gang();
    world.step((draft) => {
      for (const each of uids) preempt(draft, each, { reason: 'r', actor: 'controller', nowMs: world.nowMs });
    });
    expect(world.taskStates(id)).toEqual(['PENDING', 'PENDING', 'PENDING']);
    expect(counts(id)).toEqual([
      [0, 1],
      [0, 0],
      [0, 0],
    ]);
  });

  test('their worker lost: one is charged, all attempts are finished at once', () => {
    const id = gang();
    world.step((draft) => workerLost(draft, 'w1', { code: 'WORKER_LOST', message: 'gone' }, world.nowMs));
    expect(counts(id)).toEqual([
      [0, 1],
      [0, 0],
      [0, 0],
    ]);
    expect(uids.map((each) => world.attempt(each).finishedAtMs)).toEqual([
      world.nowMs,
      world.nowMs,
      world.nowMs,
    ]);
    expect(pendingOf(world.state).length).toBe(3);
  });

  test('fan-out is visible to later reports of the same batch', () => {
    const id = gang({ maxRetries: 1 });
    const outcomes = world.step((draft) =>
      observeAll(
        draft,
        [report(uid(0), 'FAILED', { exitCode: 1 }), report(uid(1), 'FAILED', { exitCode: 1 })],
        world.nowMs,
      ),
    );
    expect(outcomes).toEqual(['applied', 'finished']);
    expect(counts(id)).toEqual([
      [1, 0],
      [0, 0],
      [0, 0],
    ]);
  });

  test('cancelled: KILLED, no gang step', () => {
    const id = gang();
    world.cancel(id);
    expect(world.taskStates(id)).toEqual(['KILLED', 'KILLED', 'KILLED']);
    expect(world.attempt(uid(1)).cause?.code).toBe('STOPPED_BY_USER');
  });

  test('a job that is no gang has no fan-out', () => {
    world = new World();
    const id = world.submit({ name: 'n', replicas: 2, maxRetries: 1 });
    const [a, b] = [world.run(`${id}/0`), world.run(`${id}/1`)];
    world.observe(a, 'FAILED', { exitCode: 1 });
    expect(world.attempt(b).state).toBe('RUNNING');
  });

  test('it may be placed again only when nothing of any member lives', () => {
    const id = gang({ maxRetries: 1 });
    world.observe(uid(0), 'FAILED', { exitCode: 1 });
    expect(pendingOf(world.state).length).toBe(0);
    world.observe(uid(1), 'KILLED');
    expect(pendingOf(world.state).length).toBe(0);
    expect(world.state.predecessorCause(`${id}/2`)?.code).toBe('WAITS_FOR_PREDECESSOR');
    world.observe(uid(2), 'MISSING');
    expect(pendingOf(world.state).length).toBe(3);
  });
});
