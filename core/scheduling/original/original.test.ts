/** `policy: original`: every row of the table of examples (iris-behaviour 3.10) and of its section 3, each by its own name. */
import { describe, expect, test } from 'vitest';
import { preempt } from '../../model/transitions.js';
import { World } from '../../model/test-world.js';
import { meetsConstraint } from '../constraints.js';
import { cards, evictedBy, gib, placesOf, TestCluster, waitsOf, worker } from '../test-cluster.js';

const many = (count: number) =>
  Array.from({ length: count }, (_, at) => worker(`w${at}`, { cpuMillicores: 8000 }));

function original(workers = [worker('w1')], limit = 0): TestCluster {
  const world = new TestCluster(workers, 'original');
  world.cluster.setBudgets([], limit);
  return world;
}

/** Something that runs elsewhere, worth that many thousands. */
function spends(world: TestCluster, user: string, thousands: number): void {
  const devices = Array.from({ length: thousands }, (_, at) => `${user}-${at}`);
  world.run(`/${user}/spends`, 'elsewhere', { cpu: 0, memoryBytes: 0, devices });
}

const jobsOf = (world: TestCluster) => world.decide().placed.map(({ jobId }) => jobId.split('/').at(-1));

describe('order', () => {
  test('interleave: alice a1,a2 (8000), bob b1,b2 (1000): b1,a1,b2,a2', () => {
    const world = original(many(4));
    spends(world, 'alice', 8);
    spends(world, 'bob', 1);
    for (const path of ['/alice/a1', '/alice/a2', '/bob/b1', '/bob/b2']) world.submit(path);
    expect(jobsOf(world)).toEqual(['b1', 'a1', 'b2', 'a2']);
  });

  test('alice a1,a2 (5000), bob b1 (100), charlie c1-c3 (3000): b1,c1,a1,c2,a2,c3', () => {
    const world = original(many(6));
    spends(world, 'alice', 5);
    world.run('/bob/spends', 'elsewhere', { cpu: 0, memoryBytes: 100 * gib });
    spends(world, 'charlie', 3);
    for (const path of ['/alice/a1', '/alice/a2', '/bob/b1', '/charlie/c1', '/charlie/c2', '/charlie/c3'])
      world.submit(path);
    expect(jobsOf(world)).toEqual(['b1', 'c1', 'a1', 'c2', 'a2', 'c3']);
  });

  test('user with no spend vs 5000: the former first', () => {
    const world = original(many(2));
    spends(world, 'alice', 5);
    world.submit('/alice/a1');
    world.submit('/bob/b1');
    expect(jobsOf(world)).toEqual(['b1', 'a1']);
  });

  test('one user, empty spend: order kept', () => {
    const world = original(many(3));
    for (const name of ['a1', 'a2', 'a3']) world.submit(`/alice/${name}`);
    expect(jobsOf(world)).toEqual(['a1', 'a2', 'a3']);
  });

  test('3 INTERACTIVE submitted, then 2 PRODUCTION: both PRODUCTION first; BATCH after INTERACTIVE', () => {
    const world = original(many(6));
    world.submit('/alice/batch', { band: 'BATCH' });
    for (const name of ['i1', 'i2', 'i3']) world.submit(`/alice/${name}`);
    for (const name of ['p1', 'p2']) world.submit(`/alice/${name}`, { band: 'PRODUCTION' });
    expect(jobsOf(world)).toEqual(['p1', 'p2', 'i1', 'i2', 'i3', 'batch']);
  });

  test('child and parent in one band: child first', () => {
    const world = original(many(2));
    world.submit('/alice/parent', { depth: 1 });
    world.submit('/alice/parent/child', { depth: 2 });
    expect(jobsOf(world)).toEqual(['child', 'parent']);
  });
});

describe('placement', () => {
  test('10 unplaceable TPU tasks + 1 CPU task of one user, one 4-CPU worker: CPU task assigned', () => {
    const world = original();
    for (let at = 0; at < 10; at += 1) world.submit(`/alice/tpu-${at}`, { gpuCount: 4, gpuVariant: 'v5p' });
    world.submit('/alice/cpu');
    expect(placesOf(world.decide())).toEqual(['/alice/cpu/0 w1']);
  });

  test('4-CPU worker; jobs of 8 and 2 CPUs: only the 2', () => {
    const world = original();
    world.submit('/alice/eight', { cpu: 8 });
    world.submit('/alice/two', { cpu: 2 });
    expect(placesOf(world.decide())).toEqual(['/alice/two/0 w1']);
  });

  test('4-CPU worker; three 2-CPU jobs: two placed, one pending', () => {
    const world = original();
    for (const name of ['a', 'b', 'c']) world.submit(`/alice/${name}`, { cpu: 2 });
    const decision = world.decide();
    expect(placesOf(decision)).toEqual(['/alice/a/0 w1', '/alice/b/0 w1']);
    expect(waitsOf(decision)).toEqual(['/alice/c capacity']);
  });

  test('3 of 4 CPUs running; 2-CPU job: none', () => {
    const world = original();
    world.run('/bob/a', 'w1', { cpu: 3 });
    world.submit('/alice/a', { cpu: 2 });
    expect(placesOf(world.decide())).toEqual([]);
  });

  test('two workers, one unhealthy: healthy one', () => {
    const world = original([worker('w1', { healthy: false }), worker('w2')]);
    world.submit('/alice/a');
    expect(placesOf(world.decide())).toEqual(['/alice/a/0 w2']);
  });

  test('GE 5 vs worker 5 / 3; GT 5 vs 5; LT 0.5 vs 0.3: true / false; false; true', () => {
    const meets = (op: 'GE' | 'GT' | 'LT', value: number, has: number) =>
      meetsConstraint({ key: 'k', op, values: [value], mode: 'REQUIRED' }, { k: has });
    expect([meets('GE', 5, 5), meets('GE', 5, 3), meets('GT', 5, 5), meets('LT', 0.5, 0.3)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  test('new assignments per worker per pass: 4', () => {
    const world = original([worker('w1', { cpuMillicores: 64_000 })]);
    for (let at = 0; at < 6; at += 1) world.submit(`/alice/${at}`);
    expect(world.round().placed.length).toBe(4);
    expect(world.round().placed.length).toBe(2);
  });

  test('tasks considered per non-gang job per pass: 4; gangs exempt', () => {
    const world = original(many(8).map((one) => ({ ...one, attributes: { rack: 'r' } })));
    world.submit('/alice/solo', { tasks: 6 });
    expect(world.decide().placed.length).toBe(4);
    const gang = original(many(8).map((one) => ({ ...one, attributes: { rack: 'r' } })));
    gang.submit('/alice/gang', { tasks: 6, gangBy: 'rack' });
    expect(gang.decide().placed.length).toBe(6);
  });

  test('concurrent build slots per worker: 8, of tasks ASSIGNED or BUILDING', () => {
    const world = original([worker('w1', { cpuMillicores: 64_000 })]);
    for (let at = 0; at < 7; at += 1)
      world.run(`/bob/${at}`, 'w1', { state: at % 2 === 0 ? 'ASSIGNED' : 'BUILDING' });
    world.submit('/alice/a');
    world.submit('/alice/b');
    expect(placesOf(world.decide())).toEqual(['/alice/a/0 w1']);
  });

  test('gangs first, regardless of band relative to solo work; one member a worker', () => {
    const racks = ['w1', 'w2'].map((id) => worker(id, { attributes: { rack: 'r' } }));
    const world = original(racks);
    world.submit('/bob/solo', { cpu: 4, band: 'PRODUCTION' });
    world.submit('/alice/gang', { tasks: 2, gangBy: 'rack', band: 'BATCH' });
    expect(placesOf(world.decide())).toEqual(['/alice/gang/0 w1', '/alice/gang/1 w2']);
  });

  test('members are paired with workers by tpu-worker-id', () => {
    const world = original(
      ['w1', 'w2', 'w3'].map((id, at) => worker(id, { attributes: { slice: 's', 'tpu-worker-id': 2 - at } })),
    );
    world.submit('/alice/gang', { tasks: 3, gangBy: 'slice' });
    expect(placesOf(world.decide())).toEqual(['/alice/gang/0 w3', '/alice/gang/1 w2', '/alice/gang/2 w1']);
  });

  test('soft constraints only rank', () => {
    const world = original([worker('w1'), worker('w2', { attributes: { ssd: 'yes' } })]);
    world.submit('/alice/a', { constraints: [{ key: 'ssd', op: 'EXISTS', values: [], mode: 'PREFERRED' }] });
    world.submit('/alice/b', { constraints: [{ key: 'gold', op: 'EXISTS', values: [], mode: 'PREFERRED' }] });
    expect(placesOf(world.decide())).toEqual(['/alice/a/0 w2', '/alice/b/0 w1']);
  });

  test('availability:<variant> confines a job to zones that gave it', () => {
    const world = original([
      worker('w1', { attributes: { zone: 'a' } }),
      worker('w2', { attributes: { zone: 'b' } }),
    ]);
    world.submit('/alice/a', {
      constraints: [{ key: 'availability:h100', op: 'EXISTS', values: [], mode: 'REQUIRED' }],
    });
    expect(placesOf(world.decide())).toEqual([]);
    world.cluster.setCapabilities(new Map([['b', new Set(['h100'])]]));
    expect(placesOf(world.decide())).toEqual(['/alice/a/0 w2']);
  });

  test('a job past its scheduling deadline is unschedulable', () => {
    const world = original();
    world.submit('/alice/a', { startByMs: world.nowMs });
    expect(world.decide().unschedulable.map(({ jobId }) => jobId)).toEqual(['/alice/a']);
  });
});

describe('preemption', () => {
  test.each([
    ['BATCH', 'PRODUCTION', true],
    ['BATCH', 'INTERACTIVE', true],
    ['PRODUCTION', 'INTERACTIVE', false],
    ['PRODUCTION', 'PRODUCTION', false],
    ['BATCH', 'BATCH', false],
    ['PRODUCTION', 'SYSTEM', true],
  ] as const)('full worker, %s victim, %s preemptor: evicted %s', (victim, preemptor, evicted) => {
    const world = original();
    world.run('/bob/a', 'w1', { cpu: 4, band: victim });
    world.submit('/alice/a', { band: preemptor });
    expect(evictedBy(world.decide())).toEqual(evicted ? ['/bob/a/0'] : []);
  });

  test('gang victim, solo preemptor: none', () => {
    const world = original();
    world.run('/bob/gang', 'w1', { cpu: 4, band: 'BATCH', gang: true });
    world.submit('/alice/a', { band: 'PRODUCTION' });
    expect(evictedBy(world.decide())).toEqual([]);
  });

  test('preemptor already fits: none', () => {
    const world = original();
    world.run('/bob/a', 'w1', { cpu: 2, band: 'BATCH' });
    world.submit('/alice/a', { cpu: 2, band: 'PRODUCTION' });
    const decision = world.decide();
    expect([evictedBy(decision), placesOf(decision)]).toEqual([[], ['/alice/a/0 w1']]);
  });

  test('two BATCH victims valued 5000 and 1000, 1-CPU preemptor: the 1000 one', () => {
    const world = original([worker('w1', { gpus: cards(5) }), worker('w2', { gpus: cards(1) })]);
    const held = (count: number) => cards(count).map(({ uuid }) => uuid);
    world.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH', devices: held(5) });
    world.run('/bob/b', 'w2', { cpu: 4, band: 'BATCH', devices: held(1) });
    world.submit('/alice/a', { gpuCount: 1, gpuVariant: 'h100', band: 'PRODUCTION' });
    expect(evictedBy(world.decide())).toEqual(['/bob/b/0']);
  });

  test('two victims are never combined for a solo preemptor', () => {
    const world = original();
    for (const name of ['a', 'b']) world.run(`/bob/${name}`, 'w1', { cpu: 2, band: 'BATCH' });
    world.submit('/alice/a', { cpu: 4, band: 'PRODUCTION' });
    expect(evictedBy(world.decide())).toEqual([]);
  });

  test('only RUNNING ones are victims', () => {
    const world = original();
    world.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH', state: 'BUILDING' });
    world.submit('/alice/a', { band: 'PRODUCTION' });
    expect(evictedBy(world.decide())).toEqual([]);
  });

  test('INTERACTIVE task stamped BATCH by budget, other user’s INTERACTIVE preemptor: evicted', () => {
    const world = original([worker('w1')], 10);
    world.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH', requestedBand: 'INTERACTIVE' });
    world.submit('/alice/a');
    expect(evictedBy(world.decide())).toEqual(['/bob/a/0']);
  });

  test('two 1-CPU workers with BATCH victims; PRODUCTION preemptor: tick 1 ASSIGNED, one victim gone; tick 2 nothing more', () => {
    const world = original(['w1', 'w2'].map((id) => worker(id, { cpuMillicores: 1000 })));
    for (const [at, id] of ['w1', 'w2'].entries()) world.run(`/bob/${at}`, id, { band: 'BATCH' });
    world.submit('/alice/a', { band: 'PRODUCTION' });
    const first = world.round();
    expect([evictedBy(first), placesOf(first)]).toEqual([['/bob/0/0'], ['/alice/a/0 w1 after /bob/0/0']]);
    expect(world.round()).toMatchObject({ evictions: [], placed: [] });
    world.allGone();
    const last = world.round();
    expect([evictedBy(last), placesOf(last)]).toEqual([[], ['/alice/a/0 w1']]);
  });

  test('a whole slice of a worse gang is taken, all its members evicted', () => {
    const world = original(
      ['w1', 'w2'].map((id) => worker(id, { gpus: cards(4), attributes: { rack: 'r' } })),
    );
    for (const [at, id] of ['w1', 'w2'].entries()) {
      const devices = cards(4).map(({ uuid }) => uuid);
      world.run('/bob/gang', id, {
        uid: `g${at}`,
        taskId: `/bob/gang/${at}`,
        band: 'BATCH',
        gang: true,
        devices,
      });
    }
    world.submit('/alice/gang', {
      tasks: 2,
      gangBy: 'rack',
      gpuCount: 4,
      gpuVariant: 'h100',
      band: 'PRODUCTION',
    });
    expect(evictedBy(world.decide())).toEqual(['g0', 'g1']);
  });

  test.each([
    [4, 4, ['g0', 'g1']],
    // The hosts would have eight cards, four of them another's: the place would never start.
    [4, 8, []],
  ] as const)('a slice of %d cards a host for a gang of %d: %j go', (held, asked, gone) => {
    const world = original(
      ['w1', 'w2'].map((id) => worker(id, { gpus: cards(8), attributes: { rack: 'r' } })),
    );
    const uuids = cards(8).map(({ uuid }) => uuid);
    for (const [at, id] of ['w1', 'w2'].entries()) {
      const gang = { band: 'BATCH', gang: true, devices: uuids.slice(0, held) } as const;
      world.run('/bob/gang', id, { uid: `g${at}`, taskId: `/bob/gang/${at}`, ...gang });
      world.run(`/eve/${at}`, id, { band: 'PRODUCTION', devices: uuids.slice(held) });
    }
    const need = { gpuCount: asked, gpuVariant: 'h100' };
    world.submit('/alice/gang', { tasks: 2, gangBy: 'rack', band: 'PRODUCTION', ...need });
    expect(evictedBy(world.decide())).toEqual(gone);
  });
});

describe('rows', () => {
  test('child of a PRODUCTION job, no band: PRODUCTION', () => {
    const world = new World();
    world.submit({ name: 'parent', priority: 'production' });
    expect(world.job(world.submit({ name: 'child', parent: '/ann/parent' })).band).toBe('PRODUCTION');
  });

  test.each([
    ['RUNNING', 5, 'PENDING', 1],
    ['RUNNING', 0, 'PREEMPTED', 1],
    ['ASSIGNED', 0, 'PENDING', 0],
    ['ASSIGNED', 5, 'PENDING', 0],
  ] as const)('%s preempted, max_retries_preemption %d: %s, count %d', (state, retries, after, count) => {
    const world = new World();
    const id = world.submit({ name: 'a', maxRetriesPreemption: retries });
    const uid = state === 'RUNNING' ? world.run(`${id}/0`) : world.assign(`${id}/0`);
    world.step((draft) => preempt(draft, uid, { reason: 'test', actor: 'controller', nowMs: world.nowMs }));
    const task = world.task(`${id}/0`);
    expect([task.state, task.preemptionCount]).toEqual([after, count]);
  });
});
