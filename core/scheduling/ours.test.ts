/** Where our rules go beyond the original's: a table of cases for each. */
import { describe, expect, test } from 'vitest';
import { dependencyCycle } from './gates.js';
import { cards, evictedBy, gib, minute, placesOf, TestCluster, waitsOf, worker } from './test-cluster.js';

const gpuWorker = (id: string, count = 8, more = {}) =>
  worker(id, { cpuMillicores: 64_000, memoryBytes: 512 * gib, gpus: cards(count), ...more });

describe('reservation with backfill', () => {
  function waiting(minutes: number): TestCluster {
    const world = new TestCluster(['w1', 'w2'].map((id) => worker(id, { attributes: { rack: 'r' } })));
    world.run('/bob/a', 'w1', { cpu: 4, limitMs: 120 * minute, startedAtMs: world.nowMs - 60 * minute });
    world.submit('/ann/gang', {
      cpu: 4,
      tasks: 2,
      gangBy: 'rack',
      waitingSinceMs: world.nowMs - minutes * minute,
    });
    return world;
  }

  test('after 15 minutes, with a start from time limits', () => {
    const world = waiting(15);
    expect(world.decide().reservations).toEqual([
      {
        jobId: '/ann/gang',
        band: 'INTERACTIVE',
        workerIds: ['w1', 'w2'],
        startMs: world.nowMs + 60 * minute,
      },
    ]);
  });

  test('not before; the pass says when to look again', () => {
    const world = waiting(14);
    const decision = world.decide();
    expect(decision.reservations).toEqual([]);
    expect(decision.wakeAtMs).toBe(world.nowMs + minute);
  });

  test.each([
    ['ends at the start', 60, true],
    ['ends later', 61, false],
    ['endless', null, false],
  ] as const)('work that %s', (_, limit, placed) => {
    const world = waiting(20);
    world.submit('/cid/a', { limitMs: limit === null ? null : limit * minute });
    expect(placesOf(world.decide())).toEqual(placed ? ['/cid/a/0 w2'] : []);
  });

  test('work of a worse band, marked evictable by the holder, which evicts it at once', () => {
    const world = waiting(20);
    world.submit('/cid/a', { cpu: 4, band: 'BATCH' });
    expect(world.round().placed).toMatchObject([{ taskId: '/cid/a/0', evictableBy: '/ann/gang' }]);
    world.gone('/bob/a/0');
    expect(evictedBy(world.round())).toEqual(['/cid/a/0:2']);
  });

  test('a better band is not bound by it', () => {
    const world = waiting(20);
    world.submit('/cid/a', { band: 'PRODUCTION' });
    expect(placesOf(world.decide())).toEqual(['/cid/a/0 w2']);
  });

  test('something endless in the way: no start is known, and only work that leaves within the hour is let in', () => {
    const world = new TestCluster(['w1', 'w2'].map((id) => worker(id, { attributes: { rack: 'r' } })));
    world.run('/bob/a', 'w1', { cpu: 4 });
    world.submit('/ann/gang', { cpu: 4, tasks: 2, gangBy: 'rack', waitingSinceMs: 0 });
    world.submit('/cid/a', { limitMs: 60 * minute });
    world.submit('/cid/b', { limitMs: 61 * minute });
    world.submit('/cid/c');
    const decision = world.decide();
    expect(decision.reservations).toMatchObject([{ startMs: null }]);
    expect(placesOf(decision)).toEqual(['/cid/a/0 w2']);
  });

  test('a small solo task reserves nothing, a large one does', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { cpu: 4, limitMs: 60 * minute, startedAtMs: world.nowMs });
    world.submit('/ann/small', { cpu: 1, waitingSinceMs: 0 });
    expect(world.decide().reservations).toEqual([]);
    world.submit('/ann/large', { cpu: 2, waitingSinceMs: 0 });
    expect(world.decide().reservations).toMatchObject([{ jobId: '/ann/large', workerIds: ['w1'] }]);
  });
});

describe('who has waited 15 minutes for much comes before the turns of its band', () => {
  const racks = () => ['w1', 'w2'].map((id) => worker(id, { attributes: { rack: 'r' } }));
  /** Ann uses more than Bob: his turn is before hers. */
  function world(busy: boolean): TestCluster {
    const made = new TestCluster(racks());
    made.run('/ann/spends', 'elsewhere', { cpu: 40 });
    if (busy) for (const id of ['w1', 'w2']) made.run(`/eve/${id}`, id, { cpu: 4, limitMs: 600 * minute });
    return made;
  }
  const gang = { cpu: 4, tasks: 2, gangBy: 'rack' } as const;

  test.each([
    [14, ['/bob/small/0 w1']],
    [15, ['/ann/gang/0 w1', '/ann/gang/1 w2']],
  ] as const)('a gang that waited %d minutes and a small task: %j', (minutes, places) => {
    const made = world(false);
    made.submit('/ann/gang', { ...gang, waitingSinceMs: made.nowMs - minutes * minute });
    made.submit('/bob/small');
    expect(placesOf(made.decide())).toEqual(places);
  });

  test.each([
    ['the longer wait', 40, 30, { ...gang }, '/ann/first'],
    ['the longer wait', 30, 40, { ...gang }, '/bob/second'],
    ['a gang before a large task', 20, 30, { cpu: 3 }, '/ann/first'],
  ] as const)('%s (%d and %d minutes) reserves', (_, ann, bob, second, holder) => {
    const made = world(true);
    made.submit('/ann/first', { ...gang, waitingSinceMs: made.nowMs - ann * minute });
    made.submit('/bob/second', { ...second, waitingSinceMs: made.nowMs - bob * minute });
    expect(made.decide().reservations.map(({ jobId }) => jobId)).toEqual([holder]);
  });

  test('of a job of large tasks one comes first, the others take their turns', () => {
    const made = world(false);
    made.submit('/ann/large', { cpu: 4, tasks: 2, waitingSinceMs: made.nowMs - 20 * minute });
    made.submit('/bob/large', { cpu: 4 });
    expect(placesOf(made.decide())).toEqual(['/ann/large/0 w1', '/bob/large/0 w2']);
  });
});

describe('GPUs by device', () => {
  test('fractional machines are filled before whole ones are broken', () => {
    const world = new TestCluster([gpuWorker('w1'), gpuWorker('w2'), gpuWorker('w3')]);
    world.run('/bob/a', 'w2', { devices: ['GPU-0', 'GPU-1', 'GPU-2'] });
    world.submit('/ann/a', { gpuCount: 2 });
    world.submit('/ann/b', { gpuCount: 8, tasks: 2 });
    expect(placesOf(world.decide())).toEqual(['/ann/a/0 w2', '/ann/b/0 w1', '/ann/b/1 w3']);
  });

  test('work without GPUs goes to machines without them first', () => {
    const world = new TestCluster([gpuWorker('w1'), worker('w2')]);
    world.submit('/ann/a', { cpu: 4 });
    world.submit('/ann/b', { cpu: 4 });
    expect(placesOf(world.decide())).toEqual(['/ann/a/0 w2', '/ann/b/0 w1']);
  });

  test.each([
    ['NVLink neighbours', (index: number) => ({ linkGroup: index % 2 }), ['GPU-0', 'GPU-2']],
    ['one memory node', (index: number) => ({ numaNode: index < 1 ? 0 : 1 }), ['GPU-1', 'GPU-2']],
    ['lowest numbers where nothing is said', () => ({}), ['GPU-0', 'GPU-1']],
  ])('%s', (_, more, devices) => {
    const world = new TestCluster([gpuWorker('w1', 4, { gpus: cards(4, more) })]);
    world.submit('/ann/a', { gpuCount: 2 });
    expect(world.decide().placed[0]?.devices).toEqual(devices);
  });

  test('one card is taken from the neighbourhood that is broken already', () => {
    const world = new TestCluster([
      gpuWorker('w1', 4, { gpus: cards(4, (index) => ({ linkGroup: index >> 1 })) }),
    ]);
    world.run('/bob/a', 'w1', { devices: ['GPU-3'] });
    world.submit('/ann/a', { gpuCount: 1 });
    expect(world.decide().placed[0]?.devices).toEqual(['GPU-2']);
  });

  test('cards busy by others and sick ones are given to nobody', () => {
    const gpus = cards(3, (index) => ({ busyByOthers: index === 0, usable: index !== 1 }));
    const world = new TestCluster([gpuWorker('w1', 3, { gpus })]);
    world.submit('/ann/a', { gpuCount: 1, tasks: 2 });
    expect(world.decide().placed.map(({ devices }) => devices)).toEqual([['GPU-2']]);
  });
});

describe('gangs in band order with solo work', () => {
  test('a BATCH gang does not take what PRODUCTION solo work asks for', () => {
    const world = new TestCluster([worker('w1', { attributes: { rack: 'r' } })]);
    world.submit('/ann/gang', { cpu: 2, tasks: 2, gangBy: 'rack', band: 'BATCH' });
    world.submit('/bob/a', { cpu: 1, band: 'PRODUCTION' });
    expect(placesOf(world.decide())).toEqual(['/bob/a/0 w1']);
  });

  test('members share a machine when they fit: they go on as few as hold them', () => {
    const world = new TestCluster(['w1', 'w2', 'w3'].map((id) => worker(id, { attributes: { rack: 'r' } })));
    world.run('/bob/a', 'w1', { cpu: 2 });
    world.submit('/ann/gang', { cpu: 2, tasks: 3, gangBy: 'rack' });
    expect(placesOf(world.decide())).toEqual(['/ann/gang/0 w1', '/ann/gang/1 w2', '/ann/gang/2 w2']);
  });

  test('the tightest group that holds all of it', () => {
    const world = new TestCluster(
      ['a1', 'a2', 'b1'].map((id) => worker(id, { attributes: { rack: id.slice(0, 1) } })),
    );
    world.submit('/ann/gang', { cpu: 2, tasks: 2, gangBy: 'rack' });
    expect(placesOf(world.decide())).toEqual(['/ann/gang/0 b1', '/ann/gang/1 b1']);
  });
});

test('a circle of dependencies is found, and shown from the new job back to it', () => {
  const after = (jobId: string) => [{ jobId, on: 'end' as const }];
  const known: Record<string, string> = { b: 'c', c: 'a', d: 'e' };
  const of = (id: string) => (known[id] === undefined ? [] : after(known[id]));
  expect(dependencyCycle('a', after('b'), of)).toEqual(['a', 'b', 'c', 'a']);
  expect(dependencyCycle('a', after('d'), of)).toBeNull();
});

describe('gates', () => {
  test.each([
    ['held', { held: true }, 'held'],
    ['not before its time', { startNotBeforeMs: 2_000_000_000 }, 'not-before'],
    ['blocked', { blocked: { code: 'WAITS_FOR_PREDECESSOR', message: 'x' } }, 'blocked'],
    ['after a job that runs', { dependencies: [{ jobId: '/bob/a', on: 'success' }] }, 'dependency'],
  ] as const)('%s', (_, more, code) => {
    const world = new TestCluster([worker('w1')]);
    world.cluster.noteJobState('/bob/a', 'RUNNING');
    world.submit('/ann/a', more);
    const decision = world.decide();
    expect(waitsOf(decision)).toEqual([`/ann/a ${code}`]);
    expect(decision.placed).toEqual([]);
  });

  test.each([
    ['success', 'SUCCEEDED', 'placed'],
    ['success', 'FAILED', 'never'],
    ['failure', 'FAILED', 'placed'],
    ['failure', 'SUCCEEDED', 'never'],
    ['end', 'KILLED', 'placed'],
    ['end', 'PENDING', 'waits'],
    ['success', undefined, 'never'],
    ['end', undefined, 'placed'],
  ] as const)('after %s of a job that is %s: %s', (on, state, outcome) => {
    const world = new TestCluster([worker('w1')]);
    if (state !== undefined) world.cluster.noteJobState('/bob/a', state);
    world.submit('/ann/a', { dependencies: [{ jobId: '/bob/a', on }] });
    const { placed, waiting, unschedulable } = world.decide();
    expect([placed.length, unschedulable.length, waiting.length]).toEqual(
      { placed: [1, 0, 0], never: [0, 1, 0], waits: [0, 0, 1] }[outcome],
    );
  });

  test('finish-by: who ends just in time starts; a millisecond later it never can, with the numbers', () => {
    const world = new TestCluster([worker('w1')]);
    const finishByMs = world.nowMs + 60 * minute;
    world.submit('/ann/a', { limitMs: 60 * minute, finishByMs });
    world.submit('/ann/b', { limitMs: 60 * minute + 1, finishByMs });
    const decision = world.decide();
    expect(placesOf(decision)).toEqual(['/ann/a/0 w1']);
    expect(decision.unschedulable).toEqual([
      {
        jobId: '/ann/b',
        indexes: [0],
        reason: { kind: 'finish-by', finishByMs, nowMs: world.nowMs, limitMs: 60 * minute + 1 },
      },
    ]);
  });

  test('a job that still can is never dropped: it waits until its last possible start', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { cpu: 4 });
    world.submit('/ann/a', { limitMs: minute, finishByMs: world.nowMs + 2 * minute });
    const decision = world.round();
    expect(waitsOf(decision)).toEqual(['/ann/a capacity']);
    expect(decision.wakeAtMs).toBe(world.nowMs + minute + 1);
    world.nowMs += minute;
    expect(world.round().unschedulable).toEqual([]);
    world.nowMs += 1;
    expect(world.round().unschedulable.map(({ jobId }) => jobId)).toEqual(['/ann/a']);
  });

  test('tasks of a job at the same time, and a user’s quota', () => {
    const world = new TestCluster([worker('w1')]);
    world.submit('/ann/a', { tasks: 3, maxActive: 2 });
    const quota = { tasks: 1, cpuMillicores: null, memoryBytes: null, gpuCount: null };
    world.cluster.setBudgets([{ user: 'bob', limit: 0, quota, cumulative: null }], 0);
    world.submit('/bob/a', { tasks: 2 });
    const decision = world.round();
    expect(placesOf(decision)).toEqual(['/ann/a/0 w1', '/bob/a/0 w1', '/ann/a/1 w1']);
    expect(waitsOf(decision)).toEqual(['/bob/a quota', '/ann/a job-cap']);
    expect(world.round().placed).toEqual([]);
  });

  test('use over time goes before spend in the order of users, where it fades; never under the original’s rules', () => {
    const placesUnder = (policy: 'ours' | 'original') => {
      const world = new TestCluster([worker('w1', { cpuMillicores: 2000 })], policy);
      world.run('/bob/runs', 'w1');
      const row = { limit: 0, quota: null };
      const use = (user: string, cumulative: number) => ({ user, ...row, cumulative });
      world.cluster.setBudgets([use('ann', 900), use('bob', 20)], 0);
      world.submit('/ann/a');
      world.submit('/bob/a');
      return placesOf(world.decide());
    };
    expect(placesUnder('ours')).toEqual(['/bob/a/0 w1']);
    expect(placesUnder('original')).toEqual(['/ann/a/0 w1']);
  });

  test('the owner’s own order goes before age', () => {
    const world = new TestCluster([worker('w1', { cpuMillicores: 1000 })]);
    world.submit('/ann/old');
    world.submit('/ann/moved-up', { rank: -1 });
    expect(placesOf(world.decide())).toEqual(['/ann/moved-up/0 w1']);
  });
});

describe('jobs behind one that finds no room', () => {
  const full = () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/runs', 'w1', { cpu: 3 });
    return world;
  };

  test('each waits for its own reason, however alike they are', () => {
    const world = full();
    world.submit('/ann/first', { cpu: 1.5 });
    world.submit('/ann/alike', { cpu: 1.5, tasks: 3 });
    world.submit('/ann/held', { cpu: 1.5, held: true });
    world.submit('/ann/capped', { cpu: 1.5, maxActive: 0 });
    world.submit('/ann/last', { cpu: 1.5 });
    const decision = world.decide();
    expect(waitsOf(decision)).toEqual([
      '/ann/first capacity',
      '/ann/alike capacity',
      '/ann/held held',
      '/ann/capped job-cap',
      '/ann/last capacity',
    ]);
    expect(decision.waiting.map(({ count }) => count)).toEqual([1, 3, 1, 1, 1]);
  });

  test('one that asks for less is placed, and what is freed goes to the first', () => {
    const world = full();
    world.submit('/ann/first', { cpu: 2 });
    world.submit('/ann/alike', { cpu: 2 });
    world.submit('/ann/small', { cpu: 1 });
    expect(placesOf(world.round())).toEqual(['/ann/small/0 w1']);
    world.gone('/bob/runs/0');
    expect(placesOf(world.round())).toEqual(['/ann/first/0 w1']);
    expect(waitsOf(world.decide())).toEqual(['/ann/alike capacity']);
  });
});
