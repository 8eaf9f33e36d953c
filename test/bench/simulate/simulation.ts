/**
 * One trace run in virtual time under one rule set. What decides is the product's own scheduler over the product's own memory of a
 * cluster; what carries out its decisions is this small loop and not the rows of core/model, which would cost more time than the
 * decisions do: a place that waits is a claim, a victim is told and holds what it was given until it is gone, then its tasks wait again.
 */
import { Scheduler } from '../../../core/scheduling/scheduler.js';
import type { Decision, Placed } from '../../../core/scheduling/decision.js';
import type { SchedulingWorker } from '../../../core/scheduling/free.js';
import type { HeldAttempt, UserBudget } from '../../../core/scheduling/inputs.js';
import { originalRules, ourRules, type Rules } from '../../../core/scheduling/rules.js';
import { VirtualClock } from './clock.js';
import { rackKey, variant } from './machines.js';
import { startUpMs, type TraceJob } from './trace.js';

export type Policy = Rules['policy'];

/** From a fatal signal until the processes are verified gone. */
const stopMs = 5000;
/** The original looks at what has changed that often, and at once when something is submitted. */
const originalTickMs = 10_000;

/** What became of a job. */
export interface Outcome {
  readonly job: TraceJob;
  /** The first start. */
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  /** All its waiting, before the first start and after evictions. */
  readonly waitedMs: number;
  readonly evictions: number;
}

/** One attempt of all tasks of a job, after it is over. */
export interface Stay {
  readonly tasks: number;
  /** Of all tasks. */
  readonly gpus: number;
  readonly startedAtMs: number;
  /** Useful work lies between: from the end of the start-up to the last state that was kept. */
  readonly usefulFromMs: number;
  readonly usefulUntilMs: number;
  readonly goneAtMs: number;
  readonly evicted: boolean;
}

export interface Course {
  readonly outcomes: readonly Outcome[];
  readonly stays: readonly Stay[];
  readonly decisions: number;
}

interface Job {
  readonly trace: TraceJob;
  leftMs: number;
  waitingSinceMs: number;
  waitedMs: number;
  startedAtMs: number | null;
  evictions: number;
  run: Run | null;
}

interface Run {
  readonly job: Job;
  attempts: HeldAttempt[];
  readonly startMs: number;
  readonly endMs: number;
  /** The state that would be kept: 0 while none is. */
  keptAtMs: number;
  told: boolean;
  /** Told with a signal that it does not survive. */
  killed: boolean;
  over: boolean;
}

type Event =
  | { readonly kind: 'submit'; readonly job: Job }
  | { readonly kind: 'runs' | 'ends' | 'gone'; readonly run: Run }
  | { readonly kind: 'tick' | 'wake' };

export function simulate(input: {
  readonly policy: Policy;
  readonly machines: readonly SchedulingWorker[];
  readonly budgets: readonly UserBudget[];
  readonly trace: readonly TraceJob[];
}): Course {
  return new Simulation(input.policy === 'original' ? originalRules : ourRules, input).run();
}

class Simulation {
  private readonly scheduler = new Scheduler();
  private readonly clock = new VirtualClock<Event>();
  private readonly checkpoints = new VirtualClock<Run>();
  private readonly jobs = new Map<string, Job>();
  private readonly outcomes: Outcome[] = [];
  private readonly stays: Stay[] = [];
  private attempts = 0;
  private decisions = 0;
  private last: Decision | null = null;
  private tickAtMs = Number.POSITIVE_INFINITY;
  private wakeAtMs = Number.POSITIVE_INFINITY;

  constructor(
    private readonly rules: Rules,
    input: {
      readonly machines: readonly SchedulingWorker[];
      readonly budgets: readonly UserBudget[];
      readonly trace: readonly TraceJob[];
    },
  ) {
    const { cluster } = this.scheduler;
    cluster.setWorkers(input.machines);
    cluster.setBudgets(input.budgets, 0);
    for (const trace of input.trace) {
      const waitingSinceMs = trace.submittedAtMs;
      const fresh = { waitedMs: 0, startedAtMs: null, evictions: 0, run: null };
      const job = { trace, leftMs: trace.workMs, waitingSinceMs, ...fresh };
      this.clock.at(trace.submittedAtMs, { kind: 'submit', job });
    }
  }

  run(): Course {
    const { clock } = this;
    for (let ms = clock.nextMs(); ms !== null; ms = clock.nextMs()) {
      let due = false;
      while (clock.nextMs() === ms) {
        const event = clock.next();
        if (event !== null && this.handle(event, ms)) due = true;
      }
      if (due) this.decide(ms);
    }
    const left = [...this.jobs.keys()];
    if (left.length > 0) throw new Error(`${left.length} jobs never ended, such as ${left[0] ?? ''}.`);
    return { outcomes: this.outcomes, stays: this.stays, decisions: this.decisions };
  }

  /** True when a decision is due at once. */
  private handle(event: Event, ms: number): boolean {
    switch (event.kind) {
      case 'submit':
        this.jobs.set(event.job.trace.id, event.job);
        this.queue(event.job, ms);
        return true;
      case 'runs':
        if (!event.run.over && !event.run.told) this.put(event.run, { state: 'RUNNING' });
        return false;
      case 'ends':
        if (event.run.over || event.run.killed) return false;
        this.finish(event.run, ms);
        return this.soon(ms);
      case 'gone':
        if (event.run.over) return false;
        this.evicted(event.run, ms);
        return true;
      case 'tick':
        if (ms !== this.tickAtMs) return false;
        this.tickAtMs = Number.POSITIVE_INFINITY;
        return true;
      case 'wake':
        if (ms !== this.wakeAtMs) return false;
        this.wakeAtMs = Number.POSITIVE_INFINITY;
        return true;
    }
  }

  private soon(ms: number): boolean {
    if (this.rules.policy === 'ours') return true;
    const next = Math.ceil((ms + 1) / originalTickMs) * originalTickMs;
    if (this.tickAtMs <= next) return false;
    this.tickAtMs = next;
    this.clock.at(next, { kind: 'tick' });
    return false;
  }

  private queue(job: Job, ms: number): void {
    const { cluster } = this.scheduler;
    const { trace } = job;
    job.waitingSinceMs = ms;
    cluster.putJob({
      id: trace.id,
      user: trace.user,
      band: trace.band,
      depth: 1,
      rootSubmittedAtMs: trace.submittedAtMs,
      submittedAtMs: trace.submittedAtMs,
      rank: 0,
      cpuMillicores: trace.cpuMillicores,
      memoryBytes: trace.memoryBytes,
      gpuCount: trace.gpuCount,
      gpuVariant: trace.gpuCount === 0 ? null : variant,
      constraints: [],
      gangBy: trace.tasks === 1 ? null : rackKey,
      limitMs: trace.limitMs,
      startByMs: null,
      finishByMs: null,
      startNotBeforeMs: null,
      held: false,
      dependencies: [],
      maxActive: null,
      blocked: null,
      waitingSinceMs: ms,
    });
    for (let index = 0; index < trace.tasks; index += 1) cluster.addTask(trace.id, index);
  }

  private decide(ms: number): void {
    this.tellCheckpoints(ms);
    const decision = this.scheduler.decide(ms, this.rules);
    // What was decided before and still stands was carried out then.
    if (decision !== this.last) {
      this.last = decision;
      this.decisions += 1;
      this.carryOut(decision, ms);
      // The caps of a pass leave something for the next one.
      if (decision.placed.length > 0) this.soon(ms);
    }
    const { wakeAtMs } = decision;
    if (wakeAtMs !== null && wakeAtMs > ms && wakeAtMs < this.wakeAtMs) {
      this.wakeAtMs = wakeAtMs;
      this.clock.at(wakeAtMs, { kind: 'wake' });
    }
  }

  private carryOut(decision: Decision, ms: number): void {
    const { cluster } = this.scheduler;
    if (decision.unschedulable.length + decision.released.length + decision.withdrawn.length > 0)
      throw new Error('There are no deadlines, lost machines or notices not sent here.');
    for (const id of new Set(decision.evictions.map(({ jobId }) => jobId))) this.evict(id, ms);
    const starts = new Map<string, Placed[]>();
    for (const placed of decision.placed) {
      const { taskId, jobId, index, workerId, devices, band } = placed;
      cluster.removeClaim(taskId);
      cluster.removeTask(jobId, index);
      if (placed.waitsFor.length > 0) {
        cluster.putClaim({ taskId, jobId, index, workerId, devices, band });
        continue;
      }
      const list = starts.get(jobId);
      if (list === undefined) starts.set(jobId, [placed]);
      else list.push(placed);
    }
    for (const [id, placed] of starts) this.start(id, placed, ms);
    cluster.setReservations(decision.reservations);
  }

  private start(id: string, placed: readonly Placed[], ms: number): void {
    const job = this.jobs.get(id);
    if (job?.trace.tasks !== placed.length) throw new Error(`${id}: ${placed.length} tasks start together.`);
    this.scheduler.cluster.removeJob(id);
    const { trace } = job;
    job.waitedMs += ms - job.waitingSinceMs;
    job.startedAtMs ??= ms;
    const endMs = ms + startUpMs + job.leftMs;
    const state = { keptAtMs: 0, told: false, killed: false, over: false };
    const run: Run = { job, attempts: [], startMs: ms, endMs, ...state };
    job.run = run;
    run.attempts = placed.map(({ taskId, workerId, devices, band, evictableBy }) => {
      this.attempts += 1;
      return {
        uid: `${taskId}:${this.attempts}`,
        taskId,
        jobId: id,
        user: trace.user,
        workerId,
        state: 'BUILDING',
        band,
        requestedBand: trace.band,
        gang: trace.tasks > 1,
        cpuMillicores: trace.cpuMillicores,
        memoryBytes: trace.memoryBytes,
        devices,
        startedAtMs: ms,
        checkpointAtMs: null,
        limitMs: trace.limitMs,
        preemptions: job.evictions,
        leaving: 'no',
        evictableBy,
      };
    });
    this.put(run, {});
    this.clock.at(ms + startUpMs, { kind: 'runs', run });
    this.clock.at(endMs, { kind: 'ends', run });
    this.nextCheckpoint(run, ms + startUpMs);
  }

  private put(run: Run, change: Partial<HeldAttempt>): void {
    run.attempts = run.attempts.map((attempt) => ({ ...attempt, ...change }));
    for (const attempt of run.attempts) this.scheduler.cluster.putAttempt(attempt);
  }

  private nextCheckpoint(run: Run, fromMs: number): void {
    const { checkpointEveryMs } = run.job.trace;
    const ms = fromMs + (checkpointEveryMs ?? Number.POSITIVE_INFINITY);
    if (ms < run.endMs) this.checkpoints.at(ms, run);
  }

  /** A checkpoint is no reason for a round: the next one learns of it. */
  private tellCheckpoints(nowMs: number): void {
    for (let ms = this.checkpoints.nextMs(); ms !== null && ms <= nowMs; ms = this.checkpoints.nextMs()) {
      const run = this.checkpoints.next();
      if (run === null || run.over || run.told) continue;
      run.keptAtMs = ms;
      this.put(run, { checkpointAtMs: ms });
      this.nextCheckpoint(run, ms);
    }
  }

  /** The original kills; ours tells first, and who can saves its state. */
  private evict(id: string, ms: number): void {
    const run = this.jobs.get(id)?.run ?? null;
    if (run === null || run.told) throw new Error(`${id} cannot be evicted.`);
    const { saveMs } = run.job.trace;
    run.told = true;
    this.put(run, { leaving: 'told' });
    if (this.rules.policy === 'ours' && saveMs !== null && ms > run.startMs + startUpMs) {
      run.keptAtMs = ms;
      // Who ends before its state is saved has ended.
      if (run.endMs > ms + saveMs) this.clock.at(ms + saveMs, { kind: 'gone', run });
      return;
    }
    run.killed = true;
    this.clock.at(ms + stopMs, { kind: 'gone', run });
  }

  private finish(run: Run, ms: number): void {
    const { job } = run;
    this.leave(run, ms, ms, false);
    this.jobs.delete(job.trace.id);
    const { trace, waitedMs, evictions } = job;
    const startedAtMs = job.startedAtMs ?? ms;
    this.outcomes.push({ job: trace, startedAtMs, finishedAtMs: ms, waitedMs, evictions });
  }

  private evicted(run: Run, ms: number): void {
    const { job } = run;
    const usefulFromMs = run.startMs + startUpMs;
    const keptMs = Math.max(0, run.keptAtMs - usefulFromMs);
    this.leave(run, ms, usefulFromMs + keptMs, true);
    job.leftMs -= keptMs;
    job.evictions += 1;
    this.queue(job, ms);
  }

  private leave(run: Run, goneAtMs: number, usefulUntilMs: number, evicted: boolean): void {
    run.over = true;
    run.job.run = null;
    for (const { uid } of run.attempts) this.scheduler.cluster.removeAttempt(uid);
    this.stays.push({
      tasks: run.job.trace.tasks,
      gpus: run.job.trace.tasks * run.job.trace.gpuCount,
      startedAtMs: run.startMs,
      usefulFromMs: run.startMs + startUpMs,
      usefulUntilMs,
      goneAtMs,
      evicted,
    });
  }
}
