/** Section 2.4 (deriving the job state), one test a rule. */
import { describe, expect, test } from 'vitest';
import type { TaskState } from '../contract/states.js';
import { deriveJobState } from './job-state.js';
import { newTally } from './tally.js';
import { World } from './test-world.js';

function derive(
  states: readonly TaskState[],
  more: { started?: boolean; maxTaskFailures?: number } = {},
): string {
  const tally = newTally();
  for (const state of states) {
    tally.total += 1;
    tally.byState[state] += 1;
  }
  return deriveJobState({
    tally,
    started: more.started ?? false,
    maxTaskFailures: more.maxTaskFailures ?? 0,
  });
}

describe('job state, first matching rule', () => {
  test('1: all tasks SUCCEEDED: SUCCEEDED', () => {
    expect(derive(['SUCCEEDED', 'SUCCEEDED'])).toBe('SUCCEEDED');
  });

  test('1: no tasks at all is not success', () => {
    expect(derive([])).toBe('PENDING');
  });

  test('2: more tasks FAILED for good than tolerated: FAILED, while others still run', () => {
    expect(derive(['FAILED', 'RUNNING'])).toBe('FAILED');
    expect(derive(['FAILED', 'RUNNING'], { maxTaskFailures: 1 })).toBe('RUNNING');
    expect(derive(['FAILED', 'FAILED', 'RUNNING'], { maxTaskFailures: 1 })).toBe('FAILED');
  });

  test('2 before 3, 4 and 5', () => {
    expect(derive(['FAILED', 'UNSCHEDULABLE', 'KILLED', 'WORKER_FAILED'])).toBe('FAILED');
  });

  test('3: any UNSCHEDULABLE, nothing ran: UNSCHEDULABLE', () => {
    expect(derive(['UNSCHEDULABLE', 'PENDING'])).toBe('UNSCHEDULABLE');
    expect(derive(['UNSCHEDULABLE', 'KILLED'])).toBe('UNSCHEDULABLE');
  });

  test('3: any UNSCHEDULABLE beside tasks that run: those end first', () => {
    expect(derive(['UNSCHEDULABLE', 'RUNNING'], { started: true })).toBe('RUNNING');
    expect(derive(['UNSCHEDULABLE', 'SUCCEEDED'], { started: true })).toBe('UNSCHEDULABLE');
  });

  test('4: any KILLED: KILLED', () => {
    expect(derive(['KILLED', 'SUCCEEDED'])).toBe('KILLED');
    expect(derive(['KILLED', 'RUNNING'], { started: true })).toBe('KILLED');
  });

  test.each(['WORKER_FAILED', 'PREEMPTED', 'COSCHED_FAILED'] as const)(
    '5: all over, one %s: WORKER_FAILED',
    (state) => {
      expect(derive([state, 'SUCCEEDED'])).toBe('WORKER_FAILED');
      expect(derive([state, 'RUNNING'], { started: true })).toBe('RUNNING');
    },
  );

  test('5: a gang that fell because a member FAILED is FAILED, not lost', () => {
    expect(derive(['FAILED', 'COSCHED_FAILED'], { maxTaskFailures: 1 })).toBe('FAILED');
    expect(derive(['FAILED', 'WORKER_FAILED'], { maxTaskFailures: 1 })).toBe('WORKER_FAILED');
  });

  test('6: all over, some FAILED within tolerance: FAILED', () => {
    expect(derive(['FAILED', 'SUCCEEDED'], { maxTaskFailures: 1 })).toBe('FAILED');
  });

  test.each(['ASSIGNED', 'BUILDING', 'RUNNING'] as const)('7: any %s: RUNNING', (state) => {
    expect(derive([state, 'PENDING'])).toBe('RUNNING');
  });

  test('8: had started, all requeued: RUNNING', () => {
    expect(derive(['PENDING', 'PENDING'], { started: true })).toBe('RUNNING');
  });

  test('9: else PENDING', () => {
    expect(derive(['PENDING', 'PENDING'])).toBe('PENDING');
  });
});

describe('when a job ends', () => {
  test('retries are not defeated by a max_task_failures of 0', () => {
    const world = new World();
    const id = world.submit({ maxRetries: 2 });
    for (const exitCode of [1, 2]) world.observe(world.run(`${id}/0`), 'FAILED', { exitCode });
    expect(world.job(id).state).toBe('RUNNING');
    world.observe(world.run(`${id}/0`), 'SUCCEEDED');
    expect(world.job(id)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0, cause: null });
    expect(world.task(`${id}/0`)).toMatchObject({ failureCount: 2, exitCode: 0, cause: null });
    expect(world.violations()).toEqual([]);
  });

  test('its remaining tasks become KILLED, running attempts stay unfinished', () => {
    const world = new World();
    const id = world.submit({ replicas: 4 });
    const [bad, running] = [world.run(`${id}/0`), world.run(`${id}/1`)];
    world.observe(world.run(`${id}/3`), 'SUCCEEDED');
    world.observe(bad, 'FAILED', { exitCode: 5 });
    expect(world.taskStates(id)).toEqual(['FAILED', 'KILLED', 'KILLED', 'SUCCEEDED']);
    expect(world.attempt(running)).toMatchObject({
      state: 'KILLED',
      finishedAtMs: null,
      cause: { code: 'JOB_ENDED', message: 'The job was over before this task was: it failed.' },
    });
    expect(world.job(id)).toMatchObject({
      state: 'FAILED',
      exitCode: 5,
      cause: { code: 'EXIT_CODE', message: 'Task 0: Ended with exit code 5.' },
    });
  });

  test("the exit code is the first failed task's own by index, not by time", () => {
    const world = new World();
    const id = world.submit({ replicas: 3, maxTaskFailures: 1 });
    const uids = [0, 1, 2].map((index) => world.run(`${id}/${index}`));
    world.observe(uids[2] ?? '', 'FAILED', { exitCode: 9 });
    world.observe(uids[1] ?? '', 'FAILED', { exitCode: 4 });
    expect(world.job(id)).toMatchObject({
      state: 'FAILED',
      exitCode: 4,
      cause: { message: 'Task 1: Ended with exit code 4.' },
    });
  });

  test('terminal states are sticky: a late report changes nothing', () => {
    const world = new World();
    const id = world.submit({ replicas: 2 });
    const [bad, late] = [world.run(`${id}/0`), world.run(`${id}/1`)];
    world.observe(bad, 'FAILED', { exitCode: 5 });
    world.observe(late, 'SUCCEEDED');
    expect(world.job(id)).toMatchObject({ state: 'FAILED', exitCode: 5 });
    expect(world.taskStates(id)).toEqual(['FAILED', 'KILLED']);
  });

  test("a root job's end is noted once, a child's never", () => {
    const world = new World();
    const id = world.submit({ name: 'a' });
    const child = world.submit({ name: 'b', parent: id });
    world.observe(world.run(`${child}/0`), 'FAILED', { exitCode: 1 });
    world.observe(world.run(`${id}/0`), 'SUCCEEDED');
    expect(world.inbox()).toEqual(['/ann/a SUCCEEDED']);
  });
});
