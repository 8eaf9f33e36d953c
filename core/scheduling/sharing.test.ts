import { describe, expect, test } from 'vitest';
import { sentenceOf } from './explanation/words.js';
import { roomReason } from './explanation/room-reason.js';
import type { SchedulingGpu } from './free.js';
import { marginOf, rampMs } from './sharing.js';
import { cards, evictedBy, gib, minute, placesOf, TestCluster, waitsOf, worker } from './test-cluster.js';

const total = 24 * gib;

function memory(usedGib: number, byAttempt: Record<string, number> = {}): Partial<SchedulingGpu> {
  return { memory: { totalBytes: total, usedBytes: usedGib * gib, byAttempt } };
}

/** A machine with two cards of 24 GiB, of which so much is in use. */
function lab(used: readonly [Partial<SchedulingGpu>, Partial<SchedulingGpu>] = [memory(0), memory(0)]) {
  const world = new TestCluster([
    worker('w1', { cpuMillicores: 32_000, gpus: cards(2, (at) => used[at] ?? {}) }),
  ]);
  world.rules = { ...world.rules, patienceMs: 0 };
  const see = (next: typeof used) => {
    world.cluster.setWorkers([
      worker('w1', { cpuMillicores: 32_000, gpus: cards(2, (at) => next[at] ?? {}) }),
    ]);
  };
  return { world, see };
}

const shared = (sizeGib: number, more = {}) => ({ gpuCount: 1, sharedGpuBytes: sizeGib * gib, ...more });
const devicesOf = (world: TestCluster) =>
  Object.fromEntries(world.decide().placed.map(({ jobId, devices }) => [jobId, devices.join()]));

describe('a second task that shares', () => {
  const cases: [
    what: string,
    first: number,
    usedGib: number,
    ranMs: number,
    second: number,
    device: string,
  ][] = [
    ['joins while both fit with what they said', 8, 0, 0, 8, 'GPU-0'],
    ['counts the first with what it said while it is new', 16, 1, rampMs - 1, 8, 'GPU-1'],
    ['counts the first with what is seen when it is not', 16, 1, rampMs, 8, 'GPU-0'],
    ['counts what is seen beside what new ones said', 8, 8, 0, 8, 'GPU-1'],
    ['leaves the margin free: 1.2 GiB of 24', 11, 0, 0, 11.79, 'GPU-0'],
    ['does not take the margin', 11, 0, 0, 11.81, 'GPU-1'],
    ['is told of memory that nobody has said anything of', 1, 20, rampMs, 3, 'GPU-1'],
  ];
  test.each(cases)('%s', (_, first, usedGib, ranMs, second, device) => {
    const { world } = lab([memory(usedGib), memory(0)]);
    world.run('/ann/a', 'w1', {
      devices: ['GPU-0'],
      sharedGpuBytes: first * gib,
      startedAtMs: world.nowMs - ranMs,
    });
    world.submit('/bob/b', shared(second));
    expect(devicesOf(world)).toEqual({ '/bob/b': device });
  });

  test('counts what is seen of the first itself as a part of what it said', () => {
    const { world, see } = lab();
    world.run('/ann/a', 'w1', { devices: ['GPU-0'], sharedGpuBytes: 12 * gib, startedAtMs: world.nowMs });
    world.run('/cid/alone', 'w1', { devices: ['GPU-1'] });
    see([memory(10, { '/ann/a/0': 10 * gib }), memory(0)]);
    world.submit('/bob/b', shared(10));
    expect(devicesOf(world)).toEqual({ '/bob/b': 'GPU-0' });
    // It took more than it said.
    see([memory(14, { '/ann/a/0': 14 * gib }), memory(0)]);
    expect(devicesOf(world)).toEqual({});
  });

  test('starts when the first has settled below what it said, without anything else happening', () => {
    const { world, see } = lab();
    world.run('/ann/a', 'w1', { devices: ['GPU-0'], sharedGpuBytes: 20 * gib, startedAtMs: world.nowMs });
    world.run('/cid/alone', 'w1', { devices: ['GPU-1'] });
    see([memory(4), memory(0)]);
    world.submit('/bob/b', shared(8));
    const decision = world.decide();
    expect(waitsOf(decision)).toEqual(['/bob/b capacity']);
    expect(decision.wakeAtMs).toBe(world.nowMs + rampMs);
    world.nowMs += rampMs;
    expect(devicesOf(world)).toEqual({ '/bob/b': 'GPU-0' });
    // A clock that was set back counts it as new again.
    world.nowMs -= 2 * minute;
    world.submit('/bob/c', shared(8));
    expect(devicesOf(world)).toEqual({});
  });
});

test('cards that are shared already are filled first, the fullest first', () => {
  const { world } = lab();
  for (const name of ['a', 'b', 'c']) world.submit(`/ann/${name}`, shared(7));
  expect(devicesOf(world)).toEqual({ '/ann/a': 'GPU-0', '/ann/b': 'GPU-0', '/ann/c': 'GPU-0' });
  world.round();
  world.submit('/ann/d', shared(4));
  expect(devicesOf(world)).toEqual({ '/ann/d': 'GPU-1' });
  world.round();
  world.submit('/ann/e', shared(1));
  expect(devicesOf(world)).toEqual({ '/ann/e': 'GPU-0' });
  expect(world.violations()).toEqual([]);
});

test('a machine on which something is shared comes before one that is all free', () => {
  const machines = ['a', 'b'].map((id) => worker(id, { gpus: cards(2, () => memory(0)) }));
  const world = new TestCluster(machines);
  world.run('/ann/a', 'b', { devices: ['GPU-1'], sharedGpuBytes: 4 * gib });
  world.submit('/ann/b', shared(4));
  expect(placesOf(world.decide())).toEqual(['/ann/b/0 b']);
});

test('two cards each for a task, both shared', () => {
  const { world } = lab();
  for (const name of ['a', 'b', 'c']) world.submit(`/ann/${name}`, shared(9, { gpuCount: 2 }));
  const decision = world.round();
  expect(decision.placed.map(({ devices }) => devices)).toEqual([
    ['GPU-0', 'GPU-1'],
    ['GPU-0', 'GPU-1'],
  ]);
  expect(waitsOf(decision)).toEqual(['/ann/c capacity']);
});

describe('never', () => {
  test('together with a task that has its card alone, whoever comes first', () => {
    const { world } = lab();
    world.run('/ann/alone', 'w1', { devices: ['GPU-0'] });
    world.run('/ann/shares', 'w1', { devices: ['GPU-1'], sharedGpuBytes: gib });
    world.submit('/bob/shares', shared(1));
    world.submit('/bob/alone', { gpuCount: 1 });
    const decision = world.round();
    expect(decision.placed.map(({ jobId, devices }) => [jobId, devices])).toEqual([
      ['/bob/shares', ['GPU-1']],
    ]);
    expect(waitsOf(decision)).toEqual(['/bob/alone capacity']);
  });

  test('on a card whose memory in use is not readable, beyond the first', () => {
    const { world } = lab([{}, { memory: null }]);
    for (const name of ['a', 'b', 'c']) world.submit(`/ann/${name}`, shared(1));
    const decision = world.round();
    expect(decision.placed.map(({ devices }) => devices.join())).toEqual(['GPU-0', 'GPU-1']);
    expect(waitsOf(decision)).toEqual(['/ann/c capacity']);
  });

  test('with more than the bound: four, or what is set of the machine', () => {
    const { world, see } = lab([memory(0), { ...memory(0), maxSharers: 1 }]);
    for (let at = 0; at < 7; at += 1) world.submit(`/ann/j${at}`, shared(1));
    const placed = world.round().placed.map(({ devices }) => devices.join());
    expect(placed).toEqual(['GPU-0', 'GPU-0', 'GPU-0', 'GPU-0', 'GPU-1']);
    see([
      { ...memory(4), maxSharers: 6 },
      { ...memory(1), maxSharers: 1 },
    ]);
    expect(world.round().placed.map(({ devices }) => devices.join())).toEqual(['GPU-0', 'GPU-0']);
  });

  test('on a card that is promised to somebody', () => {
    const { world } = lab();
    world.run('/ann/alone', 'w1', { devices: ['GPU-1'] });
    world.run('/ann/s', 'w1', { devices: ['GPU-0'], sharedGpuBytes: gib, band: 'BATCH' });
    world.submit('/bob/alone', { gpuCount: 1 });
    world.submit('/cid/shares', shared(1, { band: 'BATCH' }));
    const decision = world.round();
    expect(placesOf(decision)).toEqual(['/bob/alone/0 w1 after /ann/s/0']);
    expect(waitsOf(decision)).toEqual(['/cid/shares capacity']);
    expect(placesOf(world.round())).toEqual([]);
    expect(world.violations()).toEqual([]);
  });
});

describe('eviction', () => {
  test('who wants a card alone evicts all who share it', () => {
    const { world } = lab();
    world.run('/ann/prod', 'w1', { devices: ['GPU-1'], band: 'PRODUCTION' });
    for (const name of ['a', 'b', 'c'])
      world.run(`/ann/${name}`, 'w1', { devices: ['GPU-0'], sharedGpuBytes: gib, band: 'BATCH' });
    world.submit('/bob/alone', { gpuCount: 1 });
    const decision = world.round();
    expect(evictedBy(decision).sort()).toEqual(['/ann/a/0', '/ann/b/0', '/ann/c/0']);
    world.gone('/ann/a/0');
    world.gone('/ann/b/0');
    expect(placesOf(world.round())).toEqual([]);
    world.gone('/ann/c/0');
    expect(placesOf(world.round())).toEqual(['/bob/alone/0 w1']);
    expect(world.violations()).toEqual([]);
  });

  test('one that may not be evicted keeps the card for all', () => {
    const { world } = lab();
    world.run('/ann/prod', 'w1', { devices: ['GPU-1'], band: 'PRODUCTION' });
    world.run('/ann/a', 'w1', { devices: ['GPU-0'], sharedGpuBytes: gib, band: 'BATCH' });
    world.run('/ann/b', 'w1', { devices: ['GPU-0'], sharedGpuBytes: gib, band: 'INTERACTIVE' });
    world.submit('/bob/alone', { gpuCount: 1 });
    const decision = world.round();
    expect([evictedBy(decision), waitsOf(decision)]).toEqual([[], ['/bob/alone capacity']]);
  });

  test('who shares evicts for a card of its own, on which others may join', () => {
    const { world } = lab();
    world.run('/ann/prod', 'w1', { devices: ['GPU-1'], band: 'PRODUCTION' });
    world.run('/ann/a', 'w1', { devices: ['GPU-0'], band: 'BATCH' });
    world.submit('/bob/s', shared(8));
    expect(placesOf(world.round())).toEqual(['/bob/s/0 w1 after /ann/a/0']);
    world.gone('/ann/a/0');
    world.submit('/bob/t', shared(8));
    expect(placesOf(world.round())).toEqual(['/bob/s/0 w1', '/bob/t/0 w1']);
    expect(world.violations()).toEqual([]);
  });

  test('an eviction that nobody needs any more is taken back, with others on the card', () => {
    const { world } = lab();
    world.run('/ann/a', 'w1', { devices: ['GPU-0'], sharedGpuBytes: gib, leaving: 'asked' });
    world.run('/ann/b', 'w1', { devices: ['GPU-0'], sharedGpuBytes: gib });
    expect(world.round().withdrawn).toEqual(['/ann/a/0']);
  });
});

test('what waits for a card that is being left is looked at again when less counts on another', () => {
  const { world } = lab();
  world.run('/ann/a', 'w1', { devices: ['GPU-0'], sharedGpuBytes: 20 * gib, startedAtMs: world.nowMs });
  world.run('/ann/ends', 'w1', { devices: ['GPU-1'], state: 'ENDING' });
  world.submit('/bob/s', shared(8));
  const decision = world.round();
  expect(waitsOf(decision)).toEqual(['/bob/s leaving']);
  expect(decision.wakeAtMs).toBe(world.nowMs + 5 * minute);
  world.nowMs += 5 * minute;
  expect(devicesOf(world)).toEqual({ '/bob/s': 'GPU-0' });
});

test('why it waits', () => {
  const { world } = lab([memory(20), memory(0)]);
  world.run('/ann/a', 'w1', { devices: ['GPU-0'], sharedGpuBytes: gib });
  world.run('/ann/alone', 'w1', { devices: ['GPU-1'] });
  world.submit('/bob/b', shared(8));
  const decision = world.round();
  const entry = world.cluster.queue.jobs.get('/bob/b');
  if (entry === undefined) throw new Error('no such job');
  const { cluster, rules, nowMs } = world;
  expect(sentenceOf(roomReason({ cluster, decision, rules, nowMs }, entry))).toBe(
    'Waits for 8 GiB on 1 GPU it shares (0 of 2 have room, at most 2.8 GiB left for one more, 1 in use by a task that does not share).',
  );
});

test('the margin is 5 %, at least 1 GiB', () => {
  expect([marginOf(5 * gib), marginOf(80 * gib)]).toEqual([gib, 4 * gib]);
});
