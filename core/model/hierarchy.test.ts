/** Section 2.5 (hierarchy and children), one test a rule; and the bounds of section 0 on submission. */
import { afterEach, describe, expect, test } from 'vitest';
import type { JobSpec } from '../contract/job-request.js';
import { Draft } from './draft.js';
import { complete, preempt, settle, submit } from './transitions.js';
import { specOf, World } from './test-world.js';

let world = new World();
const fresh = () => (world = new World());

afterEach(() => {
  expect(world.violations()).toEqual([]);
});

describe('names and depth', () => {
  test('a root job lies below its user, at depth 1; tasks below it in index order', () => {
    const id = fresh().submit({ name: 'train', replicas: 3 });
    expect(id).toBe('/ann/train');
    expect(world.job(id)).toMatchObject({ depth: 1, rootId: id, parentId: null, numTasks: 3 });
    expect(world.state.tasksOf(id).map((task) => task.id)).toEqual([
      '/ann/train/0',
      '/ann/train/1',
      '/ann/train/2',
    ]);
  });

  test('a child lies below its parent, one deeper', () => {
    const id = fresh().submit({ name: 'train' });
    const child = world.submit({ name: 'eval', parent: id });
    const grandchild = world.submit({ name: 'deep', parent: child });
    expect(grandchild).toBe('/ann/train/eval/deep');
    expect(world.job(grandchild)).toMatchObject({ depth: 3, rootId: id, parentId: child });
    expect(world.state.childrenOf(id).map((job) => job.id)).toEqual([child]);
  });

  test('a child called by digits alone would read as a task and is refused', () => {
    const id = fresh().submit({ name: 'train' });
    const result = world.trySubmit({ name: '3', parent: id });
    expect(result).toMatchObject({
      ok: false,
      refusal: { code: 'INVALID_ARGUMENT', fields: [{ field: 'name', value: '3' }] },
    });
    expect(world.trySubmit({ name: '3' })).toMatchObject({ ok: true, value: { jobId: '/ann/3' } });
  });

  test('no name: made from the program, with the suffix', () => {
    expect(fresh().submit({ command: ['/usr/bin/python3', 'x.py'] })).toBe('/ann/iris-run-python3-s1');
  });

  test('a made name that is taken is made anew, never the same', () => {
    fresh().submit({ command: ['a'] }, { suffix: 'same' });
    expect(world.submit({ command: ['a'] }, { suffix: 'same' })).toBe('/ann/iris-run-a-same-same');
    expect(world.submit({ command: ['a'] }, { suffix: 'same' })).toBe('/ann/iris-run-a-same-same-2');
  });
});

describe('children', () => {
  test('need a parent that exists', () => {
    const result = fresh().trySubmit({ name: 'eval', parent: '/ann/nope' });
    expect(result).toMatchObject({ ok: false, refusal: { code: 'FAILED_PRECONDITION' } });
    if (!result.ok) expect(result.refusal.message).toContain('/ann/nope');
  });

  test('need a parent that is not over', () => {
    const id = fresh().submit({ name: 'train' });
    world.cancel(id);
    const result = world.trySubmit({ name: 'eval', parent: id });
    expect(result).toMatchObject({ ok: false, refusal: { code: 'FAILED_PRECONDITION' } });
    if (!result.ok) expect(result.refusal.message).toContain('(it was stopped)');
  });

  test('a parent that is over and no longer in memory is told apart from one that never was', () => {
    const id = fresh().submit({ name: 'train' });
    world.cancel(id);
    expect(world.state.evictTree(id)).toBe(true);
    const result = world.trySubmit({ name: 'eval', parent: id });
    if (!result.ok) expect(result.refusal.message).toContain('has ended (it was stopped)');
    expect(result.ok).toBe(false);
  });

  test('belong to the caller', () => {
    const id = fresh().submit({ name: 'train' });
    expect(world.trySubmit({ name: 'eval', parent: id }, { user: 'bob', submittedBy: 'bob' })).toMatchObject({
      ok: false,
      refusal: { code: 'PERMISSION_DENIED' },
    });
  });

  test('inherit submitter and root submission time', () => {
    const id = fresh().submit({ name: 'train' }, { submittedBy: 'ann@lab' });
    world.nowMs += 5000;
    const child = world.submit({ name: 'eval', parent: id }, { submittedBy: 'local_admin' });
    expect(world.job(child)).toMatchObject({
      submittedBy: 'ann@lab',
      rootSubmittedAtMs: world.job(id).submittedAtMs,
      submittedAtMs: world.nowMs,
    });
  });

  test('inherit the band when they ask for INHERIT, else have their own', () => {
    const id = fresh().submit({ name: 'train', priority: 'production' });
    expect(world.job(world.submit({ name: 'a', parent: id })).band).toBe('PRODUCTION');
    expect(world.job(world.submit({ name: 'b', parent: id, priority: 'batch' })).band).toBe('BATCH');
    expect(world.job(world.submit({ name: 'c' })).band).toBe('INTERACTIVE');
  });

  test('lost ones do not affect the parent', () => {
    const id = fresh().submit({ name: 'train' });
    world.run(`${id}/0`);
    const child = world.submit({ name: 'eval', parent: id, maxRetriesPreemption: 0 });
    world.observe(world.run(`${child}/0`), 'WORKER_FAILED');
    expect(world.job(child).state).toBe('WORKER_FAILED');
    expect(world.job(id).state).toBe('RUNNING');
  });
});

describe('submission times and order', () => {
  test('are strictly increasing, also when the clock stands or is set back', () => {
    const a = fresh().submit();
    const b = world.submit();
    world.nowMs -= 60_000;
    const c = world.submit();
    const times = [a, b, c].map((id) => world.job(id).submittedAtMs);
    expect(times).toEqual([world.nowMs + 60_000, world.nowMs + 60_001, world.nowMs + 60_002]);
  });

  test('insertion numbers go on over jobs, a contiguous block each', () => {
    const a = fresh().submit({ replicas: 3 });
    const b = world.submit({ replicas: 2 });
    const numbers = [...world.state.tasksOf(a), ...world.state.tasksOf(b)].map((task) => task.insertion);
    expect(numbers).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('cascades', () => {
  function family(policy: 'TERMINATE_CHILDREN' | 'PRESERVE_CHILDREN' | undefined, replicas = 1): string {
    const id = fresh().submit({
      name: 'p',
      replicas,
      ...(policy === undefined ? {} : { preemptionPolicy: policy }),
    });
    world.submit({ name: 'c', parent: id });
    world.submit({ name: 'g', parent: `${id}/c` });
    return id;
  }
  const descendants = () => ['/ann/p/c', '/ann/p/c/g'].map((id) => world.job(id).state);

  test.each(['TERMINATE_CHILDREN', 'PRESERVE_CHILDREN'] as const)(
    'parent SUCCEEDED under %s: all end',
    (policy) => {
      const id = family(policy);
      world.observe(world.run(`${id}/0`), 'SUCCEEDED');
      expect(descendants()).toEqual(['KILLED', 'KILLED']);
      expect(world.job('/ann/p/c/g').cause?.code).toBe('PARENT_ENDED');
    },
  );

  test('parent FAILED under TERMINATE_CHILDREN: all end', () => {
    const id = family('TERMINATE_CHILDREN');
    world.observe(world.run(`${id}/0`), 'FAILED', { exitCode: 1 });
    expect(descendants()).toEqual(['KILLED', 'KILLED']);
  });

  test('parent FAILED under PRESERVE_CHILDREN: they go on', () => {
    const id = family('PRESERVE_CHILDREN');
    world.observe(world.run(`${id}/0`), 'FAILED', { exitCode: 1 });
    expect(descendants()).toEqual(['PENDING', 'PENDING']);
  });

  test('unspecified is terminate for one task, preserve for several', () => {
    const single = family(undefined);
    world.observe(world.run(`${single}/0`), 'FAILED', { exitCode: 1 });
    expect(descendants()).toEqual(['KILLED', 'KILLED']);
    const several = family(undefined, 2);
    world.observe(world.run(`${several}/0`), 'FAILED', { exitCode: 1 });
    expect(descendants()).toEqual(['PENDING', 'PENDING']);
  });

  test('parent task requeued under TERMINATE_CHILDREN: all end, once', () => {
    const id = family('TERMINATE_CHILDREN');
    world.observe(world.run(`${id}/0`), 'WORKER_FAILED');
    expect(world.task(`${id}/0`).state).toBe('PENDING');
    expect(descendants()).toEqual(['KILLED', 'KILLED']);
    expect(world.actions().filter((action) => action === 'job_completed').length).toBe(2);
  });

  test('parent task requeued under PRESERVE_CHILDREN: they go on', () => {
    const id = family('PRESERVE_CHILDREN');
    world.observe(world.run(`${id}/0`), 'WORKER_FAILED');
    expect(descendants()).toEqual(['PENDING', 'PENDING']);
  });

  test('cancel ignores the policy and names the parent', () => {
    const id = family('PRESERVE_CHILDREN');
    expect(world.cancel(id)).toEqual({ ok: true, value: { jobs: 3 } });
    expect(descendants()).toEqual(['KILLED', 'KILLED']);
    expect(world.job('/ann/p/c/g').cause).toEqual({
      code: 'PARENT_ENDED',
      message: 'Its parent /ann/p was stopped by ann.',
    });
  });

  test('cancel overwrites WORKER_FAILED and no other terminal state', () => {
    const id = fresh().submit({ name: 'p', preemptionPolicy: 'PRESERVE_CHILDREN' });
    const lost = world.submit({ name: 'lost', parent: id, maxRetriesPreemption: 0 });
    const failed = world.submit({ name: 'failed', parent: id });
    world.observe(world.run(`${lost}/0`), 'WORKER_FAILED');
    world.observe(world.run(`${failed}/0`), 'FAILED', { exitCode: 1 });
    world.cancel(id);
    expect(world.job(lost).state).toBe('KILLED');
    expect(world.job(failed).state).toBe('FAILED');
  });

  test('cancel of a WORKER_FAILED root keeps when it ended and is not notified again', () => {
    const id = fresh().submit({ name: 'p', maxRetriesPreemption: 0 });
    world.observe(world.run(`${id}/0`), 'WORKER_FAILED');
    const { finishedAtMs } = world.job(id);
    world.nowMs += 1000;
    world.cancel(id);
    expect(world.job(id)).toMatchObject({ state: 'KILLED', finishedAtMs });
    expect(world.inbox()).toEqual(['/ann/p WORKER_FAILED']);
    expect(world.actions().filter((action) => action === 'job_completed').length).toBe(1);
  });

  test('a cascade by policy leaves a WORKER_FAILED child as it ended', () => {
    const id = fresh().submit({ name: 'p' });
    const lost = world.submit({ name: 'lost', parent: id, maxRetriesPreemption: 0 });
    world.observe(world.run(`${lost}/0`), 'WORKER_FAILED');
    world.observe(world.run(`${id}/0`), 'SUCCEEDED');
    expect(world.job(lost).state).toBe('WORKER_FAILED');
  });

  test('cancel of a tree that is over is refused with its state; of an unknown job with its id', () => {
    const id = fresh().submit({ name: 'p' });
    world.cancel(id);
    const again = world.cancel(id);
    expect(again).toMatchObject({ ok: false, refusal: { code: 'FAILED_PRECONDITION' } });
    if (!again.ok) expect(again.refusal.message).toContain('(it was stopped)');
    expect(world.cancel('/ann/nope')).toMatchObject({ ok: false, refusal: { code: 'NOT_FOUND' } });
  });

  test('declared complete: unfinished tasks and attempts SUCCEEDED with 0, descendants end', () => {
    const id = family('PRESERVE_CHILDREN', 2);
    const uid = world.run(`${id}/0`);
    world.step((draft) => complete(draft, id, { actor: 'ann', nowMs: world.nowMs }));
    expect(world.job(id)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 });
    expect(world.taskStates(id)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(world.attempt(uid)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0, finishedAtMs: null });
    expect(descendants()).toEqual(['KILLED', 'KILLED']);
  });

  test('a chain of cascades settles in one batch', () => {
    const id = family('TERMINATE_CHILDREN');
    const uid = world.run(`${id}/0`);
    const deep = world.run('/ann/p/c/g/0');
    world.step((draft) => preempt(draft, uid, { reason: 'r', actor: 'controller', nowMs: world.nowMs }));
    expect(world.attempt(deep)).toMatchObject({ state: 'KILLED', finishedAtMs: null });
  });
});

describe('bounds', () => {
  test('replicas outside 1 to 10,000: the job is there, FAILED, with no task and the number in its cause', () => {
    const spec: JobSpec = { ...specOf(), replicas: 10_001 };
    const id = fresh().submit({}, { spec });
    expect(world.job(id)).toMatchObject({
      state: 'FAILED',
      numTasks: 0,
      cause: { code: 'TOO_MANY_REPLICAS' },
    });
    expect(world.job(id).cause?.message).toContain('10001');
    expect(world.state.tasksOf(id)).toEqual([]);
    expect(world.inbox()).toEqual([`${id} FAILED`]);
  });

  test('16,000 unfinished tasks an identity, refused before anything is written', () => {
    fresh().submit({ name: 'a', replicas: 10_000 });
    expect(world.trySubmit({ name: 'b', replicas: 6_000 }).ok).toBe(true);
    const result = world.trySubmit({ name: 'c' });
    expect(result).toMatchObject({ ok: false, refusal: { code: 'RESOURCE_EXHAUSTED' } });
    if (!result.ok) expect(result.refusal.message).toContain('16000');
    expect(world.changes.at(-1)).toMatchObject({ jobs: [], tasks: [], meta: {}, audit: [] });
    expect(world.trySubmit({ name: 'c' }, { user: 'bob', submittedBy: 'bob' }).ok).toBe(true);
    world.cancel('/ann/b');
    expect(world.trySubmit({ name: 'c' }).ok).toBe(true);
  });

  test('16,000 also over the submissions of one batch', () => {
    fresh();
    const codes = world.step((draft) =>
      ['a', 'b', 'c'].map((name) => {
        const spec = specOf({ name, replicas: 6_000 });
        const result = submit(draft, {
          spec,
          user: 'ann',
          submittedBy: 'ann',
          nowMs: 1,
          suffix: 'x',
          retryOf: null,
        });
        return result.ok ? 'OK' : result.refusal.code;
      }),
    );
    expect(codes).toEqual(['OK', 'OK', 'RESOURCE_EXHAUSTED']);
  });

  test('a draft thrown away leaves no trace', () => {
    const id = fresh().submit({ name: 'a', replicas: 2 });
    const before = JSON.stringify([
      world.state.job(id),
      world.state.tasksOf(id),
      world.state.meta('next_insertion'),
    ]);
    const draft = new Draft(world.state);
    submit(draft, {
      spec: specOf({ name: 'b' }),
      user: 'ann',
      submittedBy: 'ann',
      nowMs: 1,
      suffix: 'x',
      retryOf: null,
    });
    settle(draft, 1);
    expect(draft.changeSet().jobs.length).toBe(1);
    expect(
      JSON.stringify([world.state.job(id), world.state.tasksOf(id), world.state.meta('next_insertion')]),
    ).toBe(before);
    expect(world.state.job('/ann/b')).toBeUndefined();
  });

  test('a draft that was not settled gives nothing to commit', () => {
    const draft = new Draft(fresh().state);
    submit(draft, { spec: specOf(), user: 'ann', submittedBy: 'ann', nowMs: 1, suffix: 'x', retryOf: null });
    expect(() => draft.changeSet()).toThrow('not settled');
  });
});
