/**
 * The scheduler's memory: all that a decision reads, kept up to date row by row instead of being built anew each round. The order
 * rows came in leaves no trace in a decision.
 */
import type { JobState } from '../contract/states.js';
import type { Capabilities } from './availability.js';
import type { SchedulingWorker } from './free.js';
import { Holdings } from './holdings.js';
import type { Claim, HeldAttempt, QueuedJob, Reservation, UserBudget } from './inputs.js';
import { Queue } from './queue.js';
import { WorkerTable } from './worker-table.js';

export class Cluster {
  readonly queue = new Queue();
  table = new WorkerTable([], null);
  readonly holdings = new Holdings(this.table);
  reservations: readonly Reservation[] = [];
  /** Grows with every change, so that nobody decides again about what is the same. */
  version = 0;
  defaultLimit = 0;
  budgets: readonly UserBudget[] = [];
  private capabilities: Capabilities | null = null;
  private readonly jobStates = new Map<string, JobState>();

  setWorkers(workers: readonly SchedulingWorker[]): void {
    this.version += 1;
    if (this.table.update(workers)) return;
    this.table = new WorkerTable(workers, this.capabilities);
    this.holdings.reset(this.table);
  }

  setCapabilities(capabilities: Capabilities | null): void {
    this.version += 1;
    this.capabilities = capabilities;
    this.table.setCapabilities(capabilities);
  }

  setBudgets(budgets: readonly UserBudget[], defaultLimit: number): void {
    this.version += 1;
    this.budgets = budgets;
    this.defaultLimit = defaultLimit;
    this.queue.setBudgets(budgets, defaultLimit);
  }

  setReservations(reservations: readonly Reservation[]): void {
    this.version += 1;
    this.reservations = reservations;
  }

  /** A job with waiting tasks or provisional places; put it again when anything of it changes. */
  putJob(job: QueuedJob): void {
    this.version += 1;
    const before = this.queue.jobs.get(job.id);
    // What a claim holds is counted by what its job asks for.
    const claims = before === undefined ? [] : [...before.claims];
    for (const claim of claims) this.holdings.removeClaim(claim.taskId);
    this.queue.putJob(job);
    for (const claim of claims) this.holdings.putClaim(claim, job);
  }

  /** With all its waiting tasks and provisional places. */
  removeJob(id: string): void {
    this.version += 1;
    for (const claim of this.queue.jobs.get(id)?.claims ?? []) this.holdings.removeClaim(claim.taskId);
    this.queue.removeJob(id);
  }

  addTask(jobId: string, index: number): void {
    this.version += 1;
    this.queue.addTask(jobId, index);
  }

  removeTask(jobId: string, index: number): void {
    this.version += 1;
    this.queue.removeTask(jobId, index);
  }

  putAttempt(attempt: HeldAttempt): void {
    this.version += 1;
    this.holdings.put(attempt, this.queue.user(attempt.user));
  }

  /** Verified gone. */
  removeAttempt(uid: string): void {
    this.version += 1;
    this.holdings.remove(uid);
  }

  putClaim(claim: Claim): void {
    const entry = this.queue.jobs.get(claim.jobId);
    if (entry === undefined) return;
    this.version += 1;
    this.queue.putClaim(claim);
    this.holdings.putClaim(claim, entry.job);
  }

  removeClaim(taskId: string): void {
    this.version += 1;
    const claim = this.holdings.removeClaim(taskId);
    if (claim !== undefined) this.queue.removeClaim(claim);
  }

  /** State of a job that others depend on; undefined forgets it. */
  noteJobState(jobId: string, state: JobState | undefined): void {
    this.version += 1;
    if (state === undefined) this.jobStates.delete(jobId);
    else this.jobStates.set(jobId, state);
  }

  jobState(jobId: string): JobState | undefined {
    return this.jobStates.get(jobId);
  }

  /** Everything in it, put into one that knows nothing yet. */
  copyInto(other: Cluster): void {
    other.setCapabilities(this.capabilities);
    other.setWorkers(this.table.workers);
    other.setBudgets(this.budgets, this.defaultLimit);
    for (const [id, state] of this.jobStates) other.noteJobState(id, state);
    for (const { job, indexes } of this.queue.jobs.values()) {
      other.putJob(job);
      for (const index of indexes) other.addTask(job.id, index);
    }
    for (const claim of this.holdings.allClaims()) other.putClaim(claim);
    for (const { attempt } of this.holdings.held.values()) other.putAttempt(attempt);
    other.setReservations(this.reservations);
  }

  allJobStates(): [string, JobState][] {
    return [...this.jobStates].sort(([left], [right]) => (left < right ? -1 : 1));
  }
}
