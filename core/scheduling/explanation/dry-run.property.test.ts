/** Over random clusters: a dry run says what a submission then gets and changes nothing; every job that waits is told why, in words. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { explanationSchema } from '../../contract/explanation.js';
import { bands } from '../../contract/states.js';
import { differences, inputOf, replay } from '../replay.js';
import { cards, minute, TestCluster, worker } from '../test-cluster.js';
import { dryRun } from './dry-run.js';
import { explainJob, explainShortly } from './explanation.js';
import { project } from './projection.js';

const submission = fc.record({
  user: fc.constantFrom('ann', 'bob', 'cid'),
  band: fc.constantFrom(...bands),
  cpu: fc.constantFrom(1, 2, 3, 5, 9),
  gpus: fc.constantFrom(0, 0, 1, 2, 4),
  tasks: fc.integer({ min: 1, max: 4 }),
  gang: fc.boolean(),
  rack: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: null }),
  limit: fc.option(fc.integer({ min: 1, max: 60 }), { nil: null }),
  held: fc.boolean(),
});

const history = fc.record({
  machines: fc.array(
    fc.record({
      cpu: fc.constantFrom(2, 4, 8),
      gpus: fc.constantFrom(0, 2, 4),
      rack: fc.constantFrom('a', 'b'),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  jobs: fc.array(fc.record({ job: submission, minutes: fc.integer({ min: 0, max: 20 }) }), {
    minLength: 1,
    maxLength: 15,
  }),
  limit: fc.constantFrom(0, 20),
});

test.each([1, 42, 2026])('seed %i', (seed) => {
  const property = fc.property(history, ({ machines, jobs, limit }) => {
    const world = new TestCluster(
      machines.map(({ cpu, gpus, rack }, at) =>
        worker(`w${at}`, { cpuMillicores: cpu * 1000, gpus: cards(gpus), attributes: { rack } }),
      ),
    );
    world.cluster.setBudgets([], limit);
    // A dry run tells what would be evicted once nobody is patient any more.
    world.rules = { ...world.rules, patienceMs: 0 };
    for (const [at, { job, minutes }] of jobs.entries()) {
      const { user, band, cpu, gpus: gpuCount, tasks, gang, rack, held } = job;
      const asked = {
        band,
        cpu,
        gpuCount,
        tasks,
        gangBy: gang ? 'rack' : null,
        limitMs: job.limit === null ? null : job.limit * minute,
        held: held && at % 3 === 0,
        constraints:
          rack === null
            ? []
            : [{ key: 'rack', op: 'EQ' as const, values: [rack], mode: 'REQUIRED' as const }],
      };
      world.nowMs += minutes * minute;
      const id = world.submit(`/${user}/job-${at}`, asked);
      const request = world.cluster.queue.jobs.get(id)?.job;
      if (request === undefined) throw new Error(`no job ${id}`);
      world.cluster.removeJob(id);
      const before = inputOf(world.cluster, world.nowMs, world.rules);
      const tried = dryRun(world.scheduler, request, tasks, world.nowMs, world.rules);
      expect(inputOf(world.cluster, world.nowMs, world.rules)).toEqual(before);

      world.submit(id, asked);
      world.cluster.putJob(request);
      const input = structuredClone(inputOf(world.cluster, world.nowMs, world.rules));
      const decision = world.decide();
      expect(differences(decision, replay(input))).toEqual([]);
      const placed = decision.placed.filter(({ jobId }) => jobId === id);
      expect(tried.places.map(({ index, workerId }) => `${index} ${workerId}`)).toEqual(
        placed.map(({ index, workerId }) => `${index} ${workerId}`),
      );
      world.round();
      everyoneIsTold(world);
    }
    const { madeAtMs, starts } = project(world.cluster, world.nowMs, world.rules);
    for (const { startMs } of starts.values()) expect(startMs).toBeGreaterThanOrEqual(madeAtMs);
  });
  fc.assert(property, { seed, numRuns: 25 });
});

function everyoneIsTold(world: TestCluster): void {
  const { cluster, rules, nowMs } = world;
  const context = { cluster, decision: world.decide(), rules, nowMs };
  for (const [jobId, { indexes, claims }] of cluster.queue.jobs) {
    if (indexes.length + claims.length === 0) continue;
    const explanation = explanationSchema.parse(explainJob(context, jobId));
    expect(explanation.short).toBe(explainShortly(context, jobId));
    const words = [explanation.message, explanation.short, ...explanation.remedies.map(({ text }) => text)];
    for (const text of words) expect(text).not.toMatch(/undefined|NaN|Infinity|null|^$/);
  }
}
