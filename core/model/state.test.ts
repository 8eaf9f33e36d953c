import { describe, expect, test } from 'vitest';
import { Draft, ModelState } from './draft.js';
import { World } from './test-world.js';

describe('leaving memory', () => {
  test('a tree that is over goes as a whole', () => {
    const world = new World();
    const root = world.submit({ name: 'a', replicas: 2 });
    const child = world.submit({ name: 'b', parent: root });
    const uid = world.run(`${child}/0`);
    world.observe(uid, 'SUCCEEDED');
    world.cancel(root);
    expect(world.state.evictTree(root)).toBe(true);
    expect([...world.state.jobIds()]).toEqual([]);
    expect(world.state.task(`${root}/1`)).toBeUndefined();
    expect(world.state.attempt(uid)).toBeUndefined();
    expect(world.state.attemptsOf(`${child}/0`)).toEqual([]);
    expect(world.state.openTasks('ann')).toBe(0);
    expect(world.state.findJob(child)?.state).toBe('SUCCEEDED');
    expect(world.observe(uid, 'MISSING')).toBe('unknown');
  });

  test('not while one of its jobs is not over', () => {
    const world = new World();
    const root = world.submit({ name: 'a', preemptionPolicy: 'PRESERVE_CHILDREN' });
    world.submit({ name: 'b', parent: root });
    world.observe(world.run(`${root}/0`), 'FAILED', { exitCode: 1 });
    expect(world.state.evictTree(root)).toBe(false);
    expect(world.state.job(root)?.state).toBe('FAILED');
  });

  test('not while an attempt may live', () => {
    const world = new World();
    const root = world.submit({ name: 'a' });
    const uid = world.run(`${root}/0`);
    world.cancel(root);
    expect(world.state.evictTree(root)).toBe(false);
    world.observe(uid, 'KILLED');
    expect(world.state.evictTree(root)).toBe(true);
  });

  test('never a part of a tree, never what is not there', () => {
    const world = new World();
    const root = world.submit({ name: 'a' });
    const child = world.submit({ name: 'b', parent: root });
    world.cancel(child);
    expect(world.state.evictTree(child)).toBe(false);
    expect(world.state.childrenOf(root).map((job) => job.id)).toEqual([child]);
    expect(world.state.evictTree('/ann/nope')).toBe(false);
  });

  test('a job that left memory cannot be stopped any more, however it ended', () => {
    const world = new World();
    const root = world.submit({ name: 'a', maxRetriesPreemption: 0 });
    world.observe(world.run(`${root}/0`), 'WORKER_FAILED');
    world.state.evictTree(root);
    expect(world.cancel(root)).toMatchObject({ ok: false, refusal: { code: 'FAILED_PRECONDITION' } });
    expect(world.state.job(root)).toBeUndefined();
  });
});

describe('answers to repeated requests', () => {
  test('are found in the draft, after the commit, and in the store when memory forgot them', () => {
    const state = new ModelState({
      job: () => undefined,
      latestNamed: () => undefined,
      receipt: (requestId) => (requestId === 'old' ? { jobId: '/ann/old' } : undefined),
    });
    const draft = new Draft(state);
    expect(draft.receipt('new')).toBeUndefined();
    draft.putReceipt('new', 1, { jobId: '/ann/new' });
    expect(draft.receipt('new')).toEqual({ jobId: '/ann/new' });
    expect(state.receipt('new')).toBeUndefined();
    state.apply(draft.changeSet());
    expect(state.receipt('new')).toEqual({ jobId: '/ann/new' });
    expect(new Draft(state).receipt('old')).toEqual({ jobId: '/ann/old' });
  });

  test('memory keeps the newest ones only', () => {
    const state = new ModelState();
    for (let at = 0; at < 5000; at += 1) {
      const draft = new Draft(state);
      draft.putReceipt(`r${at}`, at, at);
      state.apply(draft.changeSet());
    }
    expect(state.receipt('r0')).toBeUndefined();
    expect(state.receipt('r4999')).toBe(4999);
  });
});

test('rows may come in any order, as from a database', () => {
  const world = new World();
  const root = world.submit({
    name: 'a',
    replicas: 3,
    maxRetries: 2,
    timeout: '9s',
    schedulingTimeout: '99s',
  });
  world.submit({ name: 'b', parent: root });
  world.observe(world.run(`${root}/1`), 'FAILED', { exitCode: 1 });
  world.run(`${root}/1`);
  const state = new ModelState();
  state.apply({
    jobs: [...world.jobs.values()].reverse(),
    tasks: [...world.tasks.values()].reverse(),
    attempts: [...world.attempts.values()].reverse(),
    budgets: [],
    uses: [],
    machines: [],
    audit: [],
    inbox: [],
    receipts: [],
    meta: { next_insertion: 4 },
  });
  expect(state.tasksOf(root)).toEqual(world.state.tasksOf(root));
  expect(state.attemptsOf(`${root}/1`)).toEqual(world.state.attemptsOf(`${root}/1`));
  expect(state.childrenOf(root)).toEqual(world.state.childrenOf(root));
  expect(state.nextDeadlineMs()).toBe(world.state.nextDeadlineMs());
  expect(state.used('w1')).toEqual(world.state.used('w1'));
  expect(state.meta('next_insertion')).toBe(4);
});
