/**
 * What one decision costs: over the standing load of a busy cluster, as clusters grow, in a storm of evictions, and when nothing has
 * changed. Times are those of the deciding thread.
 */
import { performance } from 'node:perf_hooks';
import { bands } from '../../core/contract/states.js';
import { dryRun } from '../../core/scheduling/explanation/dry-run.js';
import { project } from '../../core/scheduling/explanation/projection.js';
import { ourRules } from '../../core/scheduling/rules.js';
import type { Scheduler } from '../../core/scheduling/scheduler.js';
import { compare, limit, percentile, type BenchContext } from './harness.js';
import {
  carryOut,
  loadedScheduler,
  nowMs,
  queuedJob,
  standardLoad,
  standingScheduler,
  storm,
  type Load,
} from './scheduler-load.js';

export const name = 'scheduler';

/** Tasks of a queue that stands: half as many more are made, because some find a place. */
const madePerWaiting = 1.5;

export function run(context: BenchContext): void {
  standing(context);
  evictionStorm(context);
  dryRuns(context);
  idle(context);
  coldLoad(context);
  // Last, as it leaves a large heap behind.
  growth(context);
}

/**
 * Milliseconds of processor time of a decision after each of `count` changes, a tenth of a second apart: a job comes, is decided about, and goes.
 */
function measure(scheduler: Scheduler, count: number, warmUp: number): number[] {
  const { cluster } = scheduler;
  const times: number[] = [];
  for (let at = 0; at < warmUp + count; at += 1) {
    const id = `/user-${at % 50}/new-${at}`;
    const atMs = nowMs + at * 100;
    cluster.putJob(queuedJob(id, `user-${at % 50}`, at, { gpuCount: 1 + (at % 8), waitingSinceMs: atMs }));
    cluster.addTask(id, 0);
    const before = now();
    scheduler.decide(atMs, ourRules);
    const took = since(before);
    cluster.removeJob(id);
    if (at >= warmUp) times.push(took);
  }
  return times;
}

/** The same after an attempt has ended: what waits takes its place, and what that changes is carried out. */
function measureEnds(scheduler: Scheduler, count: number, warmUp: number): number[] {
  const { cluster } = scheduler;
  const times: number[] = [];
  for (let at = 0; at < warmUp + count; at += 1) {
    const running = [...cluster.holdings.held.values()].find(({ attempt }) => !attempt.gang);
    if (running === undefined) throw new Error('Nothing runs any more.');
    cluster.removeAttempt(running.attempt.uid);
    const atMs = nowMs + at * 100;
    const before = now();
    const decision = scheduler.decide(atMs, ourRules);
    const took = since(before);
    carryOut(scheduler, decision, atMs);
    if (at >= warmUp) times.push(took);
  }
  return times;
}

interface Moment {
  readonly wallMs: number;
  readonly processMs: number;
}

function now(): Moment {
  const { user, system } = process.cpuUsage();
  return { wallMs: performance.now(), processMs: (user + system) / 1000 };
}

/**
 * How long this thread was busy at most: less than passed by the clock, which other work of the machine stretches, and less than the
 * whole process used, which counts what the collector's helper threads do beside it.
 */
function since(before: Moment): number {
  const after = now();
  return Math.min(after.wallMs - before.wallMs, after.processMs - before.processMs);
}

function standingLoad(load: Load): Scheduler {
  return standingScheduler(
    {
      ...load,
      pending: Math.round(load.pending * madePerWaiting),
      jobs: Math.round(load.jobs * madePerWaiting),
    },
    1,
  );
}

function sizeOf({ cluster }: Scheduler): string {
  const { queue, holdings, table } = cluster;
  return `${queue.tasks} tasks of ${queue.jobs.size} jobs and ${queue.users.size} users wait in ${queue.shapes.size} shapes, ${holdings.held.size} run on ${table.count} machines`;
}

function standing(context: BenchContext): void {
  const scheduler = standingLoad(standardLoad);
  context.note(`standing load: ${sizeOf(scheduler)}`);
  const times = measure(scheduler, 300, 60);
  context.figure(
    limit({
      name: 'decision over the standing load, median',
      value: percentile(times, 0.5),
      unit: 'ms',
      atMost: 16,
    }),
  );
  context.figure(
    limit({
      name: 'decision over the standing load, p99',
      value: percentile(times, 0.99),
      unit: 'ms',
      atMost: 33,
    }),
  );
  const ends = measureEnds(standingLoad(standardLoad), 150, 30);
  context.figure(
    limit({
      name: 'decision after an attempt has ended, median',
      value: percentile(ends, 0.5),
      unit: 'ms',
      atMost: 16,
    }),
  );
  context.figure(
    limit({ name: 'memory allocated by one decision', value: allocatedKib(scheduler), unit: 'KiB' }),
  );
}

/** Growth of the heap over some decisions with no collection between; the smallest of several tries, as a collection makes it less. */
function allocatedKib(scheduler: Scheduler): number {
  const growths: number[] = [];
  for (let attempt = 0; attempt < 9; attempt += 1) {
    const before = process.memoryUsage().heapUsed;
    measure(scheduler, 1, 0);
    growths.push((process.memoryUsage().heapUsed - before) / 1024);
  }
  const grown = growths.filter((growth) => growth > 0);
  return grown.length === 0 ? 0 : percentile(grown, 0.5);
}

function growth(context: BenchContext): void {
  const perUnit: number[] = [];
  for (const size of [1, 10, 100]) {
    const load: Load = {
      workers: 100 * size,
      running: 500 * size,
      pending: 1000 * size,
      jobs: 200 * size,
      users: 50,
      shapes: 200,
    };
    const scheduler = standingLoad(load);
    const { queue, table } = scheduler.cluster;
    const times = measure(scheduler, size === 100 ? 15 : 80, size === 100 ? 5 : 60);
    perUnit.push((percentile(times, 0.5) * 1000) / (queue.tasks + table.count));
    context.note(`${sizeOf(scheduler)}: median ${percentile(times, 0.5).toFixed(2)} ms`);
  }
  const [small = Number.NaN, , large = Number.NaN] = perUnit;
  context.figure(
    compare({
      name: 'time per waiting task and machine, 100,000 x 10,000',
      value: large,
      unit: 'us',
      beside: { name: '1,000 x 100', value: small },
      atMost: 1.5,
    }),
  );
}

/** What a form asks while its fields change: a job that would wait, with its reasons and what would help, or would evict. */
function dryRuns(context: BenchContext): void {
  const scheduler = standingLoad(standardLoad);
  const times: number[] = [];
  const verdicts = new Map<string, number>();
  for (let at = 0; at < 120; at += 1) {
    const job = queuedJob('/user-1/dry-run', 'user-1', at, {
      band: bands[at % 4] ?? 'BATCH',
      gpuCount: at % 9,
      gangBy: at % 5 === 4 ? 'rack' : null,
      cpuMillicores: 1000 * (1 + (at % 70)),
    });
    const before = now();
    const { verdict } = dryRun(scheduler, job, 1 + (at % 8), nowMs, ourRules);
    if (at >= 20) times.push(since(before));
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
  }
  const counts = [...verdicts].sort().map(([verdict, count]) => `${count} ${verdict}`);
  context.note(`dry runs: ${counts.join(', ')}`);
  context.figure(limit({ name: 'dry run, p99', value: percentile(times, 0.99), unit: 'ms', atMost: 50 }));
  const before = now();
  const { starts, untilMs, complete } = project(scheduler.cluster, nowMs, ourRules);
  const hours = ((untilMs - nowMs) / 3_600_000).toFixed(1);
  context.note(`look ahead: ${starts.size} jobs start in ${hours} h${complete ? '' : ', then the bound'}`);
  context.figure(limit({ name: 'look ahead over the standing load', value: since(before), unit: 'ms' }));
}

function idle(context: BenchContext): void {
  const scheduler = standingLoad(standardLoad);
  scheduler.decide(nowMs, ourRules);
  const ticks = 10_000;
  const before = now();
  for (let tick = 0; tick < ticks; tick += 1) scheduler.decide(nowMs, ourRules);
  context.figure(limit({ name: 'idle tick', value: since(before) / ticks, unit: 'ms', atMost: 0.1 }));
}

function evictionStorm(context: BenchContext): void {
  const scheduler = storm(1000, 500);
  const times: number[] = [];
  let decision = scheduler.decide(nowMs, ourRules);
  for (let at = 0; at < 60; at += 1) {
    // The same rows again: everything is decided anew.
    scheduler.cluster.setReservations([]);
    const before = now();
    decision = scheduler.decide(nowMs, ourRules);
    if (at >= 20) times.push(since(before));
  }
  const gangs = new Set(decision.placed.map(({ jobId }) => jobId)).size;
  context.note(`storm: ${gangs} of 500 gangs placed, ${decision.evictions.length} evicted in one decision`);
  context.figure(
    limit({
      name: '500 gangs on 1,000 machines full of BATCH, median',
      value: percentile(times, 0.5),
      unit: 'ms',
      atMost: 50,
    }),
  );
}

/** Everything at once, as after a restart of a cluster that was never decided about: it happens once, so it has no target. */
function coldLoad(context: BenchContext): void {
  const scheduler = loadedScheduler(standardLoad, 1);
  const times: number[] = [];
  let decision = scheduler.decide(nowMs, ourRules);
  for (let at = 0; at < 8; at += 1) {
    scheduler.cluster.setReservations([]);
    const before = now();
    decision = scheduler.decide(nowMs, ourRules);
    if (at >= 3) times.push(since(before));
  }
  context.note(
    `cold: ${decision.placed.length} placed, ${decision.evictions.length} evicted in one decision`,
  );
  context.figure(
    limit({
      name: 'decision over a load nobody has decided about',
      value: percentile(times, 0.5),
      unit: 'ms',
    }),
  );
}
