import { expect, test } from 'vitest';
import { queueOrder } from './queue-order.js';
import { TestCluster, worker } from './test-cluster.js';

const ids = (cluster: TestCluster, band: 'PRODUCTION' | 'INTERACTIVE' | 'BATCH', limit = 10) =>
  queueOrder(cluster.cluster, band, limit).turns.map(({ job }) => job.id);

test('users in turn, whoever uses least first, each with its own jobs by age', () => {
  const cluster = new TestCluster([worker('w1')]);
  cluster.run('/ann/runs', 'w1', { cpu: 4 });
  for (const path of ['/ann/a1', '/ann/a2', '/bob/b1', '/bob/b2']) cluster.submit(path);
  expect(ids(cluster, 'INTERACTIVE')).toEqual(['/bob/b1', '/ann/a1', '/bob/b2', '/ann/a2']);
  expect(ids(cluster, 'INTERACTIVE', 2)).toEqual(['/bob/b1', '/ann/a1']);
  expect(queueOrder(cluster.cluster, 'INTERACTIVE', 2).total).toBe(4);
});

test('a job of several tasks takes a turn for each, and is listed at its first', () => {
  const cluster = new TestCluster([worker('w1')]);
  cluster.submit('/ann/many', { tasks: 3 });
  cluster.submit('/ann/next');
  cluster.submit('/bob/b1');
  cluster.submit('/bob/b2');
  expect(ids(cluster, 'INTERACTIVE')).toEqual(['/ann/many', '/bob/b1', '/bob/b2', '/ann/next']);
});

test('what has a place promised stands first in the band it was decided in', () => {
  const cluster = new TestCluster([worker('w1')]);
  cluster.run('/bob/batch', 'w1', { cpu: 4, band: 'BATCH' });
  cluster.submit('/ann/hot', { band: 'PRODUCTION', cpu: 4 });
  cluster.round();
  cluster.submit('/cid/cool', { band: 'PRODUCTION', cpu: 4 });
  expect(ids(cluster, 'PRODUCTION')).toEqual(['/ann/hot', '/cid/cool']);
  expect(queueOrder(cluster.cluster, 'PRODUCTION', 10).total).toBe(2);
});
