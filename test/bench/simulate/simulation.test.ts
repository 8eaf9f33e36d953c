import { expect, test } from 'vitest';
import { figureNames, figuresOf, lostGpuHours } from './figures.js';
import { budgets, machines } from './machines.js';
import { simulate, type Policy } from './simulation.js';
import { hourMs, makeTrace, minuteMs, startUpMs, type TraceJob } from './trace.js';

const gib = 2 ** 30;
const policies: readonly Policy[] = ['original', 'ours'];

function job(id: string, more: Partial<TraceJob> = {}): TraceJob {
  return {
    id,
    user: id.split('/')[1] ?? '',
    band: 'BATCH',
    size: '8 GPUs',
    submittedAtMs: 0,
    tasks: 1,
    cpuMillicores: 64_000,
    memoryBytes: 768 * gib,
    gpuCount: 8,
    workMs: 2 * hourMs,
    limitMs: null,
    checkpointEveryMs: null,
    saveMs: null,
    ...more,
  };
}

function run(policy: Policy, trace: readonly TraceJob[], count = 1) {
  return simulate({ policy, machines: machines(count), budgets: budgets(), trace });
}

test.each(policies)('%s: every job ends, does all its work, and the same way twice', (policy) => {
  const trace = makeTrace({ seed: 5, days: 1, gpus: 64, load: 0.9 });
  const course = run(policy, trace, 16);
  expect(course.outcomes.map(({ job: { id } }) => id).sort()).toEqual(trace.map(({ id }) => id).sort());
  const work = trace.reduce((sum, { tasks, gpuCount, workMs }) => sum + tasks * gpuCount * workMs, 0);
  const useful = course.stays.reduce(
    (sum, stay) => sum + stay.gpus * (stay.usefulUntilMs - stay.usefulFromMs),
    0,
  );
  expect(useful).toBe(work);
  expect(run(policy, trace, 16)).toEqual(course);
});

test.each(policies)('%s: what waits starts when the machine is free', (policy) => {
  const trace = [job('/ann/a'), job('/bob/b', { submittedAtMs: minuteMs })];
  const { outcomes } = run(policy, trace);
  const endMs = startUpMs + 2 * hourMs;
  // The original looks every ten seconds.
  const nextMs = policy === 'ours' ? endMs : endMs + 10_000;
  expect(outcomes.map(({ finishedAtMs, waitedMs }) => [finishedAtMs, waitedMs])).toEqual([
    [endMs, 0],
    [nextMs + endMs, nextMs - minuteMs],
  ]);
});

test.each([
  ['original', 'saves when told', { checkpointEveryMs: 30 * minuteMs, saveMs: 20_000 }, 60, 5],
  ['ours', 'saves when told', { checkpointEveryMs: 30 * minuteMs, saveMs: 20_000 }, 80, 20],
  ['ours', 'keeps checkpoints alone', { checkpointEveryMs: 30 * minuteMs }, 60, 5],
  ['ours', 'keeps nothing', {}, 0, 5],
] as const)('%s: a victim that %s', (policy, _, more, keptMinutes, goneSeconds) => {
  const atMs = startUpMs + 80 * minuteMs;
  const rush = job('/ann/rush', { band: 'PRODUCTION', submittedAtMs: atMs, workMs: minuteMs });
  const { stays, outcomes } = run(policy, [job('/bob/victim', more), rush]);
  const [victim] = stays;
  const goneAtMs = atMs + 1000 * goneSeconds;
  expect(victim).toMatchObject({
    evicted: true,
    goneAtMs,
    usefulUntilMs: startUpMs + keptMinutes * minuteMs,
  });
  expect(outcomes.map(({ job: { id }, evictions }) => [id, evictions])).toEqual([
    ['/ann/rush', 0],
    ['/bob/victim', 1],
  ]);
  const lostMs = goneAtMs - (keptMinutes === 0 ? 0 : startUpMs + keptMinutes * minuteMs);
  expect(victim === undefined ? null : lostGpuHours(victim)).toBeCloseTo((8 * lostMs) / hourMs, 9);
});

test('figures: GPUs in use and held, of those there are', () => {
  const course = run('ours', [job('/ann/a', { workMs: 12 * hourMs - startUpMs })]);
  const figures = figuresOf(course, { days: 1, gpus: 8 });
  expect(figures[figureNames.held]?.value).toBeCloseTo(50, 9);
  expect(figures[figureNames.utilization]?.value).toBeCloseTo(
    (100 * (12 * hourMs - startUpMs)) / (24 * hourMs),
    9,
  );
  expect(figures[figureNames.gangs]).toEqual({ value: null, jobs: 0 });
});
