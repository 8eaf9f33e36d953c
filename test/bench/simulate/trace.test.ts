import { expect, test } from 'vitest';
import { mean, quantile } from './statistics.js';
import { arrivalRate, dayMs, gpuHoursOf, hourMs, makeTrace, minuteMs, type TraceJob } from './trace.js';

const options = { seed: 1, days: 28, gpus: 512, load: 0.85 };
const trace = makeTrace(options);
const gpuJobs = trace.filter(({ gpuCount }) => gpuCount > 0);
const share = (jobs: readonly TraceJob[], test: (job: TraceJob) => boolean) =>
  jobs.filter(test).length / jobs.length;
const gpuHours = (jobs: readonly TraceJob[]) => jobs.reduce((sum, job) => sum + gpuHoursOf(job), 0);

test('the same seed makes the same trace, another one another', () => {
  const short = { ...options, days: 1 };
  expect(makeTrace(short)).toEqual(makeTrace(short));
  expect(makeTrace({ ...short, seed: 2 })).not.toEqual(makeTrace(short));
});

test('as much is asked for as the load says, whatever the seed', () => {
  const wanted = 0.85 * 512 * 24 * 28;
  expect(gpuHours(trace)).toBeGreaterThanOrEqual(wanted);
  // No more than one job beyond it: 64 GPUs for three days.
  expect(gpuHours(trace)).toBeLessThan(wanted + 64 * 73);
});

test('most jobs ask for one GPU; few gangs of 8 to 64 take most of the time', () => {
  expect(share(gpuJobs, ({ size }) => size === '1 GPU')).toBeCloseTo(0.68, 1);
  const gangs = gpuJobs.filter(({ size }) => size === 'gang');
  expect(gangs.length / gpuJobs.length).toBeCloseTo(0.05, 1);
  expect(new Set(gangs.map(({ tasks, gpuCount }) => tasks * gpuCount))).toEqual(new Set([8, 16, 32, 64]));
  const large = gpuJobs.filter(({ tasks, gpuCount }) => tasks * gpuCount >= 8);
  expect(large.length / gpuJobs.length).toBeLessThan(0.15);
  expect(gpuHours(large) / gpuHours(gpuJobs)).toBeGreaterThan(0.6);
  expect(gpuHours(gpuJobs.filter(({ size }) => size === '1 GPU')) / gpuHours(gpuJobs)).toBeLessThan(0.12);
});

test('durations have a heavy tail: the mean is many times the median', () => {
  const minutes = gpuJobs.map(({ workMs }) => workMs / minuteMs);
  expect(quantile(minutes, 0.5)).toBeLessThan(15);
  expect(mean(minutes)).toBeGreaterThan(8 * quantile(minutes, 0.5));
  expect(Math.max(...minutes)).toBe(72 * 60);
});

test('arrivals follow day and night, and halve at the weekend', () => {
  expect(arrivalRate(15 * hourMs)).toBeCloseTo(1.6, 12);
  expect(arrivalRate(3 * hourMs)).toBeCloseTo(0.4, 12);
  expect(arrivalRate(5 * dayMs + 15 * hourMs)).toBeCloseTo(0.8, 12);
  const hours = (from: number, to: number) =>
    share(
      trace,
      ({ submittedAtMs }) => submittedAtMs % dayMs >= from * hourMs && submittedAtMs % dayMs < to * hourMs,
    );
  expect(hours(12, 18)).toBeGreaterThan(2.5 * hours(0, 6));
  const weekend = share(trace, ({ submittedAtMs }) => Math.floor(submittedAtMs / dayMs) % 7 >= 5);
  expect(weekend).toBeCloseTo(1 / 6, 1);
  expect(trace.every(({ submittedAtMs }, at) => submittedAtMs >= (trace[at - 1]?.submittedAtMs ?? 0))).toBe(
    true,
  );
});

test('few users own most of the jobs', () => {
  const counts = new Map<string, number>();
  for (const { user } of trace) counts.set(user, (counts.get(user) ?? 0) + 1);
  const [first = 0, second = 0] = [...counts.values()].sort((left, right) => right - left);
  expect(counts.size).toBe(40);
  expect((first + second) / trace.length).toBeGreaterThan(0.4);
});

test('half of all jobs name a limit, a round one that never cuts them short', () => {
  expect(share(trace, ({ limitMs }) => limitMs !== null)).toBeCloseTo(0.5, 1);
  const wrong = trace.filter(
    ({ limitMs, workMs }) => limitMs !== null && (limitMs < workMs || limitMs % (15 * minuteMs) !== 0),
  );
  expect(wrong).toEqual([]);
});

test('only jobs with GPUs keep checkpoints, and about half of those save when told to leave', () => {
  expect(share(gpuJobs, ({ checkpointEveryMs }) => checkpointEveryMs !== null)).toBeCloseTo(0.6, 1);
  const kept = trace.filter(({ checkpointEveryMs }) => checkpointEveryMs !== null);
  expect(kept.every(({ gpuCount }) => gpuCount > 0)).toBe(true);
  expect(share(kept, ({ saveMs }) => saveMs !== null)).toBeCloseTo(0.5, 1);
  // The longest grace a job may name is ten minutes.
  expect(Math.max(...kept.map(({ saveMs }) => saveMs ?? 0))).toBeLessThan(10 * minuteMs);
});
