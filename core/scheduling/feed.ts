/**
 * Keeps the scheduler's cluster in step with the controller's rows: after each commit only what it touched is put anew. What it
 * holds follows from the rows alone, so that a controller started again decides as the one before it would have.
 */
import { chargedIdentity } from '../budget/spend.js';
import type { ValueParts } from '../budget/value.js';
import type { QuotaView } from '../contract/budgets.js';
import { isTerminalJobState, isTerminalTaskState } from '../contract/states.js';
import { resolveTimeBound } from '../formats/times.js';
import { budgetInForce } from '../model/budgets.js';
import { holdsCapacity } from '../model/capacity.js';
import type { Attempt, ChangeSet, Job, Task } from '../model/entities.js';
import { fadingOf, usesAt } from '../model/use.js';
import { waitsForJob, type ModelState } from '../model/state.js';
import type { Cluster } from './cluster.js';
import { constraintsOf } from './constraints.js';
import type { SchedulingWorker } from './free.js';
import type { Dependency, DependencyKind, HeldAttempt, QueuedJob, Quota, Reservation } from './inputs.js';

const dependencyKinds = { SUCCESS: 'success', END: 'end', FAILURE: 'failure' } as const satisfies Record<
  string,
  DependencyKind
>;

export class ClusterFeed {
  /** Waiting jobs by the job they wait for. */
  private readonly dependents = new Map<string, Set<string>>();
  /** Since when the waiting tasks of a job wait that had attempts before. */
  private readonly waitingSince = new Map<string, number>();
  private workersText = '';
  private reservationsText = '[]';
  private defaultLimit = 0;
  /** The cluster's version with the weights in it; null: there are none in it. */
  private weighedVersion: number | null = null;

  constructor(
    private readonly cluster: Cluster,
    private readonly state: ModelState,
  ) {}

  /** Everything the state holds, for a cluster that knows nothing yet. */
  load(defaultLimit: number): void {
    this.setBudgets(defaultLimit);
    for (const attempt of this.state.unfinishedAttempts()) this.putAttempt(attempt);
    for (const jobId of this.state.jobIds()) {
      const job = this.state.job(jobId);
      if (job === undefined) continue;
      for (const task of this.state.tasksOf(jobId))
        for (const attempt of this.state.attemptsOf(task.id)) this.noteWaitingSince(attempt, task);
      this.refreshTasks(job, this.state.tasksOf(jobId));
    }
  }

  /** Looks at what a decision depends on only: a sample with another load changes nothing. */
  setWorkers(workers: readonly SchedulingWorker[]): void {
    const text = JSON.stringify(workers);
    if (text === this.workersText) return;
    this.workersText = text;
    this.cluster.setWorkers(workers);
  }

  /** Without what past use weighs: `weigh` adds that before the next decision. */
  setBudgets(defaultLimit: number): void {
    this.defaultLimit = defaultLimit;
    this.putBudgets(new Map());
  }

  /** Before a decision, while past use fades: what it weighs now, wherever anything has changed since that was looked at. */
  weigh(nowMs: number): void {
    const fades = fadingOf(this.state) !== null;
    if (!fades && this.weighedVersion === null) return;
    if (fades && this.weighedVersion === this.cluster.version) return;
    this.putBudgets(fades ? usesAt(this.state, nowMs) : new Map());
    this.weighedVersion = fades ? this.cluster.version : null;
  }

  private putBudgets(uses: ReadonlyMap<string, { readonly faded: ValueParts | null }>): void {
    const rows = new Map([...this.state.budgets()].map((row) => [row.user, row]));
    const budgets = [...new Set([...rows.keys(), ...uses.keys()])].sort().map((user) => {
      const row = rows.get(user);
      const faded = uses.get(user)?.faded ?? null;
      return {
        user,
        limit: budgetInForce(row, this.defaultLimit).limit,
        quota: row === undefined ? null : quotaOf(row.quota),
        cumulative: faded === null ? null : weightOf(faded),
      };
    });
    this.cluster.setBudgets(budgets, this.defaultLimit);
  }

  setReservations(reservations: readonly Reservation[]): void {
    const text = JSON.stringify(reservations);
    if (text === this.reservationsText) return;
    this.reservationsText = text;
    this.cluster.setReservations(reservations);
  }

  /** After the state has taken over these changes. */
  update(changes: Pick<ChangeSet, 'jobs' | 'tasks' | 'attempts'>): void {
    const touched = new Map<string, Set<Task> | null>();
    const touch = (jobId: string, task: Task | undefined) => {
      if (task === undefined) return;
      const tasks = touched.get(jobId);
      if (tasks === undefined) touched.set(jobId, new Set([task]));
      else tasks?.add(task);
    };
    for (const { uid, jobId, taskId } of changes.attempts) {
      const attempt = this.state.attempt(uid);
      if (attempt === undefined) continue;
      this.putAttempt(attempt);
      touch(jobId, this.state.task(taskId));
      if (attempt.finishedAtMs !== null) this.attemptGone(attempt, touched);
    }
    for (const { id, jobId } of changes.tasks) touch(jobId, this.state.task(id));
    for (const { id } of changes.jobs) {
      const job = this.state.job(id);
      if (job === undefined) continue;
      if (this.dependents.has(id)) this.cluster.noteJobState(id, job.state);
      // Also of one that was stopped in the same step: what it had ends by and by.
      this.refreshAttempts(job);
      if (isTerminalJobState(job.state)) continue;
      // Also where its tasks have changed in the same step: perhaps none of these waits.
      if (this.cluster.queue.jobs.has(id)) this.putJob(job);
    }
    for (const [jobId, tasks] of touched) {
      const job = this.state.job(jobId);
      if (job === undefined) continue;
      const all = tasks === null || job.spec.gangBy !== null;
      this.refreshTasks(job, all ? this.state.tasksOf(jobId) : tasks);
    }
  }

  /** A job that is not submitted yet, as a trial of the scheduler takes it; what it waits for is known meanwhile. */
  withTrial<Seen>(job: Job, look: (queued: QueuedJob) => Seen): Seen {
    const queued = this.queuedJob(job);
    const unknown = queued.dependencies.filter(({ jobId }) => !this.dependents.has(jobId));
    for (const { jobId } of unknown) this.cluster.noteJobState(jobId, this.state.findJob(jobId)?.state);
    try {
      return look(queued);
    } finally {
      for (const { jobId } of unknown) this.cluster.noteJobState(jobId, undefined);
    }
  }

  /** A run of the same name may have waited for that. */
  private attemptGone(attempt: Attempt, touched: Map<string, Set<Task> | null>): void {
    const task = this.state.task(attempt.taskId);
    if (task !== undefined) this.noteWaitingSince(attempt, task);
    const job = this.state.job(attempt.jobId);
    if (job === undefined || !isTerminalJobState(job.state)) return;
    for (const later of this.state.laterRunsOf(job)) touched.set(later.id, null);
  }

  /** Of an attempt after which its task had to run again: the end of another keeps no task of its job waiting. */
  private noteWaitingSince({ jobId, number, finishedAtMs }: Attempt, task: Task): void {
    if (finishedAtMs === null || (number === task.currentAttempt && isTerminalTaskState(task.state))) return;
    this.waitingSince.set(jobId, Math.max(this.waitingSince.get(jobId) ?? 0, finishedAtMs));
  }

  /** What runs of a job counts by the band the job asks for now, whether any of it waits or not. */
  private refreshAttempts(job: Job): void {
    for (const { id } of this.state.tasksOf(job.id)) {
      const attempt = this.state.attemptsOf(id).at(-1);
      const held = attempt === undefined ? undefined : this.cluster.holdings.get(attempt.uid);
      if (attempt !== undefined && held !== undefined && held.attempt.requestedBand !== job.band)
        this.putAttempt(attempt);
    }
  }

  private putAttempt(attempt: Attempt): void {
    const job = this.state.job(attempt.jobId);
    const task = this.state.task(attempt.taskId);
    if (job === undefined || task === undefined || !holdsCapacity(attempt))
      this.cluster.removeAttempt(attempt.uid);
    else this.cluster.putAttempt(heldAttempt(attempt, task, job));
  }

  private refreshTasks(job: Job, tasks: Iterable<Task>): void {
    const { cluster, state } = this;
    if (isTerminalJobState(job.state)) {
      this.waitingSince.delete(job.id);
      this.dropJob(job.id);
      return;
    }
    let put = false;
    for (const task of tasks) {
      const waits = state.isPlaceable(task);
      if (waits && !put) {
        this.putJob(job);
        put = true;
      }
      if (!cluster.queue.jobs.has(job.id)) continue;
      if (!waits || task.claim === null) cluster.removeClaim(task.id);
      if (!waits || task.claim !== null) cluster.removeTask(job.id, task.index);
      if (!waits) continue;
      if (task.claim === null) cluster.addTask(job.id, task.index);
      else {
        const { workerId, devices, band } = task.claim;
        cluster.putClaim({ taskId: task.id, jobId: job.id, index: task.index, workerId, devices, band });
      }
    }
    const entry = cluster.queue.jobs.get(job.id);
    if (entry !== undefined && entry.indexes.length === 0 && entry.claims.length === 0) this.dropJob(job.id);
  }

  private putJob(job: Job): void {
    const { cluster } = this;
    const queued = this.queuedJob(job);
    const before = cluster.queue.jobs.get(job.id)?.job;
    if (before !== undefined && sameJob(before, queued)) return;
    for (const { jobId } of queued.dependencies) {
      const waiting = this.dependents.get(jobId);
      if (waiting === undefined) this.dependents.set(jobId, new Set([job.id]));
      else waiting.add(job.id);
      cluster.noteJobState(jobId, this.state.findJob(jobId)?.state);
    }
    cluster.putJob(queued);
  }

  private dropJob(jobId: string): void {
    const entry = this.cluster.queue.jobs.get(jobId);
    if (entry === undefined) return;
    for (const { jobId: on } of entry.job.dependencies) {
      const waiting = this.dependents.get(on);
      waiting?.delete(jobId);
      if (waiting?.size !== 0) continue;
      this.dependents.delete(on);
      this.cluster.noteJobState(on, undefined);
    }
    this.cluster.removeJob(jobId);
  }

  private queuedJob(job: Job): QueuedJob {
    const { spec, submittedAtMs } = job;
    const predecessor = this.state.predecessorOf(job);
    return {
      id: job.id,
      user: chargedIdentity(job.submittedBy, job.user),
      band: job.band,
      depth: job.depth,
      rootSubmittedAtMs: job.rootSubmittedAtMs,
      submittedAtMs,
      rank: job.rank,
      cpuMillicores: spec.cpuMillicores,
      memoryBytes: spec.memoryBytes,
      gpuCount: spec.gpuCount,
      gpuVariant: spec.gpuVariant,
      sharedGpuBytes: spec.sharedGpuBytes,
      ...(spec.image === null ? {} : { container: true }),
      constraints: constraintsOf(spec),
      gangBy: spec.gangBy,
      limitMs: spec.timeoutMs,
      // Kept by the model, which measures it by a clock that nobody sets.
      startByMs: null,
      finishByMs: resolveTimeBound(spec.finishBy, submittedAtMs),
      startNotBeforeMs: resolveTimeBound(spec.startNotBefore, submittedAtMs),
      held: job.held,
      dependencies: dependenciesOf(job),
      maxActive: spec.maxActive,
      blocked: predecessor === undefined ? null : waitsForJob(predecessor),
      waitingSinceMs: Math.max(submittedAtMs, this.waitingSince.get(job.id) ?? 0),
    };
  }
}

export function dependenciesOf(job: Job): Dependency[] {
  return job.spec.dependencies.map((wish) => ({ jobId: wish.job, on: dependencyKinds[wish.on] }));
}

/** Value x seconds, whole: the last digits depend on the order of a sum, which a restart changes. */
function weightOf({ gpus, memory, processors }: ValueParts): number {
  return Math.round((gpus + memory + processors) / 1000);
}

/** Null where nothing is bounded, so that who has no quota costs no pass a look. */
function quotaOf({ tasks, gpus, cpuMillicores, memoryBytes }: QuotaView): Quota | null {
  const quota = { tasks, cpuMillicores, memoryBytes, gpuCount: gpus };
  return Object.values(quota).every((bound) => bound === null) ? null : quota;
}

/** What of a queued job can change while it waits. */
function sameJob(left: QueuedJob, right: QueuedJob): boolean {
  return (
    left.band === right.band &&
    left.rank === right.rank &&
    left.held === right.held &&
    left.waitingSinceMs === right.waitingSinceMs &&
    left.blocked?.message === right.blocked?.message
  );
}

function heldAttempt(attempt: Attempt, task: Task, job: Job): HeldAttempt {
  const { state } = attempt;
  const active = state === 'ASSIGNED' || state === 'BUILDING' || state === 'RUNNING';
  return {
    uid: attempt.uid,
    taskId: attempt.taskId,
    jobId: attempt.jobId,
    user: chargedIdentity(job.submittedBy, job.user),
    workerId: attempt.workerId,
    state: active && !isTerminalTaskState(task.state) ? state : 'ENDING',
    band: task.band,
    requestedBand: job.band,
    gang: job.spec.gangBy !== null,
    cpuMillicores: attempt.cpuMillicores,
    memoryBytes: attempt.memoryBytes,
    devices: attempt.devices,
    sharedGpuBytes: job.spec.sharedGpuBytes,
    startedAtMs: attempt.startedAtMs,
    checkpointAtMs: attempt.checkpointAtMs,
    limitMs: job.spec.timeoutMs,
    preemptions: task.preemptionCount,
    leaving: 'no',
    evictableBy: attempt.evictableBy,
  };
}
