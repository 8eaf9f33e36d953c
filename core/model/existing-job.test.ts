/** Section 2.6 (the same name submitted again), one test a cell; history is kept throughout. */
import { afterEach, describe, expect, test } from 'vitest';
import { World } from './test-world.js';

let world = new World();

afterEach(() => {
  expect(world.violations()).toEqual([]);
});

function unfinished(): void {
  world = new World();
  world.submit({ name: 'four' });
}

function finished(): void {
  unfinished();
  world.observe(world.run('/ann/four/0'), 'SUCCEEDED');
}

const again = (existingJobPolicy: 'UNSPECIFIED' | 'ERROR' | 'KEEP' | 'RECREATE') =>
  world.trySubmit({ name: 'four', existingJobPolicy }, { suffix: 'x7' });
const refusedAs = (code: string) => ({ ok: false, refusal: { code } });
const made = { ok: true, value: { jobId: '/ann/four-x7', existed: false } };

describe('the existing job is unfinished', () => {
  test('ERROR: ALREADY_EXISTS', () => {
    unfinished();
    expect(again('ERROR')).toMatchObject(refusedAs('ALREADY_EXISTS'));
  });

  test('KEEP: the existing id', () => {
    unfinished();
    expect(again('KEEP')).toEqual({ ok: true, value: { jobId: '/ann/four', existed: true } });
    expect(world.jobs.size).toBe(1);
  });

  test('RECREATE: cancels it; the new one waits until its attempts are verified gone', () => {
    unfinished();
    const uid = world.run('/ann/four/0');
    expect(again('RECREATE')).toEqual(made);
    expect(world.job('/ann/four')).toMatchObject({
      state: 'KILLED',
      cause: { message: 'Replaced by a new run of four.' },
    });
    const waiting = world.state.predecessorCause('/ann/four-x7/0');
    expect(waiting?.code).toBe('WAITS_FOR_PREDECESSOR');
    expect(waiting?.message).toContain('/ann/four,');
    expect(world.state.predecessorOf(world.job('/ann/four-x7'))?.id).toBe('/ann/four');
    world.observe(uid, 'KILLED');
    expect(world.state.predecessorOf(world.job('/ann/four-x7'))).toBeUndefined();
    expect(world.actions()).toContain('job_replaced');
  });

  test('RECREATE: what it replaces leaves room for it, with all below; no more than that', () => {
    world = new World();
    world.submit({ name: 'four', replicas: 9000 });
    world.submit({ name: 'child', parent: '/ann/four', replicas: 2000 });
    world.submit({ name: 'other', replicas: 5000 });
    const sent = (replicas: number, name = 'four') =>
      world.trySubmit({ name, replicas, existingJobPolicy: 'RECREATE' }, { suffix: `x${replicas}` });
    expect(sent(10_000, 'five')).toMatchObject(refusedAs('RESOURCE_EXHAUSTED'));
    expect(sent(10_000)).toMatchObject({ ok: true, value: { jobId: '/ann/four-x10000' } });
    expect(world.state.openTasks('ann')).toBe(15_000);
    const refused = world.trySubmit({ name: 'other', replicas: 6001, existingJobPolicy: 'RECREATE' });
    expect(refused).toMatchObject(refusedAs('RESOURCE_EXHAUSTED'));
    expect(world.job('/ann/other').state).toBe('PENDING');
  });

  test('UNSPECIFIED: ALREADY_EXISTS, naming job and state', () => {
    unfinished();
    const result = again('UNSPECIFIED');
    expect(result).toMatchObject(refusedAs('ALREADY_EXISTS'));
    if (!result.ok) expect(result.refusal.message).toContain('/ann/four is not over (it waits)');
  });
});

describe('the existing job is finished', () => {
  test('ERROR: ALREADY_EXISTS', () => {
    finished();
    expect(again('ERROR')).toMatchObject(refusedAs('ALREADY_EXISTS'));
  });

  test.each(['KEEP', 'RECREATE', 'UNSPECIFIED'] as const)('%s: a new run, its history kept', (policy) => {
    finished();
    const before = world.job('/ann/four');
    expect(again(policy)).toEqual(made);
    expect(world.job('/ann/four')).toEqual(before);
    expect(world.job('/ann/four-x7')).toMatchObject({ name: 'four', state: 'PENDING' });
  });

  test('the same when it is no longer in memory', () => {
    finished();
    expect(world.state.evictTree('/ann/four')).toBe(true);
    expect(again('ERROR')).toMatchObject(refusedAs('ALREADY_EXISTS'));
    expect(again('UNSPECIFIED')).toEqual(made);
  });
});

describe('a name stands for its newest run', () => {
  test('the policy looks at the newest run, not at the first', () => {
    finished();
    expect(again('UNSPECIFIED')).toEqual(made);
    expect(world.trySubmit({ name: 'four', existingJobPolicy: 'KEEP' })).toEqual({
      ok: true,
      value: { jobId: '/ann/four-x7', existed: true },
    });
    expect(world.trySubmit({ name: 'FOUR' })).toMatchObject(refusedAs('ALREADY_EXISTS'));
  });

  test('a path with a suffix used as a name is that job', () => {
    finished();
    again('UNSPECIFIED');
    expect(world.trySubmit({ name: 'four-x7' })).toMatchObject(refusedAs('ALREADY_EXISTS'));
  });

  test('users do not share names, nor do different parents', () => {
    unfinished();
    expect(world.trySubmit({ name: 'four' }, { user: 'bob', submittedBy: 'bob' }).ok).toBe(true);
    const parent = world.submit({ name: 'p' });
    expect(world.trySubmit({ name: 'four', parent }).ok).toBe(true);
    expect(world.trySubmit({ name: 'four', parent })).toMatchObject(refusedAs('ALREADY_EXISTS'));
  });

  test('run again: always a new run beside what there is, which it may join', () => {
    unfinished();
    world.run('/ann/four/0');
    const result = world.trySubmit({ name: 'four' }, { retryOf: '/ann/four', suffix: 'x7' });
    expect(result).toEqual(made);
    expect(world.job('/ann/four').state).toBe('RUNNING');
    expect(world.job('/ann/four-x7').retryOf).toBe('/ann/four');
    expect(world.state.predecessorOf(world.job('/ann/four-x7'))).toBeUndefined();
  });

  test('run again of a job that was stopped waits until its processes are gone', () => {
    unfinished();
    const uid = world.run('/ann/four/0');
    world.cancel('/ann/four');
    world.trySubmit({ name: 'four' }, { retryOf: '/ann/four', suffix: 'x7' });
    expect(world.state.predecessorCause('/ann/four-x7/0')?.code).toBe('WAITS_FOR_PREDECESSOR');
    world.observe(uid, 'KILLED');
    expect(world.state.predecessorCause('/ann/four-x7/0')).toBeNull();
  });
});
