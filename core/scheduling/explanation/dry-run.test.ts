/** What would become of a job before it is submitted. */
import { describe, expect, test } from 'vitest';
import { dryRunSchema } from '../../contract/explanation.js';
import type { QueuedJob } from '../inputs.js';
import { cards, gib, minute, TestCluster, worker } from '../test-cluster.js';
import { dryRun } from './dry-run.js';

type Asked = Parameters<TestCluster['submit']>[1] & { readonly id?: string };

/** The request as a form would have it. */
function request(world: TestCluster, asked: Asked = {}): { job: QueuedJob; tasks: number } {
  const { id = '/ann/new', tasks = 1, ...rest } = asked;
  const scratch = new TestCluster([]);
  scratch.nowMs = world.nowMs;
  scratch.submit(id, { rootSubmittedAtMs: 1e12, submittedAtMs: 1e12, ...rest });
  const job = scratch.cluster.queue.jobs.get(id)?.job;
  if (job === undefined) throw new Error('no job');
  return { job, tasks };
}

function tried(world: TestCluster, asked: Asked = {}) {
  const { job, tasks } = request(world, asked);
  const result = dryRun(world.scheduler, job, tasks, world.nowMs, world.rules);
  expect(dryRunSchema.parse(result)).toEqual(result);
  return result;
}

describe('a dry run', () => {
  test('starts now: where, and on which cards', () => {
    const world = new TestCluster([worker('w1', { gpus: cards(2) })]);
    expect(tried(world, { gpuCount: 1 })).toEqual({
      verdict: 'STARTS_NOW',
      message: 'Starts now on w1.',
      places: [{ index: 0, workerId: 'w1', devices: ['GPU-0'], provisional: false }],
      evicts: [],
      waiting: 0,
      explanation: null,
      demoted: null,
      passesLimit: null,
    });
  });

  test('starts after evictions: whose', () => {
    const world = new TestCluster([worker('w1')]);
    const uid = world.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH' });
    expect(tried(world, { cpu: 2, band: 'PRODUCTION' })).toMatchObject({
      verdict: 'STARTS_AFTER_EVICTIONS',
      message: 'Starts on w1 after it has evicted 1 task of /bob/a.',
      places: [{ index: 0, workerId: 'w1', provisional: true }],
      evicts: [{ uid, taskId: '/bob/a/0', jobId: '/bob/a', workerId: 'w1', band: 'BATCH' }],
    });
  });

  test('one INTERACTIVE task tells whom it would evict, and for how long it waits for another place first', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH' });
    expect(tried(world, { cpu: 2, band: 'INTERACTIVE' })).toMatchObject({
      verdict: 'STARTS_AFTER_EVICTIONS',
      message:
        'Starts on w1 after it has evicted 1 task of /bob/a, unless something ends by itself within 2m 00s.',
    });
  });

  test('waits, and why', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { cpu: 3 });
    const result = tried(world, { cpu: 2 });
    expect(result).toMatchObject({
      verdict: 'WAITS',
      message: 'Waits for 2 CPU cores (1 of 4 free).',
      waiting: 1,
    });
    expect(result.explanation?.remedies).toMatchObject([{ kind: 'fewer-cpus', cpuMillicores: 1000 }]);
  });

  test('some start, the rest waits', () => {
    const world = new TestCluster([worker('w1')]);
    expect(tried(world, { cpu: 2, tasks: 5 })).toMatchObject({
      verdict: 'WAITS',
      message: 'Starts now on w1 with 2 tasks; 3 more: Waits for 2 CPU cores (0 of 4 free).',
      waiting: 3,
    });
  });

  test('never, and why', () => {
    const world = new TestCluster([worker('w1', { gpus: cards(2) })]);
    expect(tried(world, { gpuCount: 8, gpuVariant: 'h100' })).toMatchObject({
      verdict: 'NEVER',
      message: 'Asked for 8 h100 GPUs; what there is: 2 h100.',
    });
    const finishByMs = world.nowMs + 30 * minute;
    expect(tried(world, { limitMs: 60 * minute, finishByMs })).toMatchObject({
      verdict: 'NEVER',
      message:
        'It cannot end by 1970-01-12 14:16:40 UTC: ' +
        '1970-01-12 13:46:40 UTC and its limit of 1h 00m make 1970-01-12 14:46:40 UTC.',
      waiting: 0,
    });
  });

  test('would be demoted, with the numbers', () => {
    const world = new TestCluster([worker('w1', { cpuMillicores: 8000 })]);
    world.cluster.setBudgets([], 10);
    world.run('/ann/running', 'w1', { cpu: 4 });
    expect(tried(world).demoted).toEqual({
      asked: 'INTERACTIVE',
      effective: 'BATCH',
      spend: 21,
      limit: 10,
      text: 'Would compete as BATCH, not INTERACTIVE: ann uses 21, more than the limit of 10.',
    });
    expect(tried(world, { band: 'PRODUCTION' }).demoted).toBeNull();
  });

  test('would pass the limit: told before it does', () => {
    const world = new TestCluster([worker('w1', { cpuMillicores: 8000 })]);
    world.cluster.setBudgets([], 30);
    world.run('/ann/running', 'w1', { cpu: 4 });
    expect(tried(world, { cpu: 2 }).passesLimit).toEqual({
      spend: 21,
      adds: 11,
      limit: 30,
      text:
        'Passes the limit of ann: 21 in use and 11 more make 32 of 30. ' +
        'What is placed after that competes as BATCH.',
    });
    expect(tried(world, { cpu: 1, memoryBytes: gib }).passesLimit).toBeNull();
    expect(tried(world, { cpu: 2, band: 'BATCH' }).passesLimit).toBeNull();
  });

  test('a number that no machine has may be a model: it adds one card', () => {
    const world = new TestCluster([worker('w1')]);
    world.cluster.setBudgets([], 1000);
    expect(tried(world, { cpu: 1, gpuCount: 4090 }).passesLimit).toMatchObject({ adds: 1006 });
  });

  test('nothing of it stays, and the last decision stands', () => {
    const world = new TestCluster([worker('w1')]);
    world.submit('/bob/a', { cpu: 3 });
    const before = world.decide();
    const { version } = world.cluster;
    tried(world, { cpu: 4, band: 'SYSTEM', tasks: 3 });
    expect(world.cluster.version).toBe(version);
    expect([...world.cluster.queue.jobs.keys()]).toEqual(['/bob/a']);
    expect(world.decide()).toBe(before);
    const held = request(world, { id: '/bob/a' });
    expect(() => dryRun(world.scheduler, held.job, 1, world.nowMs, world.rules)).toThrow(
      '/bob/a waits already: a trial needs another id.',
    );
    expect(world.cluster.queue.jobs.has('/bob/a')).toBe(true);
  });
});
