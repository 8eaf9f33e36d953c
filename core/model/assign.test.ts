/** The applier: every assignment is checked against the current rows, so that nothing is booked twice. */
import { describe, expect, test } from 'vitest';
import { Draft } from './draft.js';
import { assign, observe, settle, type Assignment } from './transitions.js';
import { report, World } from './test-world.js';

const machine = { healthy: true, cpuMillicores: 4000, memoryBytes: 8e9 };

function refusedWith(result: ReturnType<World['tryAssign']>): string {
  return result.ok ? 'accepted' : `${result.refusal.code} ${result.refusal.message}`;
}

describe('assign', () => {
  test('a task that is not PENDING any more', () => {
    const world = new World();
    const id = world.submit({ name: 'a' });
    world.run(`${id}/0`);
    expect(refusedWith(world.tryAssign(`${id}/0`))).toBe(
      'FAILED_PRECONDITION /ann/a/0: is RUNNING, not PENDING.',
    );
    world.cancel(id);
    expect(refusedWith(world.tryAssign(`${id}/0`))).toBe(
      'FAILED_PRECONDITION /ann/a/0: is KILLED, not PENDING.',
    );
    expect(world.attempts.size).toBe(1);
  });

  test('an unknown task', () => {
    expect(refusedWith(new World().tryAssign('/ann/nope/0'))).toBe('NOT_FOUND There is no task /ann/nope/0.');
  });

  test('a worker that is not healthy any more', () => {
    const world = new World();
    const id = world.submit({ name: 'a' });
    const result = world.tryAssign(`${id}/0`, 'w1', { worker: { ...machine, healthy: false } });
    expect(refusedWith(result)).toContain('w1 is not healthy');
  });

  test('processors or memory taken meanwhile', () => {
    const world = new World();
    const id = world.submit({ name: 'a', replicas: 3, cpu: 1.5, memory: '1G' });
    const other = world.submit({ name: 'b', cpu: 1, memory: '6.5G' });
    expect(world.tryAssign(`${id}/0`, 'w1', { worker: machine }).ok).toBe(true);
    expect(world.tryAssign(`${id}/1`, 'w1', { worker: machine }).ok).toBe(true);
    expect(refusedWith(world.tryAssign(`${id}/2`, 'w1', { worker: machine }))).toContain(
      'not enough processors',
    );
    expect(refusedWith(world.tryAssign(`${other}/0`, 'w1', { worker: machine }))).toContain(
      'not enough memory',
    );
    expect(world.state.used('w1')).toMatchObject({ cpuMillicores: 3000, attempts: 2 });
  });

  test('to the last millicore and byte', () => {
    const world = new World();
    const id = world.submit({ name: 'a', cpu: 4, memory: '8G' });
    expect(world.tryAssign(`${id}/0`, 'w1', { worker: machine }).ok).toBe(true);
  });

  test('a device that another attempt holds, also within one draft', () => {
    const world = new World();
    const id = world.submit({ name: 'a', replicas: 2, gpu: 1 });
    const draft = new Draft(world.state);
    const one = (taskId: string, uid: string): Assignment => ({
      taskId,
      workerId: 'w1',
      backendId: 'local',
      uid,
      devices: ['GPU-a'],
      band: 'INTERACTIVE',
      ports: {},
      nowMs: world.nowMs,
      worker: machine,
    });
    expect(assign(draft, one(`${id}/0`, 'u1')).ok).toBe(true);
    const second = assign(draft, one(`${id}/1`, 'u2'));
    expect(second).toMatchObject({
      ok: false,
      refusal: { message: '/ann/a/1: device GPU-a is held by attempt u1.' },
    });
    expect(assign(draft, { ...one(`${id}/1`, 'u2'), workerId: 'w2' }).ok).toBe(true);
  });

  test('a place that was given free earlier in the same batch', () => {
    const world = new World();
    const [a, b] = [world.submit({ name: 'a', cpu: 4 }), world.submit({ name: 'b', cpu: 4 })];
    const uid = world.run(`${a}/0`);
    const draft = new Draft(world.state);
    const next = (taskId: string): Assignment => ({
      taskId,
      workerId: 'w1',
      backendId: 'local',
      uid: 'u1',
      devices: [],
      band: 'INTERACTIVE',
      ports: {},
      nowMs: world.nowMs,
      worker: machine,
    });
    expect(assign(draft, next(`${b}/0`)).ok).toBe(false);
    observe(draft, report(uid, 'SUCCEEDED'), world.nowMs);
    expect(assign(draft, next(`${b}/0`)).ok).toBe(true);
    settle(draft, world.nowMs);
    world.commit(draft.changeSet());
    expect(world.state.used('w1')).toMatchObject({ cpuMillicores: 4000, attempts: 1 });
    expect(world.violations()).toEqual([]);
  });

  test('a device until its holder is verified gone', () => {
    const world = new World();
    const [a, b] = [world.submit({ name: 'a', gpu: 1 }), world.submit({ name: 'b', gpu: 1 })];
    const first = world.tryAssign(`${a}/0`, 'w1', { devices: ['GPU-a'], worker: machine });
    world.cancel(a);
    const again = () => world.tryAssign(`${b}/0`, 'w1', { devices: ['GPU-a'], worker: machine });
    expect(refusedWith(again())).toContain('GPU-a is held');
    if (first.ok) world.observe(first.value.uid, 'KILLED');
    expect(again().ok).toBe(true);
  });

  test('fewer devices than asked for, or one twice', () => {
    const world = new World();
    const id = world.submit({ name: 'a', gpu: 2 });
    expect(refusedWith(world.tryAssign(`${id}/0`, 'w1', { worker: machine }))).toContain(
      'asks for 2 GPUs, was given 0',
    );
    const twice = world.tryAssign(`${id}/0`, 'w1', { devices: ['GPU-a', 'GPU-a'], worker: machine });
    expect(refusedWith(twice)).toContain('asks for 2 GPUs');
    const short = world.tryAssign(`${id}/0`, 'w1', { devices: ['GPU-a'], worker: machine });
    expect(refusedWith(short)).toContain('was given 1');
  });

  test('a uid that exists', () => {
    const world = new World();
    const id = world.submit({ name: 'a', replicas: 2 });
    const uid = world.run(`${id}/0`);
    expect(refusedWith(world.tryAssign(`${id}/1`, 'w1', { uid }))).toBe(
      `INTERNAL /ann/a/1: attempt uid ${uid} is taken.`,
    );
  });
});
