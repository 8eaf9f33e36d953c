/** Who is tried before a waiting job. */
import { describe, expect, test } from 'vitest';
import { minute, TestCluster, worker } from '../test-cluster.js';
import { explainJob } from './explanation.js';

function positionOf(world: TestCluster, jobId: string) {
  const { cluster, rules, nowMs } = world;
  const context = { cluster, decision: world.decide(), rules, nowMs };
  return explainJob(context, jobId)?.reasons.find(({ kind }) => kind === 'position');
}

describe('tasks ahead', () => {
  test('who is ahead, by user, in the order users take turns', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/eve/full', 'w1', { cpu: 4, band: 'SYSTEM' });
    world.submit('/bob/a', { tasks: 5 });
    world.submit('/cid/first', { band: 'PRODUCTION', tasks: 2 });
    world.submit('/ann/a');
    world.submit('/ann/b');
    // bob came first: his first and second tasks go before the second turn of ann.
    expect(positionOf(world, '/ann/b')).toEqual({
      kind: 'position',
      band: 'INTERACTIVE',
      ahead: 5,
      users: [
        { user: 'bob', tasks: 2 },
        { user: 'cid', tasks: 2 },
        { user: 'ann', tasks: 1 },
      ],
    });
    expect(positionOf(world, '/cid/first')).toBeUndefined();
  });

  test('a gang that has waited long is ahead of all turns', () => {
    const world = new TestCluster([worker('w1', { attributes: { rack: 'a' } })]);
    world.run('/eve/full', 'w1', { cpu: 4, band: 'SYSTEM' });
    world.submit('/ann/a', { tasks: 3 });
    world.submit('/bob/gang', { tasks: 4, gangBy: 'rack' });
    expect(positionOf(world, '/ann/a')).toBeUndefined();
    expect(positionOf(world, '/bob/gang')).toMatchObject({ ahead: 1, users: [{ user: 'ann', tasks: 1 }] });
    world.nowMs += 16 * minute;
    expect(positionOf(world, '/ann/a')).toMatchObject({ ahead: 4, users: [{ user: 'bob', tasks: 4 }] });
    expect(positionOf(world, '/bob/gang')).toBeUndefined();
  });

  test('who is held is not ahead', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/eve/full', 'w1', { cpu: 4, band: 'SYSTEM' });
    world.submit('/bob/held', { tasks: 3, held: true, band: 'PRODUCTION' });
    world.submit('/bob/a', { tasks: 2, band: 'PRODUCTION' });
    world.submit('/ann/a');
    expect(positionOf(world, '/ann/a')).toMatchObject({ ahead: 2, users: [{ user: 'bob', tasks: 2 }] });
  });
});
