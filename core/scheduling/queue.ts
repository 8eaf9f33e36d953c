/** Jobs with tasks that wait, by user and band asked for, kept in their order while rows change. */
import { bandRank, bands } from '../contract/states.js';
import { compareNumbers, compareTexts, SortedList } from '../model/sorted-list.js';
import type { WaitingJob } from './decision.js';
import { isUngated } from './gates.js';
import type { Claim, QueuedJob, UserBudget } from './inputs.js';
import { Shape, shapeKey } from './shape.js';

export interface JobEntry {
  job: QueuedJob;
  readonly user: UserEntry;
  shape: Shape;
  /** Indexes of its waiting tasks, ascending. */
  readonly indexes: readonly number[];
  readonly list: SortedList<number>;
  /** Provisional places of its tasks, by index. */
  readonly claims: Claim[];
  /** No gate of its own: see `isUngated`. */
  ungated: boolean;
  /** Tasks placed in this pass. */
  placed: number;
  /** What was said of it last when it was passed over: said again it is the same. */
  waits: WaitingJob | null;
}

export interface UserEntry {
  readonly id: string;
  /** Waiting jobs by rank of the band asked for. */
  readonly lists: readonly JobList[];
  budget: UserBudget;
  /** Value in use of work not asked for as BATCH. */
  spend: number;
  tasks: number;
  cpu: number;
  memory: number;
  gpus: number;
}

/** Base order of the original: deeper first, older tree first, then submission. The owner's own order goes before. */
export function compareJobs(left: QueuedJob, right: QueuedJob): number {
  return left.rank - right.rank || compareAge(left, right);
}

export function compareAge(left: QueuedJob, right: QueuedJob): number {
  return (
    right.depth - left.depth ||
    left.rootSubmittedAtMs - right.rootSubmittedAtMs ||
    left.submittedAtMs - right.submittedAtMs ||
    compareTexts(left.id, right.id)
  );
}

/** Waiting jobs in their order, which knows how many of the last are alike: a long queue is mostly these. */
class JobList extends SortedList<JobEntry> {
  /** The last so many are alike, each with the one before it. */
  private alike = 0;

  constructor() {
    super((left, right) => compareJobs(left.job, right.job));
  }

  override add(entry: JobEntry): boolean {
    if (!super.add(entry)) return false;
    const { values, size } = this;
    if (values[size - 1] === entry) {
      this.alike = areAlike(values[size - 2], entry) ? this.alike + 1 : Number(isPlain(entry));
      return true;
    }
    const at = this.position(entry);
    if (at < size - this.alike) return true;
    const fits = areAlike(values[at - 1], entry) && areAlike(entry, values[at + 1]);
    this.alike = fits ? this.alike + 1 : size - 1 - at;
    return true;
  }

  override remove(entry: JobEntry): boolean {
    const at = this.position(entry);
    if (!super.remove(entry)) return false;
    // Those on both sides of it are alike without it.
    if (at > this.size - this.alike) this.alike -= 1;
    return true;
  }

  /** How many tasks of it wait has changed. */
  changed(entry: JobEntry): void {
    this.alike = Math.min(this.alike, this.size - 1 - this.position(entry));
  }

  /** From there to the end all are of one shape, nothing but room keeps their one task, and none waits longer than the one before it. */
  restIsAlike(from: number): boolean {
    return from >= this.size - this.alike;
  }
}

function isPlain({ ungated, job, indexes }: JobEntry): boolean {
  return ungated && job.maxActive === null && indexes.length === 1;
}

function areAlike(left: JobEntry | undefined, right: JobEntry | undefined): boolean {
  if (left === undefined || right === undefined || left.shape !== right.shape) return false;
  return isPlain(left) && isPlain(right) && left.job.waitingSinceMs <= right.job.waitingSinceMs;
}

export class Queue {
  readonly jobs = new Map<string, JobEntry>();
  readonly users = new Map<string, UserEntry>();
  readonly shapes = new Map<string, Shape>();
  /** Jobs of each shape, those among them of which nothing waits. */
  readonly alike = new Map<Shape, Set<JobEntry>>();
  /** Waiting tasks. */
  tasks = 0;
  private defaultLimit = 0;

  user(id: string): UserEntry {
    const known = this.users.get(id);
    if (known !== undefined) return known;
    const made: UserEntry = {
      id,
      lists: bands.map(() => new JobList()),
      budget: this.defaultBudget(id),
      spend: 0,
      tasks: 0,
      cpu: 0,
      memory: 0,
      gpus: 0,
    };
    this.users.set(id, made);
    return made;
  }

  /** Budgets of those who have one; all others get the default limit. */
  setBudgets(budgets: Iterable<UserBudget>, defaultLimit: number): void {
    this.defaultLimit = defaultLimit;
    for (const user of this.users.values()) user.budget = this.defaultBudget(user.id);
    for (const budget of budgets) this.user(budget.user).budget = budget;
  }

  /** Inserts or replaces; its waiting tasks and claims stay. */
  putJob(job: QueuedJob): JobEntry {
    const known = this.jobs.get(job.id);
    if (known === undefined) {
      const list = new SortedList<number>(compareNumbers);
      const shape = this.shapeFor(job);
      const entry: JobEntry = {
        job,
        user: this.user(job.user),
        shape,
        list,
        indexes: list.values,
        claims: [],
        ungated: isUngated(job),
        placed: 0,
        waits: null,
      };
      this.alike.get(shape)?.add(entry);
      this.jobs.set(job.id, entry);
      return entry;
    }
    const listed = known.indexes.length > 0;
    if (listed) this.listOf(known).remove(known);
    this.leaveShape(known);
    known.job = job;
    known.ungated = isUngated(job);
    known.shape = this.shapeFor(job);
    this.alike.get(known.shape)?.add(known);
    if (listed) this.listOf(known).add(known);
    return known;
  }

  removeJob(id: string): void {
    const entry = this.jobs.get(id);
    if (entry === undefined) return;
    if (entry.indexes.length > 0) this.listOf(entry).remove(entry);
    this.tasks -= entry.indexes.length;
    this.leaveShape(entry);
    this.jobs.delete(id);
  }

  addTask(jobId: string, index: number): void {
    const entry = this.jobs.get(jobId);
    if (entry === undefined || !entry.list.add(index)) return;
    this.tasks += 1;
    if (entry.indexes.length === 1) this.listOf(entry).add(entry);
    else this.listOf(entry).changed(entry);
  }

  removeTask(jobId: string, index: number): void {
    const entry = this.jobs.get(jobId);
    if (entry === undefined || !entry.list.remove(index)) return;
    this.tasks -= 1;
    if (entry.indexes.length === 0) this.listOf(entry).remove(entry);
    else this.listOf(entry).changed(entry);
  }

  putClaim(claim: Claim): void {
    const entry = this.jobs.get(claim.jobId);
    if (entry === undefined) return;
    const at = entry.claims.findIndex((other) => other.index >= claim.index);
    if (at < 0) entry.claims.push(claim);
    else entry.claims.splice(at, entry.claims[at]?.index === claim.index ? 1 : 0, claim);
  }

  removeClaim(claim: Claim): void {
    const claims = this.jobs.get(claim.jobId)?.claims;
    const at = claims?.findIndex((other) => other.index === claim.index) ?? -1;
    if (at >= 0) claims?.splice(at, 1);
  }

  private defaultBudget(user: string): UserBudget {
    return { user, limit: this.defaultLimit, quota: null, cumulative: null };
  }

  private listOf(entry: JobEntry): JobList {
    const list = entry.user.lists[bandRank(entry.job.band)];
    if (list === undefined) throw new Error(`${entry.job.id}: there is no band ${entry.job.band}.`);
    return list;
  }

  private shapeFor(job: QueuedJob): Shape {
    const key = shapeKey(job);
    let shape = this.shapes.get(key);
    if (shape === undefined) {
      shape = new Shape(key, job);
      this.shapes.set(key, shape);
      this.alike.set(shape, new Set());
    }
    return shape;
  }

  private leaveShape(entry: JobEntry): void {
    const { shape } = entry;
    const entries = this.alike.get(shape);
    entries?.delete(entry);
    if (entries?.size !== 0) return;
    this.alike.delete(shape);
    this.shapes.delete(shape.key);
  }
}
