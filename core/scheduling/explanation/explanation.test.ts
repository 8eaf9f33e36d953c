import { expect, test } from 'vitest';
import type { ExpectedStart } from '../../contract/explanation.js';
import { TestCluster, worker } from '../test-cluster.js';
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
