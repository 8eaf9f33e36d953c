/**
 * A batch of changes laid over a view: transitions write here, then the controller commits `changeSet()` and, after the commit,
 * applies it to the `ModelState`. A draft that is thrown away leaves no trace.
 */
import { isTerminalTaskState } from '../contract/states.js';
import { addUse, copyUsed, holdsCapacity, removeUse, type MutableUsed } from './capacity.js';
import type {
  Attempt,
  AuditAction,
  AuditEntry,
  ChangeSet,
  InboxEntry,
  Job,
  Machine,
  Task,
  UserBudget,
  UserUse,
} from './entities.js';
import { nameKey } from './names.js';
import { settleUse } from './use.js';
import { copyTally, countTask, type JobTally, type MutableTally } from './tally.js';
import type { DueDeadlines, ModelView, UsedCapacity } from './view.js';

export type { ModelView } from './view.js';
export { ModelState } from './state.js';

/** Jobs whose state `settle` shall derive anew, and those whose requeued tasks end the children. */
export interface Touched {
  readonly jobs: ReadonlySet<string>;
  readonly requeued: ReadonlySet<string>;
}

export class Draft implements ModelView {
  private readonly jobs = new Map<string, Job>();
  private readonly tasks = new Map<string, Task>();
  private readonly attempts = new Map<string, Attempt>();
  private readonly newChildren = new Map<string, string[]>();
  private readonly newNames = new Map<string, string>();
  private readonly newTasks = new Map<string, Task[]>();
  private readonly changedTasks = new Map<string, Map<number, Task>>();
  private readonly newAttempts = new Map<string, Attempt[]>();
  private readonly tallies = new Map<string, MutableTally>();
  private readonly usedByWorker = new Map<string, MutableUsed>();
  private readonly open = new Map<string, number>();
  private readonly budgetRows = new Map<string, UserBudget>();
  private readonly useRows = new Map<string, UserUse>();
  private readonly machineRows = new Map<string, Machine | null>();
  private readonly auditRows: AuditEntry[] = [];
  private readonly inboxRows: InboxEntry[] = [];
  private readonly receiptRows = new Map<string, { readonly atMs: number; readonly answer: unknown }>();
  private readonly metaValues = new Map<string, number>();
  private touchedJobs = new Set<string>();
  private requeuedJobs = new Set<string>();

  constructor(private readonly base: ModelView) {}

  job(id: string): Job | undefined {
    return this.jobs.get(id) ?? this.base.job(id);
  }

  findJob(id: string): Job | undefined {
    return this.jobs.get(id) ?? this.base.findJob(id);
  }

  latestNamed(user: string, parentId: string | null, name: string): Job | undefined {
    const id = this.newNames.get(nameKey(user, parentId, name));
    if (id !== undefined) return this.job(id);
    const found = this.base.latestNamed(user, parentId, name);
    return found === undefined ? undefined : (this.jobs.get(found.id) ?? found);
  }

  task(id: string): Task | undefined {
    return this.tasks.get(id) ?? this.base.task(id);
  }

  attempt(uid: string): Attempt | undefined {
    return this.attempts.get(uid) ?? this.base.attempt(uid);
  }

  tasksOf(jobId: string): readonly Task[] {
    const made = this.newTasks.get(jobId);
    if (made !== undefined) return made;
    const changed = this.changedTasks.get(jobId);
    const base = this.base.tasksOf(jobId);
    if (changed === undefined) return base;
    const copy = base.slice();
    for (const [index, task] of changed) copy[index] = task;
    return copy;
  }

  childrenOf(jobId: string): readonly Job[] {
    const base = this.base.childrenOf(jobId).map((child) => this.jobs.get(child.id) ?? child);
    const made = this.newChildren.get(jobId);
    if (made === undefined) return base;
    return [...base, ...made.map((id) => this.jobs.get(id)).filter((child) => child !== undefined)];
  }

  attemptsOf(taskId: string): readonly Attempt[] {
    const base = this.base.attemptsOf(taskId);
    const made = this.newAttempts.get(taskId);
    if (this.attempts.size === 0) return base;
    const merged = base.map((attempt) => this.attempts.get(attempt.uid) ?? attempt);
    if (made !== undefined) merged.push(...made.map((attempt) => this.attempts.get(attempt.uid) ?? attempt));
    return merged;
  }

  tally(jobId: string): JobTally {
    return this.tallies.get(jobId) ?? this.base.tally(jobId);
  }

  *unfinishedAttempts(): Generator<Attempt> {
    for (const attempt of this.base.unfinishedAttempts()) {
      const current = this.attempts.get(attempt.uid) ?? attempt;
      if (holdsCapacity(current)) yield current;
    }
    for (const made of this.newAttempts.values()) {
      for (const { uid } of made) {
        const current = this.attempts.get(uid);
        if (holdsCapacity(current)) yield current;
      }
    }
  }

  used(workerId: string): UsedCapacity {
    return this.usedByWorker.get(workerId) ?? this.base.used(workerId);
  }

  openTasks(submittedBy: string): number {
    return this.open.get(submittedBy) ?? this.base.openTasks(submittedBy);
  }

  budget(user: string): UserBudget | undefined {
    return this.budgetRows.get(user) ?? this.base.budget(user);
  }

  *budgets(): Generator<UserBudget> {
    for (const row of this.base.budgets()) if (!this.budgetRows.has(row.user)) yield row;
    yield* this.budgetRows.values();
  }

  use(user: string): UserUse | undefined {
    return this.useRows.get(user) ?? this.base.use(user);
  }

  *uses(): Generator<UserUse> {
    for (const row of this.base.uses()) if (!this.useRows.has(row.user)) yield row;
    yield* this.useRows.values();
  }

  machine(id: string): Machine | undefined {
    const made = this.machineRows.get(id);
    return made === undefined ? this.base.machine(id) : (made ?? undefined);
  }

  *machines(): Generator<Machine> {
    for (const row of this.base.machines()) if (!this.machineRows.has(row.id)) yield row;
    for (const row of this.machineRows.values()) if (row !== null) yield row;
  }

  receipt(requestId: string): unknown {
    const made = this.receiptRows.get(requestId);
    return made === undefined ? this.base.receipt(requestId) : made.answer;
  }

  meta(key: string): number | undefined {
    return this.metaValues.get(key) ?? this.base.meta(key);
  }

  due(nowMs: number): DueDeadlines {
    return this.base.due(nowMs);
  }

  /** Inserts or replaces. The id, parent and name of a job that exists never change. */
  putJob(job: Job): void {
    const known = this.job(job.id) !== undefined;
    this.jobs.set(job.id, job);
    if (known) return;
    this.newTasks.set(job.id, []);
    this.newNames.set(nameKey(job.user, job.parentId, job.name), job.id);
    if (job.parentId !== null) pushTo(this.newChildren, job.parentId, job.id);
  }

  /** Its job must be there. A change of state marks the job for `settle`. */
  putTask(task: Task): void {
    const before = this.task(task.id);
    this.tasks.set(task.id, task);
    const made = this.newTasks.get(task.jobId);
    if (made !== undefined) {
      made[task.index] = task;
    } else {
      const changed = this.changedTasks.get(task.jobId) ?? new Map<number, Task>();
      changed.set(task.index, task);
      this.changedTasks.set(task.jobId, changed);
    }
    let tally = this.tallies.get(task.jobId);
    if (tally === undefined) {
      tally = copyTally(this.base.tally(task.jobId));
      this.tallies.set(task.jobId, tally);
    }
    countTask(tally, before, task);
    if (before?.state === task.state) return;
    this.touchedJobs.add(task.jobId);
    const step =
      Number(!isTerminalTaskState(task.state)) -
      Number(before !== undefined && !isTerminalTaskState(before.state));
    const identity = this.job(task.jobId)?.submittedBy;
    if (step !== 0 && identity !== undefined) this.open.set(identity, this.openTasks(identity) + step);
  }

  putAttempt(attempt: Attempt): void {
    const before = this.attempt(attempt.uid);
    this.attempts.set(attempt.uid, attempt);
    if (before === undefined) pushTo(this.newAttempts, attempt.taskId, attempt);
    let used = this.usedByWorker.get(attempt.workerId);
    if (used === undefined) {
      used = copyUsed(this.base.used(attempt.workerId));
      this.usedByWorker.set(attempt.workerId, used);
    }
    if (holdsCapacity(before)) {
      removeUse(used, before);
      const job = attempt.finishedAtMs === null ? undefined : this.job(before.jobId);
      if (job !== undefined) settleUse(this, job, attempt);
    }
    if (holdsCapacity(attempt)) addUse(used, attempt);
  }

  putBudget(row: UserBudget): void {
    this.budgetRows.set(row.user, row);
  }

  putUse(row: UserUse): void {
    this.useRows.set(row.user, row);
  }

  putMachine(row: Machine): void {
    this.machineRows.set(row.id, row);
  }

  removeMachine(id: string): void {
    this.machineRows.set(id, null);
  }

  audit(
    atMs: number,
    actor: string,
    action: AuditAction,
    entity: string,
    detail: Readonly<Record<string, unknown>> = {},
  ): void {
    this.auditRows.push({ atMs, actor, action, entity, detail });
  }

  inbox(entry: InboxEntry): void {
    this.inboxRows.push(entry);
  }

  putReceipt(requestId: string, atMs: number, answer: unknown): void {
    this.receiptRows.set(requestId, { atMs, answer });
  }

  setMeta(key: string, value: number): void {
    this.metaValues.set(key, value);
  }

  /** The job's state shall be derived anew by `settle`. */
  touch(jobId: string): void {
    this.touchedJobs.add(jobId);
  }

  /** A task of the job went back to PENDING: under TERMINATE_CHILDREN `settle` ends the descendants. */
  markRequeued(jobId: string): void {
    this.requeuedJobs.add(jobId);
  }

  /** For `settle`: gives what was touched since the last call and starts anew. */
  takeTouched(): Touched {
    const touched = { jobs: this.touchedJobs, requeued: this.requeuedJobs };
    this.touchedJobs = new Set();
    this.requeuedJobs = new Set();
    return touched;
  }

  get isEmpty(): boolean {
    return (
      this.jobs.size === 0 &&
      this.tasks.size === 0 &&
      this.attempts.size === 0 &&
      this.budgetRows.size === 0 &&
      this.useRows.size === 0 &&
      this.machineRows.size === 0 &&
      this.auditRows.length === 0 &&
      this.inboxRows.length === 0 &&
      this.receiptRows.size === 0 &&
      this.metaValues.size === 0
    );
  }

  /** What to commit. Only of a settled draft: a job whose state does not follow its tasks must never reach the disk. */
  changeSet(): ChangeSet {
    if (this.touchedJobs.size > 0 || this.requeuedJobs.size > 0) {
      throw new Error(
        `Draft not settled: ${[...this.touchedJobs, ...this.requeuedJobs].slice(0, 5).join(', ')}`,
      );
    }
    return {
      jobs: [...this.jobs.values()],
      tasks: [...this.tasks.values()],
      attempts: [...this.attempts.values()],
      budgets: [...this.budgetRows.values()],
      uses: [...this.useRows.values()],
      machines: [...this.machineRows].map(([id, machine]) => ({ id, machine })),
      audit: this.auditRows,
      inbox: this.inboxRows,
      receipts: [...this.receiptRows].map(([requestId, { atMs, answer }]) => ({ requestId, atMs, answer })),
      meta: Object.fromEntries(this.metaValues),
    };
  }
}

function pushTo<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
