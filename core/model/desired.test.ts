/** Table 5.2 (what shall be of each unfinished attempt), one test a row. */
import { describe, expect, test } from 'vitest';
import type { JobRequest } from '../contract/job-request.js';
import { desiredAttempts, executionTimeouts, preempt } from './transitions.js';
import { World } from './test-world.js';

function running(request: Partial<JobRequest> = {}): { world: World; id: string; uid: string } {
  const world = new World();
  const id = world.submit({ name: 'j', ...request });
  return { world, id, uid: world.run(`${id}/0`) };
}

const kinds = (world: World) =>
  desiredAttempts(world.state).map((desired) => [
    desired.uid,
    desired.kind,
    ...(desired.kind === 'stop' ? [desired.reason] : []),
  ]);

describe('desired attempts', () => {
  test('ASSIGNED: run', () => {
    const world = new World();
    const uid = world.assign(`${world.submit()}/0`);
    expect(kinds(world)).toEqual([[uid, 'run']]);
  });

  test('RUNNING and BUILDING: keep', () => {
    const { world, uid } = running();
    const other = world.assign(`${world.submit()}/0`);
    world.observe(other, 'BUILDING');
    expect(kinds(world)).toEqual([
      [uid, 'keep'],
      [other, 'keep'],
    ]);
  });

  test("cancelled: stop, with the job's signal and grace", () => {
    const { world, id, uid } = running({ stopSignal: 'SIGINT', grace: '5s' });
    world.cancel(id);
    expect(desiredAttempts(world.state)).toMatchObject([
      { uid, kind: 'stop', reason: 'cancelled', signal: 'SIGINT', graceMs: 5000, notice: null },
    ]);
  });

  test('parent ended: stop, cancelled', () => {
    const { world, id, uid } = running();
    const child = world.submit({ name: 'c', parent: id });
    const childUid = world.run(`${child}/0`);
    world.observe(uid, 'SUCCEEDED');
    expect(kinds(world)).toEqual([[childUid, 'stop', 'cancelled']]);
  });

  test.each([5, 0])('preempted with %i retries left: stop, preempted', (maxRetriesPreemption) => {
    const { world, uid } = running({ maxRetriesPreemption });
    world.step((draft) => preempt(draft, uid, { reason: 'r', actor: 'controller', nowMs: world.nowMs }));
    expect(kinds(world)).toEqual([[uid, 'stop', 'preempted']]);
  });

  test('preempted: it is told why, and when it is killed', () => {
    const { world, uid } = running({ stopSignal: 'SIGUSR1', grace: '10m' });
    const reason = 'Makes room for /ann/hot (PRODUCTION).';
    world.step((draft) => preempt(draft, uid, { reason, actor: 'controller', nowMs: world.nowMs }));
    expect(desiredAttempts(world.state)).toMatchObject([
      { signal: 'SIGUSR1', graceMs: 600_000, notice: { reason, deadlineMs: world.nowMs + 600_000 } },
    ]);
  });

  test('over its time limit: stop, timeout', () => {
    const { world, uid } = running({ timeout: '1s' });
    world.nowMs += 1000;
    world.step((draft) => executionTimeouts(draft, world.nowMs));
    expect(kinds(world)).toEqual([[uid, 'stop', 'timeout']]);
  });

  test('job ended by another task: stop, job-ended', () => {
    const { world, id, uid } = running({ replicas: 2 });
    const other = world.run(`${id}/1`);
    world.observe(other, 'FAILED', { exitCode: 1 });
    expect(kinds(world)).toEqual([[uid, 'stop', 'job-ended']]);
  });

  test('gang sibling ended for good: stop, job-ended', () => {
    const { world, id, uid } = running({ replicas: 2, gangBy: 'rack' });
    const other = world.run(`${id}/1`);
    world.observe(other, 'FAILED', { exitCode: 1 });
    expect(kinds(world)).toEqual([[uid, 'stop', 'job-ended']]);
  });

  test('gang sibling requeued (task PENDING, attempt over and unfinished): stop, preempted', () => {
    const { world, id, uid } = running({ replicas: 2, gangBy: 'rack', maxRetries: 1 });
    const other = world.run(`${id}/1`);
    world.observe(other, 'FAILED', { exitCode: 1 });
    expect(kinds(world)).toEqual([[uid, 'stop', 'preempted']]);
  });

  test('finished: nothing', () => {
    const { world, id, uid } = running();
    world.cancel(id);
    world.observe(uid, 'KILLED');
    expect(kinds(world)).toEqual([]);
  });
});
