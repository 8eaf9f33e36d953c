import { expect, test } from 'vitest';
import type { ExpectedStart } from '../../contract/explanation.js';
import { gib, TestCluster, worker } from '../test-cluster.js';
import { explainJob } from './explanation.js';

test('when a held job starts is not foretold: its user releases it', () => {
  const world = new TestCluster([worker('w1')]);
  world.submit('/ann/a', { held: true });
  world.submit('/ann/b', { cpu: 3 });
  world.submit('/ann/c', { cpu: 3 });
  const context = {
    cluster: world.cluster,
    decision: world.decide(),
    rules: world.rules,
    nowMs: world.nowMs,
  };
  const expected: ExpectedStart = {
    kind: 'now',
    startMs: 1,
    madeAtMs: 1,
    text: 'Starts now.',
    assumptions: [],
  };
  expect(explainJob(context, '/ann/a', { expected })?.expected).toBeNull();
  expect(explainJob(context, '/ann/c', { expected })?.expected).toEqual(expected);
});

test('what jobs of other controllers have of a machine is said beside what is free of it', () => {
  const others = { cpuMillicores: 1500, memoryBytes: gib };
  const world = new TestCluster([worker('w1', { cpuMillicores: 2000, memoryBytes: 2 * gib, others })]);
  world.submit('/ann/a', { cpu: 1, memoryBytes: 2 * gib });
  const decision = world.decide();
  const context = { cluster: world.cluster, decision, rules: world.rules, nowMs: world.nowMs };
  expect(explainJob(context, '/ann/a')).toMatchObject({
    message:
      'Waits for 1 CPU core (0.5 of 2 free, 1.5 with jobs of other controllers), 2 GiB of memory (1 GiB of 2 GiB free, 1 GiB with jobs of other controllers).',
    short: 'Needs 1 core and memory, best machine has 0.5',
  });
});
