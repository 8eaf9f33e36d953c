/** Victims and provisional places under our rules: a table of cases for each. */
import { describe, expect, test } from 'vitest';
import { cards, evictedBy, gib, minute, placesOf, TestCluster, waitsOf, worker } from './test-cluster.js';

const gpuWorker = (id: string, count = 8, more = {}) =>
  worker(id, { cpuMillicores: 64_000, memoryBytes: 512 * gib, gpus: cards(count), ...more });

describe('one victim search for solo tasks and gangs', () => {
  test('several small victims make room for one large task', () => {
    const world = new TestCluster([worker('w1')]);
    for (const name of ['a', 'b', 'c', 'd']) world.run(`/bob/${name}`, 'w1', { band: 'BATCH' });
    world.submit('/ann/large', { cpu: 3, band: 'PRODUCTION' });
    const decision = world.decide();
    expect(evictedBy(decision)).toEqual(['/bob/a/0', '/bob/b/0', '/bob/c/0']);
    expect(placesOf(decision)).toEqual(['/ann/large/0 w1 after /bob/a/0 /bob/b/0 /bob/c/0']);
  });

  test('what is free counts: no more victims than are needed', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { band: 'BATCH' });
    world.run('/bob/b', 'w1', { band: 'BATCH' });
    world.submit('/ann/large', { cpu: 3, band: 'PRODUCTION' });
    expect(evictedBy(world.decide())).toEqual(['/bob/a/0']);
  });

  test.each([
    [
      'worst band first, whatever it costs',
      { b: { band: 'BATCH', preemptions: 9 }, a: { band: 'INTERACTIVE' } },
      'b',
    ],
    ['then the one that loses less work', { b: { startedAgo: 30 }, a: { startedAgo: 31 } }, 'b'],
    [
      'a loss counts twice when it is the second',
      { b: { startedAgo: 59 }, a: { startedAgo: 30, preemptions: 1 } },
      'b',
    ],
    ['but not for more', { b: { startedAgo: 61 }, a: { startedAgo: 30, preemptions: 1 } }, 'a'],
    [
      'of two that lose nothing the one preempted less often',
      { b: { startedAgo: 0 }, a: { startedAgo: 0, preemptions: 1 } },
      'b',
    ],
    [
      'work since the last checkpoint',
      { b: { startedAgo: 600, checkpointAgo: 1 }, a: { startedAgo: 30 } },
      'b',
    ],
    ['then the smaller id', { b: {}, a: {} }, 'a'],
  ] as const)('%s', (_, runs, evicted) => {
    const world = new TestCluster([worker('w1', { cpuMillicores: 2000 })]);
    for (const [name, run] of Object.entries(runs)) {
      const {
        startedAgo = 60,
        checkpointAgo,
        ...rest
      } = run as {
        startedAgo?: number;
        checkpointAgo?: number;
        band?: 'BATCH';
        preemptions?: number;
      };
      world.run(`/bob/${name}`, 'w1', {
        band: 'BATCH',
        startedAtMs: world.nowMs - startedAgo * minute,
        checkpointAtMs: checkpointAgo === undefined ? null : world.nowMs - checkpointAgo * minute,
        ...rest,
      });
    }
    world.submit('/ann/a', { band: 'PRODUCTION' });
    expect(evictedBy(world.decide())).toEqual([`/bob/${evicted}/0`]);
  });

  test('of two that lose no work the one of less value', () => {
    const world = new TestCluster([worker('w1', { cpuMillicores: 4000 })]);
    world.run('/bob/a', 'w1', { band: 'BATCH', cpu: 3, startedAtMs: world.nowMs });
    world.run('/bob/b', 'w1', { band: 'BATCH', cpu: 1, startedAtMs: world.nowMs });
    world.submit('/ann/a', { band: 'PRODUCTION' });
    expect(evictedBy(world.decide())).toEqual(['/bob/b/0']);
  });

  test('one dear victim is not taken where two cheap ones do', () => {
    const world = new TestCluster([worker('w1'), worker('w2')]);
    world.run('/bob/dear', 'w1', { cpu: 4, band: 'BATCH', startedAtMs: world.nowMs - 600 * minute });
    world.run('/bob/a', 'w2', { cpu: 2, band: 'BATCH', startedAtMs: world.nowMs - 10 * minute });
    world.run('/bob/b', 'w2', { cpu: 2, band: 'BATCH', startedAtMs: world.nowMs - 20 * minute });
    world.submit('/ann/a', { cpu: 4, band: 'PRODUCTION' });
    expect(evictedBy(world.decide())).toEqual(['/bob/a/0', '/bob/b/0']);
  });

  test('a gang is one victim for a solo task too, and falls whole', () => {
    const world = new TestCluster([worker('w1'), worker('w2')]);
    for (const [at, id] of ['w1', 'w2'].entries()) {
      world.run('/bob/gang', id, {
        uid: `g${at}`,
        taskId: `/bob/gang/${at}`,
        cpu: 4,
        gang: true,
        band: 'BATCH',
      });
    }
    world.submit('/ann/a', { cpu: 1, band: 'PRODUCTION' });
    const decision = world.decide();
    expect(evictedBy(decision)).toEqual(['g0', 'g1']);
    expect(placesOf(decision)).toEqual(['/ann/a/0 w1 after g0']);
  });

  describe('a gang and a single task that has lost more work', () => {
    function lab() {
      const world = new TestCluster([worker('w1'), worker('w2'), worker('w3')]);
      for (const [at, id] of ['w1', 'w2'].entries())
        world.run('/bob/gang', id, {
          uid: `g${at}`,
          taskId: `/bob/gang/${at}`,
          cpu: 4,
          gang: true,
          band: 'BATCH',
        });
      world.run('/bob/single', 'w3', { cpu: 4, band: 'BATCH', startedAtMs: world.nowMs - 600 * minute });
      return world;
    }

    test('for a small task the single one goes', () => {
      const world = lab();
      world.submit('/ann/small', { cpu: 1, band: 'PRODUCTION' });
      expect(evictedBy(world.decide())).toEqual(['/bob/single/0']);
    });

    test('for one of half a machine whoever loses less', () => {
      const world = lab();
      world.submit('/ann/large', { cpu: 2, band: 'PRODUCTION' });
      expect(evictedBy(world.decide())).toEqual(['g0', 'g1']);
    });

    test('but the worse band goes first, a gang or not', () => {
      const world = new TestCluster([worker('w1'), worker('w2')]);
      world.run('/bob/gang', 'w1', { uid: 'g0', taskId: '/bob/gang/0', cpu: 4, gang: true, band: 'BATCH' });
      world.run('/bob/single', 'w2', { cpu: 4, band: 'INTERACTIVE' });
      world.submit('/ann/small', { cpu: 1, band: 'PRODUCTION' });
      expect(evictedBy(world.decide())).toEqual(['g0']);
    });
  });

  test('a gang with one member of an equal band is no victim', () => {
    const world = new TestCluster([worker('w1'), worker('w2')]);
    world.run('/bob/gang', 'w1', { uid: 'g0', taskId: '/bob/gang/0', cpu: 4, gang: true, band: 'BATCH' });
    world.run('/bob/gang', 'w2', {
      uid: 'g1',
      taskId: '/bob/gang/1',
      cpu: 4,
      gang: true,
      band: 'PRODUCTION',
    });
    world.submit('/ann/a', { band: 'PRODUCTION' });
    expect(evictedBy(world.decide())).toEqual([]);
  });

  test('a gang takes free places and evicts only for the rest', () => {
    const world = new TestCluster(['w1', 'w2', 'w3'].map((id) => worker(id, { attributes: { rack: 'r' } })));
    world.run('/bob/a', 'w2', { cpu: 4, band: 'BATCH' });
    world.run('/bob/b', 'w3', { cpu: 4, band: 'BATCH', startedAtMs: world.nowMs - minute });
    world.submit('/ann/gang', { cpu: 4, tasks: 2, gangBy: 'rack', band: 'PRODUCTION' });
    const decision = world.decide();
    expect(evictedBy(decision)).toEqual(['/bob/b/0']);
    // They start together: both wait for the victim.
    expect(placesOf(decision)).toEqual(['/ann/gang/0 w1 after /bob/b/0', '/ann/gang/1 w3 after /bob/b/0']);
  });

  test('nobody is evicted when not all of a gang would fit', () => {
    const world = new TestCluster(['w1', 'w2'].map((id) => worker(id, { attributes: { rack: 'r' } })));
    world.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH' });
    world.run('/bob/b', 'w2', { cpu: 4, band: 'SYSTEM' });
    world.submit('/ann/gang', { cpu: 4, tasks: 2, gangBy: 'rack', band: 'PRODUCTION' });
    expect(evictedBy(world.decide())).toEqual([]);
  });

  test('the cheapest group is chosen', () => {
    const world = new TestCluster(
      ['a1', 'a2', 'b1', 'b2'].map((id) => worker(id, { attributes: { rack: id.slice(0, 1) } })),
    );
    for (const id of ['a1', 'a2', 'b1', 'b2']) {
      const ago = id.startsWith('a') ? 100 : 50;
      world.run(`/bob/${id}`, id, { cpu: 4, band: 'BATCH', startedAtMs: world.nowMs - ago * minute });
    }
    world.submit('/ann/gang', { cpu: 4, tasks: 2, gangBy: 'rack', band: 'PRODUCTION' });
    expect(evictedBy(world.decide()).sort()).toEqual(['/bob/b1/0', '/bob/b2/0']);
  });

  test.each([
    ['INTERACTIVE', 'BATCH', 4, false],
    ['INTERACTIVE', 'BATCH', 5, true],
    ['PRODUCTION', 'BATCH', 0, true],
    ['SYSTEM', 'BATCH', 0, true],
    ['PRODUCTION', 'INTERACTIVE', 4, false],
    ['PRODUCTION', 'INTERACTIVE', 5, true],
  ] as const)('%s against %s that ran %d min: %s', (band, victim, minutes, evicted) => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { cpu: 4, band: victim, startedAtMs: world.nowMs - minutes * minute });
    world.submit('/ann/a', { band, waitingSinceMs: world.nowMs - 2 * minute });
    const decision = world.decide();
    expect(evictedBy(decision)).toEqual(evicted ? ['/bob/a/0'] : []);
    // Time alone changes it: the pass says when to look again.
    if (!evicted) expect(decision.wakeAtMs).toBe(world.nowMs + (5 - minutes) * minute);
  });

  test('one INTERACTIVE task gives others two minutes to end by themselves before it evicts', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH' });
    world.submit('/ann/a', { band: 'INTERACTIVE' });
    const submittedMs = world.nowMs;
    const decision = world.decide();
    expect(evictedBy(decision)).toEqual([]);
    expect(waitsOf(decision)).toEqual(['/ann/a capacity']);
    expect(decision.wakeAtMs).toBe(submittedMs + 2 * minute);
    world.nowMs = submittedMs + 2 * minute - 1;
    expect(evictedBy(world.decide())).toEqual([]);
    world.nowMs += 1;
    expect(evictedBy(world.decide())).toEqual(['/bob/a/0']);
  });

  test('one whose two minutes are over evicts behind one of the same user that has just come back', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH' });
    world.submit('/ann/back', { waitingSinceMs: world.nowMs });
    world.submit('/ann/waits', { waitingSinceMs: world.nowMs - 2 * minute });
    const decision = world.decide();
    expect(evictedBy(decision)).toEqual(['/bob/a/0']);
    expect(placesOf(decision)).toEqual(['/ann/waits/0 w1 after /bob/a/0']);
  });

  test('what ends in these two minutes is taken and nobody evicted', () => {
    const world = new TestCluster([worker('w1'), worker('w2')]);
    for (const id of ['w1', 'w2']) world.run(`/bob/${id}`, id, { cpu: 4, band: 'BATCH' });
    world.submit('/ann/a', { band: 'INTERACTIVE' });
    world.round();
    world.nowMs += minute;
    world.gone('/bob/w2/0');
    const decision = world.decide();
    expect(evictedBy(decision)).toEqual([]);
    expect(placesOf(decision)).toEqual(['/ann/a/0 w2']);
  });

  test.each([
    ['a PRODUCTION task', { band: 'PRODUCTION' }],
    ['a SYSTEM task', { band: 'SYSTEM' }],
    ['an INTERACTIVE gang', { band: 'INTERACTIVE', tasks: 2, gangBy: 'rack' }],
  ] as const)('%s evicts at once', (_, asked) => {
    const world = new TestCluster(['w1', 'w2'].map((id) => worker(id, { attributes: { rack: 'r' } })));
    for (const id of ['w1', 'w2']) world.run(`/bob/${id}`, id, { cpu: 4, band: 'BATCH' });
    world.submit('/ann/a', { cpu: 4, ...asked });
    expect(evictedBy(world.decide())).toHaveLength('tasks' in asked ? 2 : 1);
  });

  test('a sick or foreign-held card of a victim makes no room', () => {
    const world = new TestCluster([gpuWorker('w1', 1, { gpus: cards(1, () => ({ usable: false })) })]);
    world.run('/bob/a', 'w1', { devices: ['GPU-0'], band: 'BATCH' });
    world.submit('/ann/a', { gpuCount: 1, band: 'PRODUCTION' });
    expect(evictedBy(world.decide())).toEqual([]);
  });
});

test('what a surplus cannot hold is evicted for', () => {
  const world = new TestCluster([worker('w1'), worker('w2')]);
  world.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH' });
  world.run('/bob/b', 'w2', { cpu: 4, band: 'BATCH' });
  world.submit('/ann/a', { cpu: 2, tasks: 3, band: 'PRODUCTION' });
  expect(evictedBy(world.decide())).toEqual(['/bob/a/0', '/bob/b/0']);
});

describe('provisional places', () => {
  function evicting(): TestCluster {
    const world = new TestCluster([worker('w1'), worker('w2')]);
    world.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH' });
    world.run('/bob/b', 'w2', { cpu: 4, band: 'PRODUCTION' });
    world.submit('/ann/a', { cpu: 2, band: 'PRODUCTION' });
    expect(placesOf(world.round())).toEqual(['/ann/a/0 w1 after /bob/a/0']);
    return world;
  }

  test('nothing more is evicted while it waits', () => {
    const world = evicting();
    expect(world.round()).toMatchObject({ placed: [], evictions: [], withdrawn: [] });
  });

  test('starts where it is when the victim is gone', () => {
    const world = evicting();
    world.gone('/bob/a/0');
    const decision = world.round();
    expect(placesOf(decision)).toEqual(['/ann/a/0 w1']);
    expect(decision.placed[0]?.hadClaim).toBe(true);
  });

  test('re-placed when something is free; a notice not sent is withdrawn', () => {
    const world = evicting();
    world.gone('/bob/b/0');
    const decision = world.round();
    expect(placesOf(decision)).toEqual(['/ann/a/0 w2']);
    expect(decision.withdrawn).toEqual(['/bob/a/0']);
  });

  test('a notice that was sent stands', () => {
    const world = evicting();
    world.leave('/bob/a/0', 'told');
    world.gone('/bob/b/0');
    const decision = world.round();
    expect(placesOf(decision)).toEqual(['/ann/a/0 w2']);
    expect(decision.withdrawn).toEqual([]);
  });

  test('charges no spend until it starts', () => {
    const world = evicting();
    expect(world.cluster.queue.user('ann').spend).toBe(0);
    world.gone('/bob/a/0');
    world.round();
    expect(world.cluster.queue.user('ann').spend).toBe(11);
  });

  test('the pass says when it can no longer end in time', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH' });
    const finishByMs = world.nowMs + 9 * minute;
    world.submit('/ann/a', { cpu: 2, band: 'PRODUCTION', limitMs: 2 * minute, finishByMs });
    world.round();
    expect(world.decide().wakeAtMs).toBe(world.nowMs + 7 * minute + 1);
    world.nowMs += 7 * minute + 1;
    expect(world.round().released).toEqual(['/ann/a/0']);
    expect(world.round().unschedulable.map(({ jobId }) => jobId)).toEqual(['/ann/a']);
  });

  test('takes no build slot until it starts', () => {
    const world = new TestCluster([worker('w1', { buildSlots: 1 })]);
    world.run('/bob/a', 'w1', { cpu: 3, band: 'BATCH' });
    world.submit('/ann/a', { cpu: 2, band: 'PRODUCTION' });
    expect(placesOf(world.round())).toEqual(['/ann/a/0 w1 after /bob/a/0']);
    world.submit('/ann/b', { cpu: 1, band: 'PRODUCTION' });
    expect(placesOf(world.round())).toEqual(['/ann/b/0 w1']);
  });

  test('its claim is nobody else’s', () => {
    const world = evicting();
    world.gone('/bob/a/0');
    world.submit('/cid/a', { cpu: 4, band: 'PRODUCTION' });
    world.submit('/cid/b', { cpu: 2, band: 'PRODUCTION' });
    expect(placesOf(world.round())).toEqual(['/ann/a/0 w1', '/cid/b/0 w1']);
  });

  test('lost with its machine: the task waits again', () => {
    const world = evicting();
    world.cluster.setWorkers([worker('w1', { healthy: false }), worker('w2')]);
    const decision = world.round();
    expect(decision.released).toEqual(['/ann/a/0']);
    // Nobody has looked yet where else it may start.
    expect(decision.more).toBe(true);
    expect(world.round().more).toBe(false);
  });

  test('a surplus that victims leave is spoken for, not evicted for twice', () => {
    const world = new TestCluster([worker('w1'), worker('w2')]);
    world.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH' });
    world.run('/bob/b', 'w2', { cpu: 4, band: 'BATCH' });
    world.submit('/ann/a', { cpu: 2, tasks: 2, band: 'PRODUCTION' });
    const decision = world.round();
    expect(evictedBy(decision)).toEqual(['/bob/a/0']);
    expect(decision.waiting).toEqual([{ jobId: '/ann/a', code: 'leaving', count: 1, workerId: 'w1' }]);
    world.allGone();
    expect(placesOf(world.round())).toEqual(['/ann/a/0 w1', '/ann/a/1 w1']);
  });
});
