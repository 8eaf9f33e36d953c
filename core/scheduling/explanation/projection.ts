/**
 * A look ahead: the real pipeline over a copy of the cluster, from one known end to the next. What has a time limit runs to it, what
 * has none never ends, and nothing more is submitted.
 */
import { isTerminalJobState } from '../../contract/states.js';
import { compareTexts, SortedList } from '../../model/sorted-list.js';
import type { Cluster } from '../cluster.js';
import type { Decision } from '../decision.js';
import type { HeldAttempt, QueuedJob } from '../inputs.js';
import type { Rules } from '../rules.js';
import { Scheduler } from '../scheduler.js';

/** Starts, ends and evictions one projection follows. */
const maxEvents = 2000;

export interface ProjectedStart {
  /** Of the first of its waiting tasks. */
  readonly startMs: number;
  /** Of what runs, ended by then. */
  readonly ends: number;
  readonly evictions: number;
  /** A job that others wait for was taken to have succeeded by then. */
  readonly endsWell: boolean;
}

export interface Projection {
  readonly madeAtMs: number;
  /** How far it looked. */
  readonly untilMs: number;
  /** True when nothing more happens by known times; false when it stopped at the bound. */
  readonly complete: boolean;
  readonly starts: ReadonlyMap<string, ProjectedStart>;
  /** Attempts without a time limit. */
  readonly endless: number;
}

export interface ProjectionOptions {
  /** It may stop when all of these have started. */
  readonly jobIds?: readonly string[];
  readonly maxEvents?: number;
}

/** All at once; who must not be kept from other work makes a `LookAhead` and advances it step by step. */
export function project(
  cluster: Cluster,
  nowMs: number,
  rules: Rules,
  options: ProjectionOptions = {},
): Projection {
  const ahead = new LookAhead(cluster, nowMs, rules, options);
  while (ahead.advance());
  return ahead.projection();
}

interface End {
  readonly ms: number;
  readonly uid: string;
}

/** Over a copy: what becomes of the cluster meanwhile is not seen. */
export class LookAhead {
  private readonly scheduler = new Scheduler();
  private readonly ends = new SortedList<End>(
    (left, right) => left.ms - right.ms || compareTexts(left.uid, right.uid),
  );
  private readonly starts = new Map<string, ProjectedStart>();
  private readonly endless: number;
  private atMs: number;
  private ended = 0;
  private evicted = 0;
  private events = 0;
  private made = 0;
  private endsWell = false;
  private complete = false;

  constructor(
    cluster: Cluster,
    private readonly nowMs: number,
    private readonly rules: Rules,
    private readonly options: ProjectionOptions = {},
  ) {
    this.atMs = nowMs;
    cluster.copyInto(this.scheduler.cluster);
    let endless = 0;
    for (const { attempt } of [...this.scheduler.cluster.holdings.held.values()]) {
      // What is on its way out is taken to be gone.
      if (attempt.leaving !== 'no' || attempt.state === 'ENDING') {
        this.scheduler.cluster.removeAttempt(attempt.uid);
        this.evicted += 1;
      } else if (!this.noteEnd(attempt)) endless += 1;
    }
    this.endless = endless;
  }

  /** One decision further; false when there is nothing more to see, or the bound is reached. */
  advance(): boolean {
    const { jobIds } = this.options;
    if (this.complete || this.events >= (this.options.maxEvents ?? maxEvents)) return false;
    const decision = this.scheduler.decide(this.atMs, this.rules);
    this.carryOut(decision);
    if (jobIds?.every((id) => this.starts.has(id)) === true) return false;
    const { placed, released, unschedulable } = decision;
    const did = placed.length + released.length + unschedulable.length > 0;
    if (decision.more && did) return true;
    const nextMs = Math.min(
      this.ends.first()?.ms ?? Number.POSITIVE_INFINITY,
      decision.wakeAtMs ?? Number.POSITIVE_INFINITY,
    );
    this.complete = !Number.isFinite(nextMs) || this.scheduler.cluster.queue.jobs.size === 0;
    if (this.complete) return false;
    this.atMs = Math.max(nextMs, this.atMs + 1);
    // A wake alone is an event too, or it would not be bounded.
    this.events += 1;
    this.endThoseDue();
    return true;
  }

  /** What was seen so far. */
  projection(): Projection {
    const { nowMs: madeAtMs, atMs: untilMs, starts, endless, complete } = this;
    return { madeAtMs, untilMs, complete, starts: new Map(starts), endless };
  }

  private noteEnd({ uid, limitMs, startedAtMs }: HeldAttempt): boolean {
    if (limitMs === null) return false;
    this.ends.add({ uid, ms: Math.max(this.nowMs, (startedAtMs ?? this.nowMs) + limitMs) });
    return true;
  }

  private endThoseDue(): void {
    const { cluster } = this.scheduler;
    for (let end = this.ends.first(); end !== undefined && end.ms <= this.atMs; end = this.ends.first()) {
      this.ends.takeFirst();
      if (cluster.holdings.get(end.uid) === undefined) continue;
      cluster.removeAttempt(end.uid);
      this.ended += 1;
      this.events += 1;
    }
    for (const [id, state] of cluster.allJobStates()) {
      if (isTerminalJobState(state) || cluster.holdings.active.has(id) || cluster.queue.jobs.has(id))
        continue;
      cluster.noteJobState(id, 'SUCCEEDED');
      this.endsWell = true;
    }
  }

  private carryOut(decision: Decision): void {
    const { cluster } = this.scheduler;
    for (const { uid } of decision.evictions) this.evict(uid);
    for (const taskId of decision.released) {
      cluster.removeClaim(taskId);
      const { jobId, index } = partsOf(taskId);
      cluster.addTask(jobId, index);
    }
    for (const placed of decision.placed) {
      const job = cluster.queue.jobs.get(placed.jobId)?.job;
      if (job === undefined) continue;
      cluster.removeClaim(placed.taskId);
      cluster.removeTask(placed.jobId, placed.index);
      this.start(job, placed);
    }
    for (const { jobId } of decision.unschedulable) {
      cluster.removeJob(jobId);
      this.events += 1;
      // Who waits for it has to know.
      if (!cluster.holdings.active.has(jobId)) cluster.noteJobState(jobId, 'UNSCHEDULABLE');
    }
    for (const jobId of new Set(decision.placed.map((placed) => placed.jobId))) {
      const entry = cluster.queue.jobs.get(jobId);
      if (entry?.indexes.length === 0 && entry.claims.length === 0) cluster.removeJob(jobId);
    }
    cluster.setReservations(decision.reservations);
  }

  private start(job: QueuedJob, placed: Decision['placed'][number]): void {
    this.made += 1;
    this.events += 1;
    const { taskId, jobId, workerId, band, devices, evictableBy } = placed;
    const attempt: HeldAttempt = {
      uid: `${taskId} ${this.made}`,
      taskId,
      jobId,
      user: job.user,
      workerId,
      state: 'RUNNING',
      band,
      requestedBand: job.band,
      gang: job.gangBy !== null,
      cpuMillicores: job.cpuMillicores,
      memoryBytes: job.memoryBytes,
      devices,
      sharedGpuBytes: job.sharedGpuBytes ?? null,
      startedAtMs: this.atMs,
      checkpointAtMs: null,
      limitMs: job.limitMs,
      preemptions: 0,
      leaving: 'no',
      evictableBy,
    };
    this.scheduler.cluster.putAttempt(attempt);
    this.noteEnd(attempt);
    if (this.starts.has(jobId)) return;
    const { ended: ends, evicted: evictions, endsWell } = this;
    this.starts.set(jobId, { startMs: this.atMs, ends, evictions, endsWell });
  }

  /** It leaves at once and waits again, with what it held where its own request is not known any more. */
  private evict(uid: string): void {
    const { cluster } = this.scheduler;
    const attempt = cluster.holdings.get(uid)?.attempt;
    if (attempt === undefined) return;
    cluster.removeAttempt(uid);
    this.evicted += 1;
    this.events += 1;
    const { jobId, index } = partsOf(attempt.taskId);
    if (!cluster.queue.jobs.has(jobId)) cluster.putJob(this.requestOf(attempt));
    cluster.addTask(jobId, index);
  }

  private requestOf(attempt: HeldAttempt): QueuedJob {
    const { table } = this.scheduler.cluster;
    const machine = table.workers[table.positions.get(attempt.workerId) ?? -1];
    const models = new Set(
      attempt.devices.map((uuid) => machine?.gpus.find((gpu) => gpu.uuid === uuid)?.variant),
    );
    const [model = null] = models;
    return {
      id: attempt.jobId,
      user: attempt.user,
      band: attempt.requestedBand,
      depth: attempt.jobId.split('/').length - 2,
      rootSubmittedAtMs: attempt.startedAtMs ?? this.nowMs,
      submittedAtMs: attempt.startedAtMs ?? this.nowMs,
      rank: 0,
      cpuMillicores: attempt.cpuMillicores,
      memoryBytes: attempt.memoryBytes,
      gpuCount: attempt.devices.length,
      gpuVariant: models.size === 1 ? model : null,
      sharedGpuBytes: attempt.sharedGpuBytes ?? null,
      constraints: [],
      gangBy: null,
      limitMs: attempt.limitMs,
      startByMs: null,
      finishByMs: null,
      startNotBeforeMs: null,
      held: false,
      dependencies: [],
      maxActive: null,
      blocked: null,
      waitingSinceMs: this.atMs,
    };
  }
}

function partsOf(taskId: string): { readonly jobId: string; readonly index: number } {
  const at = taskId.lastIndexOf('/');
  return { jobId: taskId.slice(0, at), index: Number(taskId.slice(at + 1)) };
}
