/** Who waits long for several cards, and who may start beside what is kept for others. */
import { describe, expect, test } from 'vitest';
import type { Constraint } from '../contract/job-request.js';
import { positionReason } from './explanation/place-in-queue.js';
import { eldersOf } from './order.js';
import { cards, gib, minute, placesOf, TestCluster, worker } from './test-cluster.js';

const box = (more = {}) =>
  worker('w1', { cpuMillicores: 64_000, memoryBytes: 512 * gib, gpus: cards(8), ...more });

describe('two cards of eight', () => {
  /** Each minute the oldest of many small tasks ends, and the next takes its card. */
  function sweeping(): TestCluster {
    const world = new TestCluster([box()]);
    world.submit('/ann/sweep', { tasks: 400, gpuCount: 1 });
    world.round();
    return world;
  }

  function endOldest(world: TestCluster): void {
    world.nowMs += minute;
    const [oldest] = [...world.cluster.holdings.held.values()]
      .map(({ attempt }) => attempt)
      .sort((left, right) => (left.startedAtMs ?? 0) - (right.startedAtMs ?? 0));
    if (oldest !== undefined) world.gone(oldest.uid);
  }

  test('are kept for who has waited an hour, whatever small work of the band comes for each of them', () => {
    const world = sweeping();
    world.submit('/bob/two', { gpuCount: 2 });
    for (let minutes = 1; minutes < 60; minutes += 1) {
      endOldest(world);
      const decision = world.round();
      expect(placesOf(decision).some((place) => place.startsWith('/bob/two'))).toBe(false);
      expect(decision.reservations).toEqual([]);
    }
    endOldest(world);
    const kept = world.round();
    expect(kept.reservations).toMatchObject([{ jobId: '/bob/two', workerIds: ['w1'] }]);
    expect(placesOf(kept)).toEqual([]);
    endOldest(world);
    expect(placesOf(world.round())).toEqual(['/bob/two/0 w1']);
    expect(world.violations()).toEqual([]);
  });

  test('the pass says when that will be, also for one behind another that found no room', () => {
    const world = sweeping();
    world.submit('/bob/first', { gpuCount: 2 });
    world.submit('/bob/older', { gpuCount: 2, waitingSinceMs: world.nowMs - 20 * minute });
    expect(world.decide().wakeAtMs).toBe(world.nowMs + 2 * minute);
    world.nowMs += 10 * minute;
    expect(world.decide().wakeAtMs).toBe(world.nowMs + 30 * minute);
  });

  test('of each user the one that waits longest and may start is tried before the turns', () => {
    const world = sweeping();
    const waitingSinceMs = world.nowMs - 90 * minute;
    world.submit('/bob/held', { gpuCount: 2, held: true, waitingSinceMs: waitingSinceMs - minute });
    world.submit('/bob/two', { gpuCount: 2, waitingSinceMs });
    expect(world.round().reservations).toMatchObject([{ jobId: '/bob/two' }]);
    const context = { cluster: world.cluster, decision: null, rules: world.rules, nowMs: world.nowMs };
    const [sweep, two] = ['/ann/sweep', '/bob/two'].map((id) => world.cluster.queue.jobs.get(id));
    if (sweep === undefined || two === undefined) throw new Error('they do not wait');
    expect(positionReason(context, two)).toBeNull();
    expect(positionReason(context, sweep)).toMatchObject({ users: [{ user: 'bob', tasks: 1 }] });
  });

  test('leave others their share: a queue of them comes first only while its user holds no more cards than who else waits', () => {
    const world = sweeping();
    for (let at = 0; at < 200; at += 1) world.submit(`/bob/two-${at}`, { gpuCount: 2 });
    const cardsOf = (user: string) => world.cluster.queue.users.get(user)?.gpus;
    for (let minutes = 1; minutes < 90; minutes += 1) {
      endOldest(world);
      world.round();
    }
    for (let minutes = 90; minutes < 180; minutes += 1) {
      endOldest(world);
      world.round();
      expect(cardsOf('ann')).toBeGreaterThanOrEqual(3);
      expect(cardsOf('bob')).toBeGreaterThanOrEqual(2);
    }
    expect(world.violations()).toEqual([]);
  });

  test('are one a user, also where its jobs ask for different memory, and not one that may have no more of its tasks running', () => {
    const world = sweeping();
    const waitingSinceMs = world.nowMs - 90 * minute;
    world.submit('/bob/most', {
      gpuCount: 2,
      maxActive: 1,
      tasks: 2,
      waitingSinceMs: waitingSinceMs - 2 * minute,
    });
    world.run('/bob/most', 'w1', { cpu: 1 });
    for (const [at, name] of ['two', 'more', 'most-memory'].entries())
      world.submit(`/bob/${name}`, {
        gpuCount: 2,
        memoryBytes: (at + 1) * gib,
        waitingSinceMs: waitingSinceMs + at * minute,
      });
    const { byBand } = eldersOf(world.cluster, world.nowMs, world.rules);
    expect(byBand.flat().map(({ job }) => job.id)).toEqual(['/bob/two']);
  });

  test('come after half a machine and after gangs', () => {
    const world = sweeping();
    world.submit('/bob/two', { gpuCount: 2, waitingSinceMs: world.nowMs - 90 * minute });
    world.submit('/cid/four', { gpuCount: 4, waitingSinceMs: world.nowMs - 20 * minute });
    expect(world.round().reservations).toMatchObject([{ jobId: '/cid/four' }]);
  });

  test('one card and a share of two are not kept: they find room as soon as one ends', () => {
    const world = sweeping();
    const waitingSinceMs = world.nowMs - 600 * minute;
    world.submit('/bob/one', { gpuCount: 1, waitingSinceMs });
    world.submit('/bob/shared', { gpuCount: 2, sharedGpuBytes: gib, waitingSinceMs });
    expect(world.round().reservations).toEqual([]);
  });
});

describe.each([
  ['large tasks', { gpuCount: 4 }],
  ['gangs', { gpuCount: 2, tasks: 2, gangBy: 'rack' }],
] as const)('a queue of %s', (_, asked) => {
  /** All of it has waited long, and the first two of them run. */
  function queued(): TestCluster {
    const world = new TestCluster([box({ attributes: { rack: 'r' } })]);
    for (let at = 0; at < 300; at += 1)
      world.submit(`/ann/${at}`, { waitingSinceMs: world.nowMs - (900 - at) * minute, ...asked });
    world.round();
    expect(cardsOf(world, 'ann')).toBe(8);
    return world;
  }

  const cardsOf = (world: TestCluster, user: string) => world.cluster.queue.users.get(user)?.gpus ?? 0;

  /** Whatever runs longest, all of its gang. */
  function endOldest(world: TestCluster): void {
    const attempts = [...world.cluster.holdings.held.values()].map(({ attempt }) => attempt);
    attempts.sort((left, right) => (left.startedAtMs ?? 0) - (right.startedAtMs ?? 0));
    const [oldest] = attempts;
    if (oldest === undefined) throw new Error('nothing runs');
    const isOfIt = (jobId: string) => jobId === oldest.jobId && jobId.startsWith('/ann');
    for (const { uid, jobId } of attempts) if (uid === oldest.uid || isOfIt(jobId)) world.gone(uid);
  }

  test('leaves a card to somebody else who has waited as long as they must', () => {
    const world = queued();
    world.submit('/bob/one', { gpuCount: 1 });
    world.nowMs += 14 * minute;
    expect(placesOf(world.round())).toEqual([]);
    expect(world.decide().wakeAtMs).toBe(world.nowMs + minute);
    world.nowMs += minute;
    endOldest(world);
    expect(placesOf(world.round())).toContain('/bob/one/0 w1');
    expect(world.violations()).toEqual([]);
  });

  test('comes before somebody else who has only just come', () => {
    const world = queued();
    world.submit('/bob/one', { gpuCount: 1 });
    endOldest(world);
    world.round();
    expect(cardsOf(world, 'ann')).toBe(8);
    expect(cardsOf(world, 'bob')).toBe(0);
  });

  test('leaves the next place to somebody else who needs as much and holds no card', () => {
    const world = queued();
    for (const at of [1, 2])
      world.submit(`/bob/${at}`, { waitingSinceMs: world.nowMs - (21 - at) * minute, ...asked });
    world.nowMs += minute;
    endOldest(world);
    world.round();
    expect([cardsOf(world, 'ann'), cardsOf(world, 'bob')]).toEqual([4, 4]);
    expect(world.cluster.queue.jobs.get('/bob/1')?.indexes ?? []).toEqual([]);
    world.nowMs += minute;
    endOldest(world);
    world.round();
    expect([cardsOf(world, 'ann'), cardsOf(world, 'bob')]).toEqual([4, 4]);
    expect(world.violations()).toEqual([]);
  });

  test('is not kept back by who could have no more of its cards: one with a full quota, one that needs another machine', () => {
    const world = queued();
    const waitingSinceMs = world.nowMs - 60 * minute;
    const quota = { tasks: 0, cpuMillicores: null, memoryBytes: null, gpuCount: null };
    world.cluster.setBudgets([{ user: 'bob', limit: 0, quota, cumulative: null }], 0);
    world.submit('/bob/full', { gpuCount: 1, waitingSinceMs });
    const attributes = { rack: 'other', big: 'yes' };
    world.cluster.setWorkers([
      ...world.cluster.table.workers,
      box({ id: 'w2', attributes, cpuMillicores: 500, gpus: cards(4) }),
    ]);
    const constraints: Constraint[] = [{ key: 'big', op: 'EQ', values: ['yes'], mode: 'REQUIRED' }];
    world.submit('/cid/elsewhere', { cpu: 0.25, gpuCount: 1, constraints, waitingSinceMs });
    const { byBand } = eldersOf(world.cluster, world.nowMs, world.rules);
    expect(byBand.flat().length).toBe(298);
    world.submit('/cid/here', { gpuCount: 1, waitingSinceMs });
    expect(eldersOf(world.cluster, world.nowMs, world.rules).byBand.flat()).toEqual([]);
  });

  test('has its share beside a queue of single cards that has waited as long', () => {
    const world = queued();
    world.submit('/bob/sweep', { tasks: 400, gpuCount: 1, waitingSinceMs: world.nowMs - 20 * minute });
    const shares = { ann: 0, bob: 0 };
    for (let minutes = 0; minutes < 200; minutes += 1) {
      world.nowMs += minute;
      endOldest(world);
      world.round();
      shares.ann += cardsOf(world, 'ann') / 200;
      shares.bob += cardsOf(world, 'bob') / 200;
    }
    expect(shares.ann).toBeGreaterThan(3);
    expect(shares.bob).toBeGreaterThan(3);
    expect(world.violations()).toEqual([]);
  });
});

describe('who has no more than those that wait for cards reserves', () => {
  /** All cards are taken, some by ann and some by bob; ann waits for four, and bob for one. */
  function shared(ann: number, bob: number, asked: Parameters<TestCluster['submit']>[1] = {}): TestCluster {
    const world = new TestCluster([box({ attributes: { rack: 'r' } })]);
    const users = cards(8).map((_, at) => (at < ann ? 'ann' : at < ann + bob ? 'bob' : 'eve'));
    for (const [at, user] of users.entries()) world.run(`/${user}/${at}`, 'w1', { devices: [`GPU-${at}`] });
    world.submit('/ann/four', { gpuCount: 4, waitingSinceMs: world.nowMs - 40 * minute });
    world.submit('/bob/one', { gpuCount: 1, waitingSinceMs: world.nowMs - 20 * minute, ...asked });
    return world;
  }

  const reservedFor = (world: TestCluster) => world.decide().reservations.map(({ jobId }) => jobId);

  test('and one that holds more does not', () => {
    expect(reservedFor(shared(4, 4))).toEqual(['/ann/four']);
    expect(reservedFor(shared(5, 3))).toEqual([]);
  });

  test.each([
    ['is held', { held: true }],
    ['may have no more of its tasks running', { maxActive: 0 }],
    ['asks for more than any machine has', { gpuCount: 9 }],
  ])('where what else waits %s', (_, asked) => {
    expect(reservedFor(shared(5, 3, asked))).toEqual(['/ann/four']);
    const world = shared(4, 4);
    const waitingSinceMs = world.nowMs - 20 * minute;
    world.submit('/dan/two', { gpuCount: 2, tasks: 2, gangBy: 'rack', waitingSinceMs, ...asked });
    expect(reservedFor(world)).toEqual(['/ann/four']);
  });

  test('where what else waits may have no more by the quota of its user', () => {
    const world = shared(5, 3);
    const quota = { tasks: null, cpuMillicores: null, memoryBytes: null, gpuCount: 3 };
    world.cluster.setBudgets([{ user: 'bob', limit: 0, quota, cumulative: null }], 0);
    expect(reservedFor(world)).toEqual(['/ann/four']);
  });

  test('where what else waits asks for no card', () => {
    const world = shared(4, 4);
    world.submit('/dan/cpu', { cpu: 64, waitingSinceMs: world.nowMs - 20 * minute });
    expect(reservedFor(world)).toEqual(['/ann/four']);
  });

  test('and nobody wakes for the younger work of who is known to wait long', () => {
    const world = shared(5, 3);
    world.submit('/bob/one', { gpuCount: 1, waitingSinceMs: world.nowMs - 5 * minute });
    world.submit('/bob/older', {
      gpuCount: 1,
      memoryBytes: 2 * gib,
      waitingSinceMs: world.nowMs - 20 * minute,
    });
    const { byBand, nextMs } = eldersOf(world.cluster, world.nowMs, world.rules);
    expect([byBand.flat(), nextMs]).toEqual([[], Number.POSITIVE_INFINITY]);
  });
});

test.each([
  ['gangs', { tasks: 2, gangBy: 'rack' }],
  ['large tasks', { cpu: 64 }],
])('%s without cards are tried by how long they wait, whoever holds cards', (_, asked) => {
  const world = new TestCluster([box({ attributes: { rack: 'r' } })]);
  world.run('/ann/0', 'w1', { devices: ['GPU-0'] });
  world.submit('/ann/old', { ...asked, waitingSinceMs: world.nowMs - 600 * minute });
  world.submit('/bob/new', { ...asked, waitingSinceMs: world.nowMs - 20 * minute });
  const { byBand } = eldersOf(world.cluster, world.nowMs, world.rules);
  expect(byBand.flat().map(({ job }) => job.id)).toEqual(['/ann/old', '/bob/new']);
});

describe('beside what is kept for who waits for cards', () => {
  /** Endless work has all cards; ann waits for four of them. */
  function keeping(asked = {}): TestCluster {
    const world = new TestCluster([box()]);
    for (let at = 0; at < 8; at += 1) world.run(`/eve/${at}`, 'w1', { cpu: 4, devices: [`GPU-${at}`] });
    const waitingSinceMs = world.nowMs - 20 * minute;
    world.submit('/ann/four', { gpuCount: 4, cpu: 16, waitingSinceMs, ...asked });
    return world;
  }

  test.each([
    ['starts where processors and memory are enough for both', 16, {}, ['/cid/a/0 w1']],
    ['waits where it would take processors of the holder', 16.5, {}, []],
    ['waits where it would take memory of the holder', 1, { memoryBytes: 5 * gib }, []],
  ] as const)('endless work without cards %s', (_, cpu, more, places) => {
    const world = keeping({ memoryBytes: 500 * gib });
    world.submit('/cid/a', { cpu, ...more });
    const decision = world.decide();
    expect(decision.reservations).toMatchObject([{ jobId: '/ann/four', startMs: null }]);
    expect(placesOf(decision)).toEqual(places);
  });

  test('as many as leave the holder enough', () => {
    const world = keeping();
    world.submit('/cid/a', { cpu: 6, tasks: 9 });
    expect(placesOf(world.round())).toEqual(['/cid/a/0 w1', '/cid/a/1 w1']);
    expect(world.round().placed).toEqual([]);
  });

  test('no card, as long as the holder waits for some', () => {
    const world = keeping();
    for (const at of [0, 1, 2]) world.gone(`/eve/${at}/0`);
    world.submit('/cid/a', { gpuCount: 1 });
    expect(placesOf(world.decide())).toEqual([]);
  });
});
