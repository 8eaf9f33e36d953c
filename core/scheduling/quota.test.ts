import { describe, expect, test } from 'vitest';
import { noQuota } from '../contract/budgets.js';
import { reasonOf } from './explanation/reasons.js';
import { card, evictedBy, placesOf, TestCluster, waitsOf, worker } from './test-cluster.js';
import { rowsOf } from './test-rows.js';

describe('a place that is promised', () => {
  /** Four batch tasks fill the machine; ann may have one task. */
  function promising() {
    const world = new TestCluster([worker('w1')]);
    for (const name of ['a', 'b', 'c', 'd']) world.run(`/bob/${name}`, 'w1', { band: 'BATCH' });
    const quota = { tasks: 1, cpuMillicores: null, memoryBytes: null, gpuCount: null };
    world.cluster.setBudgets([{ user: 'ann', limit: 0, quota, cumulative: null }], 0);
    world.submit('/ann/a', { tasks: 4, band: 'PRODUCTION' });
    expect(evictedBy(world.round())).toEqual(['/bob/a/0']);
    return world;
  }

  test('counts for the quota as long as it waits, so that nobody else is told to leave', () => {
    const world = promising();
    const next = world.round();
    expect(evictedBy(next)).toEqual([]);
    expect(waitsOf(next)).toEqual(['/ann/a quota']);
    world.gone('/bob/a/0');
    expect(placesOf(world.round())).toEqual(['/ann/a/0 w1']);
    expect(waitsOf(world.round())).toEqual(['/ann/a quota']);
  });

  test('is in the numbers of the reason', () => {
    const world = promising();
    const decision = world.round();
    const entry = world.cluster.queue.jobs.get('/ann/a');
    if (entry === undefined) throw new Error('it does not wait');
    const context = { cluster: world.cluster, decision, rules: world.rules, nowMs: world.nowMs };
    expect(reasonOf(context, entry, 'quota')).toEqual({
      kind: 'quota',
      user: 'ann',
      parts: [{ resource: 'tasks', used: 1, asked: 1, quota: 1 }],
    });
    expect(reasonOf(context, entry, 'job-cap')).toMatchObject({ kind: 'job-cap', active: 1 });
  });
});

test('a number that is a model is one card for the quota, though it was submitted while no machine had one', () => {
  const rows = rowsOf();
  rows.setBudget('ann', { quota: { ...noQuota, gpus: 1 } });
  rows.submit({ name: 'a', gpu: '4090' });
  rows.submit({ name: 'b', gpu: '4090' });
  rows.round([worker('w1')]);
  expect(rows.causes.of('/ann/a/0')?.code).toBe('WAITS_NO_WORKER_FITS');
  const machine = worker('w1', { gpus: [0, 1].map((index) => card(index, { variant: 'rtx-4090' })) });
  rows.round([machine]);
  expect(rows.task('/ann/a/0').state).toBe('ASSIGNED');
  expect(rows.causes.of('/ann/b/0')).toEqual({
    code: 'WAITS_QUOTA',
    message: 'Waits: ann has as much in use as the quota allows (1 GPU used and 1 GPU asked for, of 1 GPU).',
  });
});
