/** What went wrong in the field (iris-behaviour section 10, points 1 to 8 and 10), each as a small cluster; under both rule sets. */
import { describe, expect, test } from 'vitest';
import { scaledDefaultLimit } from '../../budget/default-limit.js';
import { resourceValue } from '../../budget/value.js';
import { cards, evictedBy, gib, minute, placesOf, TestCluster, worker } from '../test-cluster.js';

const uuids = (count: number) => cards(count).map(({ uuid }) => uuid);
const host = (id: string) =>
  worker(id, { cpuMillicores: 64_000, memoryBytes: 512 * gib, gpus: cards(8), attributes: { slice: 's' } });

describe.each(['original', 'ours'] as const)('rules %s', (policy) => {
  test('1: a gang of a worse band gives way as a whole (5237)', () => {
    const world = new TestCluster(['h1', 'h2'].map(host), policy);
    for (const [at, id] of ['h1', 'h2'].entries()) {
      const devices = uuids(8);
      world.run('/bob/g', id, { uid: `g${at}`, taskId: `/bob/g/${at}`, gang: true, band: 'BATCH', devices });
    }
    world.submit('/ann/g', {
      tasks: 2,
      gangBy: 'slice',
      gpuCount: 8,
      gpuVariant: 'h100',
      band: 'PRODUCTION',
    });
    const decision = world.round();
    expect(evictedBy(decision)).toEqual(['g0', 'g1']);
    world.allGone();
    expect(placesOf(world.round())).toEqual(['/ann/g/0 h1', '/ann/g/1 h2']);
  });

  test('2: a 256-host gang blocked by one CPU task on one host (6672)', () => {
    const ids = Array.from({ length: 256 }, (_, at) => `h${String(at).padStart(3, '0')}`);
    const world = new TestCluster(
      ids.map((id) =>
        worker(id, { cpuMillicores: 8000, memoryBytes: 392.5 * gib, attributes: { slice: 's' } }),
      ),
      policy,
    );
    world.run('/bob/cpu', 'h100', { memoryBytes: 340 * gib, band: 'BATCH' });
    world.submit('/ann/g', {
      tasks: 256,
      gangBy: 'slice',
      memoryBytes: 128 * gib,
      cpu: 5,
      band: 'PRODUCTION',
    });
    const decision = world.round();
    expect(evictedBy(decision)).toEqual(['/bob/cpu/0']);
    expect(new Set(decision.placed.map(({ workerId }) => workerId)).size).toBe(256);
    world.allGone();
    world.round();
    expect(world.cluster.holdings.held.size).toBe(256);
  });

  test('3: two users at their limits do not evict each other (5586)', () => {
    const world = new TestCluster([worker('w1', { cpuMillicores: 1000 })], policy);
    world.cluster.setBudgets([], 5);
    let evictions = 0;
    for (const user of ['ann', 'bob']) world.submit(`/${user}/a`, { tasks: 40 });
    for (let second = 0; second < 90; second += 1) {
      evictions += world.round().evictions.length;
      world.allGone();
      world.nowMs += 1000;
    }
    expect(evictions).toBeLessThanOrEqual(1);
  });

  test('4: BATCH work is no spend (5708)', () => {
    const world = new TestCluster([host('h1')], policy);
    world.cluster.setBudgets([], 1000);
    world.run('/ann/sweep', 'h1', { band: 'BATCH', devices: uuids(6) });
    world.submit('/ann/now', { gpuCount: 1 });
    expect(world.decide().placed[0]?.band).toBe('INTERACTIVE');
  });

  // A cluster that places by itself is one large machine here: it is fed by the same order as machines we place on.
  test.each([
    ['four machines', ['w1', 'w2', 'w3', 'w4'], 1, ['/eve/p/0', '/bob/i/0', '/bob/b/0', '/ann/i/0']],
    ['one cluster', ['all'], 4, ['/eve/p/0', '/bob/i/0', '/bob/b/0', '/ann/i/0']],
    ['two machines', ['w1', 'w2'], 1, ['/eve/p/0', '/bob/i/0']],
    ['one cluster with room for two', ['all'], 2, ['/eve/p/0', '/bob/i/0']],
  ] as const)(
    '6: bands, budgets and turns order the work of every backend (7726): %s',
    (_, ids, cpus, order) => {
      const world = new TestCluster(
        ids.map((id) => worker(id, { cpuMillicores: 1000 * cpus })),
        policy,
      );
      world.cluster.setBudgets([], 100);
      // Beyond her limit: what she asks for as INTERACTIVE is BATCH.
      world.run('/ann/spends', 'elsewhere', { cpu: 0, memoryBytes: 200 * gib });
      world.submit('/ann/i');
      world.submit('/bob/b', { band: 'BATCH' });
      world.submit('/bob/i');
      world.submit('/eve/p', { band: 'PRODUCTION' });
      const { placed } = world.decide();
      expect(placed.map(({ taskId }) => taskId)).toEqual(order);
      const ann = placed.find(({ taskId }) => taskId === '/ann/i/0');
      expect(ann?.band ?? 'BATCH').toBe('BATCH');
    },
  );

  test('8: two gangs never land on the same hosts (5470)', () => {
    const world = new TestCluster(['h1', 'h2', 'h3'].map(host), policy);
    for (const name of ['a', 'b']) world.submit(`/ann/${name}`, { tasks: 2, gangBy: 'slice', gpuCount: 8 });
    const decision = world.round();
    expect(placesOf(decision)).toEqual(['/ann/a/0 h1', '/ann/a/1 h2']);
    expect(world.violations()).toEqual([]);
    expect(world.round().placed).toEqual([]);
  });

  test('9: a host is not given away while its device is busy (5258)', () => {
    const busy = { ...host('h1'), gpus: cards(8, () => ({ busyByOthers: true })) };
    const world = new TestCluster([busy], policy);
    world.submit('/ann/a', { gpuCount: 1 });
    expect(world.decide().placed).toEqual([]);
  });

  test('10: what siblings held is free when they are gone (PR 2786)', () => {
    const world = new TestCluster(['h1', 'h2'].map(host), policy);
    world.submit('/ann/a', { tasks: 2, gangBy: 'slice', gpuCount: 8 });
    world.round();
    world.submit('/bob/a', { tasks: 2, gangBy: 'slice', gpuCount: 8 });
    for (const { attempt } of [...world.cluster.holdings.held.values()])
      world.cluster.putAttempt({ ...attempt, state: 'ENDING' });
    expect(world.round().placed.filter(({ waitsFor }) => waitsFor.length === 0)).toEqual([]);
    world.allGone();
    expect(placesOf(world.round())).toEqual(['/bob/a/0 h1', '/bob/a/1 h2']);
  });
});

test('5: one task on one whole machine demotes nobody, with a limit scaled to the cluster (7774)', () => {
  const machine = { cpuMillicores: 128_000, memoryBytes: 1300 * gib, gpuCount: 8 };
  expect(resourceValue(machine)).toBe(9940);
  expect(scaledDefaultLimit([machine, machine])).toBe(10_000);
  const world = new TestCluster([host('h1'), host('h2')]);
  world.cluster.setBudgets([], scaledDefaultLimit([machine, machine]));
  world.run('/ann/a', 'h1', { devices: uuids(8) });
  world.submit('/ann/b');
  expect(world.decide().placed[0]?.band).toBe('INTERACTIVE');
});

test('7: who was preempted often is spared (5942)', () => {
  const world = new TestCluster([worker('w1'), worker('w2')]);
  for (const [at, id] of ['w1', 'w2'].entries())
    world.run(`/bob/${at}`, id, {
      cpu: 4,
      band: 'BATCH',
      preemptions: at === 0 ? 3 : 0,
      startedAtMs: world.nowMs - (at + 1) * minute,
    });
  world.submit('/ann/a', { band: 'PRODUCTION' });
  expect(evictedBy(world.decide())).toEqual(['/bob/1/0']);
});
