/** Why jobs wait: a table of clusters, the structured reason of each, its sentence and its short form. */
import { describe, expect, test } from 'vitest';
import { explanationSchema, type Explanation, type WaitReason } from '../../contract/explanation.js';
import { card, cards, gib, minute, TestCluster, worker } from '../test-cluster.js';
import { explainJob, explainShortly } from './explanation.js';
import { shortOf } from './words.js';

const h100 = (id: string, count: number, more = {}) =>
  worker(id, { cpuMillicores: 64_000, memoryBytes: 512 * gib, gpus: cards(count), ...more });

function contextOf(world: TestCluster) {
  return { cluster: world.cluster, decision: world.decide(), rules: world.rules, nowMs: world.nowMs };
}

function explain(world: TestCluster, jobId: string): Explanation {
  const explanation = explainJob(contextOf(world), jobId);
  if (explanation === null) throw new Error(`${jobId} does not wait`);
  // What goes over the wire is what the schema says.
  expect(explanationSchema.parse(explanation)).toEqual(explanation);
  return explanation;
}

interface Expected {
  readonly reason: Partial<WaitReason>;
  readonly message: string;
  readonly short: string;
}

const cases: readonly (readonly [string, (world: TestCluster) => void, Expected])[] = [
  [
    'GPUs that others hold: the machine that has most of them free',
    (world) => {
      world.cluster.setWorkers([h100('w1', 8), h100('w2', 8)]);
      const held = (count: number) => cards(count).map(({ uuid }) => uuid);
      world.run('/bob/a', 'w1', { devices: held(8), cpu: 1 });
      world.run('/bob/b', 'w2', { devices: held(6), cpu: 1 });
      world.submit('/ann/a', { gpuCount: 8, gpuVariant: 'h100' });
    },
    {
      reason: {
        kind: 'capacity',
        possible: 2,
        best: {
          workerId: 'w2',
          lacks: [{ resource: 'gpu', needed: 8, free: 2, total: 8 }],
          gpusUsedByOthers: 0,
          gpusNotAnswering: 0,
          gpusKept: 0,
        },
      },
      message: 'Waits for 8 h100 GPUs (2 of 8 free), on w2.',
      short: 'Needs 8 h100, best machine has 2',
    },
  ],
  [
    'GPUs that somebody else is busy on, that do not answer, or that are kept from jobs',
    (world) => {
      const silent = { usable: false };
      const gpus = [
        card(0),
        card(1, { busyByOthers: true }),
        card(2, silent),
        card(3, { ...silent, kept: true }),
      ];
      world.cluster.setWorkers([worker('w1', { gpus })]);
      world.submit('/ann/a', { gpuCount: 4 });
    },
    {
      reason: { kind: 'capacity', possible: 1 },
      message: 'Waits for 4 GPUs (1 of 4 free, 1 used by others, 1 not answering, 1 kept from jobs).',
      short: 'Needs 4 GPUs, best machine has 1',
    },
  ],
  [
    'processors and memory on the only machine',
    (world) => {
      world.cluster.setWorkers([worker('w1')]);
      world.run('/bob/a', 'w1', { cpu: 3, memoryBytes: 60 * gib });
      world.submit('/ann/a', { cpu: 2, memoryBytes: 8 * gib });
    },
    {
      reason: { kind: 'capacity' },
      message: 'Waits for 2 CPU cores (1 of 4 free), 8 GiB of memory (4 GiB of 64 GiB free).',
      short: 'Needs 2 cores and memory, best machine has 1',
    },
  ],
  [
    'more GPUs than any machine has',
    (world) => {
      world.cluster.setWorkers([h100('w1', 2)]);
      world.submit('/ann/a', { gpuCount: 8, gpuVariant: 'h100' });
    },
    {
      reason: { kind: 'too-large', cards: '2 h100' },
      message: 'Asked for 8 h100 GPUs; what there is: 2 h100.',
      short: 'Needs 8 h100, largest machine has 2',
    },
  ],
  [
    'constraints: how many machines each allows by itself',
    (world) => {
      world.cluster.setWorkers([
        worker('w1', { attributes: { zone: 'a', ssd: 'yes' } }),
        worker('w2', { attributes: { zone: 'b' } }),
        worker('w3', { attributes: { zone: 'b' } }),
      ]);
      world.submit('/ann/a', {
        constraints: [
          { key: 'zone', op: 'EQ', values: ['b'], mode: 'REQUIRED' },
          { key: 'ssd', op: 'EXISTS', values: [], mode: 'REQUIRED' },
        ],
      });
    },
    {
      reason: {
        kind: 'constraint',
        constraints: [
          { text: 'zone = "b"', key: 'zone', allows: 2, values: ['a', 'b'] },
          { text: 'attribute ssd', key: 'ssd', allows: 1, values: ['yes'] },
        ],
        machines: 3,
        together: 0,
      },
      message:
        'Asked for zone = "b" and attribute ssd; no one machine meets all of it ' +
        '(2 machines have zone = "b", 1 machine has attribute ssd).',
      short: 'No machine with attribute ssd (and 1 more)',
    },
  ],
  [
    'a constraint no machine meets: what there is instead',
    (world) => {
      world.cluster.setWorkers([worker('w1', { attributes: { zone: 'a' } })]);
      world.submit('/ann/a', {
        constraints: [{ key: 'zone', op: 'EQ', values: ['b'], mode: 'REQUIRED' }],
      });
    },
    {
      reason: { kind: 'constraint', machines: 1 },
      message: 'Asked for zone = "b"; zone is a.',
      short: 'No machine with zone = "b"',
    },
  ],
  [
    'a gang: how many of its tasks have room at once, and where',
    (world) => {
      world.cluster.setWorkers(
        ['w1', 'w2', 'w3'].map((id) => worker(id, { attributes: { rack: id === 'w3' ? 'b' : 'a' } })),
      );
      world.run('/bob/a', 'w1', { cpu: 3 });
      world.submit('/ann/gang', { cpu: 2, tasks: 4, gangBy: 'rack' });
    },
    {
      reason: { kind: 'gang', size: 4, fits: 2, largest: 4, groupBy: 'rack', group: 'a', groups: 2 },
      message: 'Waits for room for 4 tasks at once, each with 2 CPU cores, 1 GiB; rack a has room for 2.',
      short: 'Needs room for 4 at once, best group has 2',
    },
  ],
  [
    'a gang that is larger than every group',
    (world) => {
      world.cluster.setWorkers([worker('w1', { attributes: { rack: 'a' } })]);
      world.submit('/ann/gang', { cpu: 2, tasks: 3, gangBy: 'rack' });
    },
    {
      reason: { kind: 'gang', size: 3, fits: 2, largest: 2 },
      message:
        'Asked for 3 tasks at once, each with 2 CPU cores, 1 GiB; the largest group of machines holds 2.',
      short: 'Needs 3 at once, largest group holds 2',
    },
  ],
  [
    'build slots',
    (world) => {
      world.cluster.setWorkers([worker('w1', { buildSlots: 1 })]);
      world.run('/bob/a', 'w1', { state: 'BUILDING', startedAtMs: null });
      world.submit('/ann/a');
    },
    {
      reason: { kind: 'build-slots', workerId: 'w1', machines: 1 },
      message: 'Waits until w1 has started what it is starting: enough is free there.',
      short: 'Waits for other starts on w1',
    },
  ],
  [
    'a hold',
    (world) => {
      world.cluster.setWorkers([worker('w1')]);
      world.submit('/ann/a', { held: true });
    },
    {
      reason: { kind: 'hold' },
      message: 'Held: it starts after it is released.',
      short: 'Held',
    },
  ],
  [
    'a start that is not to be before a time',
    (world) => {
      world.cluster.setWorkers([worker('w1')]);
      world.submit('/ann/a', { startNotBeforeMs: Date.UTC(2026, 11, 1, 8) });
    },
    {
      reason: { kind: 'not-before', atMs: Date.UTC(2026, 11, 1, 8) },
      message: 'Starts no earlier than 2026-12-01 08:00:00 UTC.',
      short: 'Starts no earlier than 2026-12-01 08:00:00 UTC',
    },
  ],
  [
    'a dependency: which job, and what has become of it so far',
    (world) => {
      world.cluster.setWorkers([worker('w1')]);
      world.cluster.noteJobState('/ann/prepare', 'RUNNING');
      world.submit('/ann/a', { dependencies: [{ jobId: '/ann/prepare', on: 'success' }] });
    },
    {
      reason: { kind: 'dependency', jobs: [{ jobId: '/ann/prepare', on: 'success', state: 'RUNNING' }] },
      message: 'Waits for /ann/prepare to succeed (it runs).',
      short: 'Waits for prepare to succeed',
    },
  ],
  [
    'a quota',
    (world) => {
      world.cluster.setWorkers([worker('w1')]);
      const quota = { tasks: null, cpuMillicores: 2000, memoryBytes: null, gpuCount: null };
      world.cluster.setBudgets([{ user: 'ann', limit: 0, quota, cumulative: null }], 0);
      world.run('/ann/running', 'w1', { cpu: 1 });
      world.submit('/ann/a', { cpu: 2 });
    },
    {
      reason: {
        kind: 'quota',
        user: 'ann',
        parts: [{ resource: 'cpu', used: 1000, asked: 2000, quota: 2000 }],
      },
      message:
        'Waits: ann has as much in use as the quota allows (1 core used and 2 cores asked for, of 2 cores).',
      short: 'Quota of ann is used up',
    },
  ],
  [
    'a cap on tasks of one job',
    (world) => {
      world.cluster.setWorkers([worker('w1')]);
      world.run('/ann/a', 'w1', { uid: 'u1', taskId: '/ann/a/7' });
      world.submit('/ann/a', { maxActive: 1 });
    },
    {
      reason: { kind: 'job-cap', active: 1, most: 1 },
      message: 'Waits: 1 of its tasks may be active at the same time, and one is.',
      short: '1 of 1 tasks allowed at once are active',
    },
  ],
  [
    'machines that are not healthy',
    (world) => {
      world.cluster.setWorkers([worker('w1', { healthy: false })]);
      world.submit('/ann/a');
    },
    {
      reason: { kind: 'no-machine', workerIds: ['w1'] },
      message: 'No machine is ready: w1 not healthy.',
      short: 'No machine is ready',
    },
  ],
  [
    'no machine',
    (world) => {
      world.submit('/ann/a');
    },
    {
      reason: { kind: 'no-machine', workerIds: [] },
      message: 'No machine has reported yet.',
      short: 'No machine is ready',
    },
  ],
  [
    'the words of whatever else forbids it',
    (world) => {
      world.cluster.setWorkers([worker('w1')]);
      const message = 'Waits for the run of this name before it to be gone.';
      world.submit('/ann/a', { blocked: { code: 'WAITS_FOR_PREDECESSOR', message } });
    },
    {
      reason: { kind: 'backend', code: 'WAITS_FOR_PREDECESSOR' },
      message: 'Waits for the run of this name before it to be gone.',
      short: 'Waits for the run of this name before it to be gone',
    },
  ],
];

describe('why a job waits', () => {
  test.each(cases)('%s', (_, set, { reason, message, short }) => {
    const world = new TestCluster([]);
    set(world);
    const jobId = [...world.cluster.queue.jobs.keys()].at(-1) ?? '';
    const explanation = explain(world, jobId);
    expect(explanation.reasons[0]).toMatchObject(reason);
    expect({ message: explanation.message, short: explanation.short }).toEqual({ message, short });
    expect(explainShortly(contextOf(world), jobId)).toBe(short);
  });

  test('a demotion comes with its numbers', () => {
    const world = new TestCluster([worker('w1')]);
    world.cluster.setBudgets([], 10);
    world.run('/ann/running', 'w1', { cpu: 4, memoryBytes: gib, band: 'INTERACTIVE' });
    world.submit('/ann/a', { cpu: 1 });
    const explanation = explain(world, '/ann/a');
    expect(explanation.reasons[1]).toEqual({
      kind: 'demoted',
      user: 'ann',
      asked: 'INTERACTIVE',
      effective: 'BATCH',
      spend: 21,
      limit: 10,
    });
    expect(explanation.message).toBe(
      'Waits for 1 CPU core (0 of 4 free). ' +
        'Demoted to BATCH, asked for INTERACTIVE, because ann has 21 of 10 in use.',
    );
    expect(explanation.remedies.find(({ kind }) => kind === 'raise-limit')).toMatchObject({
      limit: 21,
      text: 'It competes as INTERACTIVE again when ann uses no more than 10, or with a limit of at least 21.',
    });
  });

  test('a place that waits for its victim: which, and until when', () => {
    const world = new TestCluster([worker('w1')]);
    const uid = world.run('/bob/a', 'w1', { cpu: 4, band: 'BATCH' });
    world.submit('/ann/a', { cpu: 2, band: 'PRODUCTION' });
    world.round();
    const deadlineOf = () => Date.UTC(2026, 11, 1, 8);
    const explanation = explainJob({ ...contextOf(world), deadlineOf }, '/ann/a');
    expect(explanation?.reasons).toEqual([
      {
        kind: 'victim',
        workerId: 'w1',
        attempts: [{ uid, taskId: '/bob/a/0' }],
        untilMs: Date.UTC(2026, 11, 1, 8),
      },
    ]);
    expect(explanation?.message).toBe(
      'Starts on w1; waits until /bob/a/0 has left, by 2026-12-01 08:00:00 UTC at the latest.',
    );
    expect(explanation?.short).toBe('Waits for 1 task to leave w1');
  });

  test('a reservation: which machines, and from when', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { cpu: 3, startedAtMs: world.nowMs, limitMs: 30 * minute });
    world.submit('/ann/large', { cpu: 4 });
    world.nowMs += 16 * minute;
    const { reasons, short } = explain(world, '/ann/large');
    const startMs = world.nowMs + 14 * minute;
    expect(reasons[0]).toEqual({ kind: 'reserved', workerIds: ['w1'], startMs });
    expect(reasons[1]).toMatchObject({ kind: 'capacity' });
    expect(short).toBe('Kept for it from 1970-01-12 14:16:40 UTC');
  });

  test('what is free but kept for another job is not offered', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { cpu: 3 });
    world.submit('/ann/large', { cpu: 4 });
    world.nowMs += 16 * minute;
    world.submit('/cid/small', { cpu: 1 });
    expect(explain(world, '/cid/small').message).toBe(
      'Waits for its turn: what is free on w1 is kept for others.',
    );
  });

  test('a gang is not offered machines kept for another job', () => {
    const world = new TestCluster(['w1', 'w2'].map((id) => worker(id, { attributes: { rack: 'a' } })));
    for (const id of ['w1', 'w2']) world.run(`/bob/${id}`, id, { cpu: 2 });
    world.submit('/ann/large', { cpu: 4 });
    world.nowMs += 16 * minute;
    world.submit('/cid/gang', { cpu: 2, tasks: 2, gangBy: 'rack' });
    expect(explain(world, '/cid/gang').reasons[0]).toMatchObject({ kind: 'gang', size: 2, fits: 1 });
  });

  test('a job that does not wait has no explanation', () => {
    const world = new TestCluster([worker('w1')]);
    world.submit('/ann/a');
    expect(explainJob(contextOf(world), '/ann/none')).toBeNull();
    world.round();
    expect(explainJob(contextOf(world), '/ann/a')).toBeNull();
  });

  test('short texts are never longer than 60 characters', () => {
    const message = 'The volume that the pod asks for is not bound to any claim of its namespace so far.';
    expect(shortOf({ kind: 'backend', code: 'WAITS_BACKEND_NOT_READY', message })).toBe(
      'The volume that the pod asks for is not bound to any claim …',
    );
  });
});
