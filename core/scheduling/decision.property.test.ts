/** Random clusters under random load: what holds of every decision, and of what follows from them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bandRank, bands, type Band } from '../contract/states.js';
import type { Decision } from './decision.js';
import type { SchedulingGpu, SchedulingWorker } from './free.js';
import { differences, inputOf, replay, type RoundInput } from './replay.js';
import { sharedRight } from './test-sharing.js';
import { cards, gib, minute, TestCluster, worker } from './test-cluster.js';

/** Found ones stay: each is run again before the random ones. */
const seeds = [1, 42, 20_240_611];

const machine = fc.record({
  cpu: fc.constantFrom(2, 4, 8),
  gpus: fc.constantFrom(0, 0, 2, 4),
  rack: fc.constantFrom('a', 'b'),
});

const submission = fc.record({
  kind: fc.constant('submit' as const),
  user: fc.constantFrom('ann', 'bob', 'cid'),
  band: fc.constantFrom(...bands),
  cpu: fc.constantFrom(1, 2, 3, 5),
  gpus: fc.constantFrom(0, 0, 1, 2),
  /** GiB on each card; null: alone. */
  share: fc.option(fc.constantFrom(1, 4, 9, 20), { nil: null }),
  tasks: fc.integer({ min: 1, max: 4 }),
  gang: fc.boolean(),
  rack: fc.option(fc.constantFrom('a', 'b'), { nil: null }),
  limit: fc.option(fc.integer({ min: 1, max: 60 }), { nil: null }),
  finishBy: fc.option(fc.integer({ min: 1, max: 90 }), { nil: null }),
});

const step = fc.oneof(
  { weight: 5, arbitrary: submission },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), at: fc.nat(1000) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('gone' as const), at: fc.nat(1000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('told' as const), at: fc.nat(1000) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 20 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sick' as const), at: fc.nat(1000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('hold' as const), at: fc.nat(1000) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('memory' as const),
      at: fc.nat(1000),
      used: fc.array(fc.integer({ min: 0, max: 24 }), { minLength: 4, maxLength: 4 }),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const history = fc.record({
  machines: fc.array(machine, { minLength: 1, maxLength: 5 }),
  steps: fc.array(step, { minLength: 1, maxLength: 40 }),
  limit: fc.constantFrom(0, 20, 1000),
});

/** Cards of 24 GiB, one of which tells nothing of its memory. */
function seen(index: number, usedGib = 0): Partial<SchedulingGpu> {
  return index === 3 ? {} : { memory: { totalBytes: 24 * gib, usedBytes: usedGib * gib } };
}

function machinesOf(list: readonly { cpu: number; gpus: number; rack: string }[]): SchedulingWorker[] {
  return list.map(({ cpu, gpus, rack }, at) =>
    worker(`w${at}`, { cpuMillicores: cpu * 1000, gpus: cards(gpus, seen), attributes: { rack } }),
  );
}

function isShared({ share, gpus }: Extract<Step, { kind: 'submit' }>): boolean {
  return share !== null && gpus > 0;
}

function apply(world: TestCluster, action: Step, jobs: number): void {
  const { cluster } = world;
  const held = [...cluster.holdings.held.values()].map(({ attempt }) => attempt);
  switch (action.kind) {
    case 'submit':
      world.submit(`/${action.user}/job-${jobs}`, {
        band: action.band,
        cpu: action.cpu,
        gpuCount: action.gpus,
        tasks: action.tasks,
        gangBy: action.gang && !isShared(action) ? 'rack' : null,
        sharedGpuBytes: isShared(action) ? (action.share ?? 0) * gib : null,
        limitMs: action.limit === null ? null : action.limit * minute,
        finishByMs: action.finishBy === null ? null : world.nowMs + action.finishBy * minute,
        constraints:
          action.rack === null ? [] : [{ key: 'rack', op: 'EQ', values: [action.rack], mode: 'REQUIRED' }],
      });
      return;
    case 'end': {
      // A gang ends as a whole here; what it leaves behind is verified gone later.
      const ended = held.filter(({ leaving, state }) => leaving === 'no' && state !== 'ENDING');
      const chosen = ended[action.at % Math.max(1, ended.length)];
      for (const attempt of ended) {
        if (attempt.uid === chosen?.uid || (attempt.gang && attempt.jobId === chosen?.jobId))
          cluster.putAttempt({ ...attempt, state: 'ENDING' });
      }
      return;
    }
    case 'gone': {
      const leaving = held.filter((attempt) => attempt.leaving === 'told' || attempt.state === 'ENDING');
      const chosen = leaving[action.at % Math.max(1, leaving.length)];
      if (chosen !== undefined) world.gone(chosen.uid);
      return;
    }
    case 'told': {
      const asked = held.filter((attempt) => attempt.leaving === 'asked');
      const chosen = asked[action.at % Math.max(1, asked.length)];
      for (const attempt of asked) {
        if (attempt.uid === chosen?.uid || (attempt.gang && attempt.jobId === chosen?.jobId))
          world.leave(attempt.uid, 'told');
      }
      return;
    }
    case 'wait':
      world.nowMs += action.minutes * minute;
      return;
    case 'sick': {
      const { workers } = cluster.table;
      cluster.setWorkers(
        workers.map((one, at) =>
          at === action.at % workers.length ? { ...one, healthy: !one.healthy } : one,
        ),
      );
      return;
    }
    case 'memory': {
      const { workers } = cluster.table;
      cluster.setWorkers(
        workers.map((one, at) =>
          at === action.at % workers.length
            ? {
                ...one,
                gpus: one.gpus.map((gpu) => ({ ...gpu, ...seen(gpu.index, action.used[gpu.index]) })),
              }
            : one,
        ),
      );
      return;
    }
    case 'hold': {
      const entries = [...cluster.queue.jobs.values()];
      const job = entries[action.at % Math.max(1, entries.length)]?.job;
      if (job !== undefined) cluster.putJob({ ...job, held: !job.held });
    }
  }
}

/** Everything wrong with a decision about that input. */
function faults(input: RoundInput, decision: Decision): string[] {
  return [
    ...conservation(input, decision),
    ...wholeGangs(input, decision),
    ...justEvictions(input, decision),
    ...orderKept(input, decision),
    ...sharedRight(input, decision),
    ...differences(decision, replay(shuffled(input))).map((name) => `${name} differs when decided again`),
  ];
}

/** The same rows in another order. */
function shuffled(input: RoundInput): RoundInput {
  const plain = JSON.parse(JSON.stringify(input)) as RoundInput;
  return {
    ...plain,
    workers: plain.workers.toReversed(),
    jobs: plain.jobs.toReversed(),
    attempts: plain.attempts.toReversed(),
    claims: plain.claims.toReversed(),
  };
}

function conservation(input: RoundInput, decision: Decision): string[] {
  return input.jobs.flatMap(({ job, indexes }) => {
    const placed = decision.placed
      .filter((one) => one.jobId === job.id && !one.hadClaim)
      .map(({ index }) => index);
    const never = decision.unschedulable
      .filter(({ jobId }) => jobId === job.id)
      .flatMap((one) => one.indexes);
    const waits = decision.waiting
      .filter(({ jobId }) => jobId === job.id)
      .reduce((sum, one) => sum + one.count, 0);
    const lists = [...placed, ...never];
    const right = new Set(lists).size === lists.length && lists.every((index) => indexes.includes(index));
    return right && lists.length + waits === indexes.length ? [] : [`${job.id}: tasks in no list or in two`];
  });
}

function wholeGangs(input: RoundInput, decision: Decision): string[] {
  return input.jobs.flatMap(({ job, indexes }) => {
    if (job.gangBy === null) return [];
    const placed = decision.placed.filter(({ jobId }) => jobId === job.id);
    const claims = input.claims.filter(({ jobId }) => jobId === job.id);
    const racks = new Set(
      placed.map(
        ({ workerId }) => input.workers.find(({ id }) => id === workerId)?.attributes[job.gangBy ?? ''],
      ),
    );
    const problems: string[] = [];
    if (placed.length !== 0 && placed.length !== indexes.length && placed.length !== claims.length)
      problems.push(`${job.id}: ${placed.length} of ${indexes.length} members placed`);
    if (racks.size > 1) problems.push(`${job.id}: in ${racks.size} groups`);
    if (new Set(placed.map(({ waitsFor }) => waitsFor.join())).size > 1)
      problems.push(`${job.id}: members do not start together`);
    return problems;
  });
}

function justEvictions(input: RoundInput, decision: Decision): string[] {
  return decision.evictions.flatMap(({ uid, forJob, forBand }) => {
    const victim = input.attempts.find((attempt) => attempt.uid === uid);
    const problems: string[] = [];
    if (victim === undefined || bandRank(victim.band) <= bandRank(forBand))
      problems.push(`${uid}: ${victim?.band} evicted for ${forBand}`);
    if (!decision.placed.some(({ jobId, waitsFor }) => jobId === forJob && waitsFor.length > 0))
      problems.push(`${uid}: evicted for ${forJob}, which got no place`);
    if (victim?.gang === true) {
      const siblings = input.attempts.filter(
        ({ jobId, leaving, state }) => jobId === victim.jobId && leaving === 'no' && state !== 'ENDING',
      );
      const all = siblings.every((sibling) => decision.evictions.some((one) => one.uid === sibling.uid));
      if (!all) problems.push(`${uid}: evicted without its siblings`);
    }
    return problems;
  });
}

/** Without what worse bands were given, nobody who waits for room would have had it. */
function orderKept(input: RoundInput, decision: Decision): string[] {
  const reserved = new Set(decision.reservations.flatMap(({ workerIds }) => workerIds));
  return decision.waiting.flatMap(({ jobId, code }) => {
    const job = input.jobs.find((one) => one.job.id === jobId)?.job;
    if (job === undefined || job.gangBy !== null || code !== 'capacity') return [];
    // Whether a part of a card was free is for `sharedRight`.
    if ((job.sharedGpuBytes ?? null) !== null) return [];
    const fits = input.workers.find((machine) => {
      if (reserved.has(machine.id) || !machine.healthy) return false;
      if (job.constraints.some(({ values }) => values[0] !== machine.attributes['rack'])) return false;
      const used = [
        ...input.attempts.filter(({ workerId }) => workerId === machine.id),
        ...[...input.claims, ...decision.placed]
          .filter(({ workerId, band }) => workerId === machine.id && bandRank(band) <= rankOf(job.band))
          .map((one) => ({ ...askedBy(input, one.jobId), devices: one.devices })),
      ];
      const cpu = used.reduce((sum, one) => sum + one.cpuMillicores, 0);
      const devices = new Set(used.flatMap((one) => one.devices));
      return (
        machine.cpuMillicores - cpu >= job.cpuMillicores && machine.gpus.length - devices.size >= job.gpuCount
      );
    });
    return fits === undefined ? [] : [`${jobId} waits, but ${fits.id} had room for it`];
  });
}

/** A demoted job competes in BATCH: nothing is worse. */
function rankOf(band: Band): number {
  return band === 'INTERACTIVE' ? bandRank('BATCH') : bandRank(band);
}

function askedBy(input: RoundInput, jobId: string): { readonly cpuMillicores: number } {
  return { cpuMillicores: input.jobs.find(({ job }) => job.id === jobId)?.job.cpuMillicores ?? 0 };
}

describe('our rules', () => {
  const property = fc.property(history, ({ machines, steps, limit }) => {
    const world = new TestCluster(machinesOf(machines));
    world.cluster.setBudgets([], limit);
    for (const [at, action] of steps.entries()) {
      apply(world, action, at);
      const input = structuredClone(inputOf(world.cluster, world.nowMs, world.rules));
      const decision = world.round();
      expect(faults(input, decision)).toEqual([]);
      expect(world.violations()).toEqual([]);
    }
  });

  test.each(seeds)('seed %i: every decision keeps the rules', (seed) => {
    fc.assert(property, { seed, numRuns: 100 });
  });

  test('a finite load on a big enough cluster drains', () => {
    const load = fc.record({
      machines: fc.array(machine, { minLength: 1, maxLength: 4 }),
      jobs: fc.array(submission, { minLength: 1, maxLength: 25 }),
    });
    fc.assert(
      fc.property(load, ({ machines, jobs }) => {
        // One machine of each rack that holds the largest gang there is.
        const large = ['a', 'b'].map((rack) =>
          worker(`large-${rack}`, {
            cpuMillicores: 20_000,
            memoryBytes: 64 * gib,
            gpus: cards(8),
            attributes: { rack },
          }),
        );
        const world = new TestCluster([...machinesOf(machines), ...large]);
        for (const [at, job] of jobs.entries()) apply(world, { ...job, finishBy: null }, at);
        drain(world, 40 * jobs.length);
        expect([world.cluster.queue.tasks, world.cluster.holdings.claimCount]).toEqual([0, 0]);
      }),
      { seed: 7, numRuns: 60 },
    );
  });
});

test.each(seeds)('seed %i: the original’s rules give nothing twice, and gangs whole', (seed) => {
  fc.assert(
    fc.property(history, ({ machines, steps, limit }) => {
      const world = new TestCluster(machinesOf(machines), 'original');
      world.cluster.setBudgets([], limit);
      for (const [at, action] of steps.entries()) {
        apply(world, action, at);
        const input = structuredClone(inputOf(world.cluster, world.nowMs, world.rules));
        const decision = world.round();
        expect([
          ...conservation(input, decision),
          ...wholeGangs(input, decision),
          ...justEvictions(
            { ...input, attempts: input.attempts.map((one) => ({ ...one, gang: false })) },
            decision,
          ),
          ...differences(decision, replay(shuffled(input))),
          ...world.violations(),
        ]).toEqual([]);
      }
    }),
    { seed, numRuns: 60 },
  );
});

/** Everything that runs ends after a minute, everything on its way out goes. Victims wait again. */
function drain(world: TestCluster, most: number): void {
  const { cluster } = world;
  for (let round = 0; round < most && cluster.queue.tasks + cluster.holdings.claimCount > 0; round += 1) {
    const decision = world.round();
    for (const { jobId, taskId } of decision.evictions) again(world, jobId, taskId);
    world.allGone();
    if (decision.placed.length === 0) {
      for (const { attempt } of [...cluster.holdings.held.values()]) world.gone(attempt.uid);
    }
    world.nowMs += minute;
  }
}

function again(world: TestCluster, jobId: string, taskId: string): void {
  world.cluster.addTask(jobId, Number(taskId.slice(taskId.lastIndexOf('/') + 1)));
}

test('no livelock of mutual eviction over 10,000 rounds of random load', () => {
  let state = 12_345;
  const random = (bound: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % bound;
  };
  const world = new TestCluster(
    machinesOf([0, 1, 2, 3].map((at) => ({ cpu: 4, gpus: 2, rack: 'ab'[at % 2] ?? 'a' }))),
  );
  world.cluster.setBudgets([], 30);
  const evictions = new Map<string, number>();
  let submitted = 0;
  for (let round = 0; round < 10_000; round += 1) {
    if (round < 9_000 && world.cluster.queue.tasks < 30 && random(3) === 0) {
      submitted += 1;
      world.submit(`/user-${random(4)}/job-${submitted}`, {
        band: bands[random(4)] ?? 'BATCH',
        cpu: 1 + random(4),
        gpuCount: random(3),
        tasks: 1 + random(2),
        gangBy: random(8) === 0 ? 'rack' : null,
      });
    }
    const decision = world.round();
    for (const { jobId, taskId } of decision.evictions) {
      evictions.set(taskId, (evictions.get(taskId) ?? 0) + 1);
      again(world, jobId, taskId);
    }
    world.allGone();
    for (const { attempt } of [...world.cluster.holdings.held.values()]) {
      const ranMs = world.nowMs - (attempt.startedAtMs ?? world.nowMs);
      if (ranMs >= 10 * minute && random(4) === 0) world.gone(attempt.uid);
    }
    world.nowMs += minute;
    if (round % 50 === 0) expect(world.violations()).toEqual([]);
  }
  expect(submitted).toBeGreaterThan(500);
  expect([...evictions.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(100);
  // When nothing new comes, everything runs to its end.
  drain(world, 2_000);
  expect([world.cluster.queue.tasks, world.cluster.holdings.claimCount]).toEqual([0, 0]);
}, 120_000);
