/**
 * The controller's working set: every row of each tree that is not over, with the indexes decisions need. It changes only by
 * `apply` of what was committed, so a change that did not reach the disk leaves no trace here.
 */
import { isTerminalJobState, isTerminalTaskState } from '../contract/states.js';
import type { Cause } from '../contract/views.js';
import { addUse, copyUsed, holdsCapacity, removeUse, type MutableUsed } from './capacity.js';
import { DeadlineIndex } from './deadline-index.js';
import type { Attempt, ChangeSet, Job, Machine, Task, UserBudget, UserUse } from './entities.js';
import { nameKey } from './names.js';
import { activeCount, countTask, emptyTally, newTally, type JobTally, type MutableTally } from './tally.js';
import {
  noColdRows,
  nothingUsed,
  type ColdRows,
  type DueDeadlines,
  type ModelView,
  type UsedCapacity,
} from './view.js';

/** Answers kept in memory; older ones are asked of the store. */
const maxReceipts = 4096;

interface JobNode {
  job: Job;
  readonly tasks: Task[];
  readonly children: string[];
  readonly tally: MutableTally;
  /** Unfinished attempts of its tasks. */
  unfinished: number;
}

export class ModelState implements ModelView {
  private readonly nodes = new Map<string, JobNode>();
  private readonly tasks = new Map<string, Task>();
  private readonly attempts = new Map<string, Attempt>();
  private readonly attemptsByTask = new Map<string, Attempt[]>();
  private readonly unfinished = new Map<string, Attempt>();
  private readonly usedByWorker = new Map<string, MutableUsed>();
  private readonly jobsByName = new Map<string, string[]>();
  private readonly open = new Map<string, number>();
  private readonly budgetRows = new Map<string, UserBudget>();
  private readonly useRows = new Map<string, UserUse>();
  private readonly machineRows = new Map<string, Machine>();
  private readonly receipts = new Map<string, unknown>();
  private readonly metaValues = new Map<string, number>();
  private readonly jobDeadlines = new DeadlineIndex();
  private readonly attemptDeadlines = new DeadlineIndex();

  constructor(private readonly cold: ColdRows = noColdRows) {}

  job(id: string): Job | undefined {
    return this.nodes.get(id)?.job;
  }

  findJob(id: string): Job | undefined {
    return this.nodes.get(id)?.job ?? this.cold.job(id);
  }

  latestNamed(user: string, parentId: string | null, name: string): Job | undefined {
    const ids = this.jobsByName.get(nameKey(user, parentId, name));
    const warm = ids === undefined ? undefined : this.job(ids.at(-1) ?? '');
    const cold = this.cold.latestNamed(user, parentId, name);
    if (warm === undefined || cold === undefined) return warm ?? cold;
    return warm.submittedAtMs >= cold.submittedAtMs ? warm : cold;
  }

  task(id: string): Task | undefined {
    return this.tasks.get(id);
  }

  attempt(uid: string): Attempt | undefined {
    return this.attempts.get(uid);
  }

  tasksOf(jobId: string): readonly Task[] {
    return this.nodes.get(jobId)?.tasks ?? [];
  }

  childrenOf(jobId: string): readonly Job[] {
    const node = this.nodes.get(jobId);
    if (node === undefined || node.children.length === 0) return [];
    return node.children.map((id) => this.job(id)).filter((child) => child !== undefined);
  }

  attemptsOf(taskId: string): readonly Attempt[] {
    return this.attemptsByTask.get(taskId) ?? [];
  }

  tally(jobId: string): JobTally {
    return this.nodes.get(jobId)?.tally ?? emptyTally;
  }

  unfinishedAttempts(): Iterable<Attempt> {
    return this.unfinished.values();
  }

  get unfinishedCount(): number {
    return this.unfinished.size;
  }

  used(workerId: string): UsedCapacity {
    return this.usedByWorker.get(workerId) ?? nothingUsed;
  }

  openTasks(submittedBy: string): number {
    return this.open.get(submittedBy) ?? 0;
  }

  budget(user: string): UserBudget | undefined {
    return this.budgetRows.get(user);
  }

  budgets(): Iterable<UserBudget> {
    return this.budgetRows.values();
  }

  use(user: string): UserUse | undefined {
    return this.useRows.get(user);
  }

  uses(): Iterable<UserUse> {
    return this.useRows.values();
  }

  machine(id: string): Machine | undefined {
    return this.machineRows.get(id);
  }

  machines(): Iterable<Machine> {
    return this.machineRows.values();
  }

  receipt(requestId: string): unknown {
    return this.receipts.get(requestId) ?? this.cold.receipt(requestId);
  }

  meta(key: string): number | undefined {
    return this.metaValues.get(key);
  }

  due(nowMs: number): DueDeadlines {
    return { jobs: this.jobDeadlines.due(nowMs), attempts: this.attemptDeadlines.due(nowMs) };
  }

  /** When the next deadline comes; null for none. The controller sets one timer by it. */
  nextDeadlineMs(): number | null {
    const job = this.jobDeadlines.earliestMs();
    const attempt = this.attemptDeadlines.earliestMs();
    const known = [job, attempt, ...this.drainDeadlines()].filter((ms) => ms !== null);
    return known.length === 0 ? null : Math.min(...known);
  }

  private drainDeadlines(): (number | null)[] {
    return [...this.machineRows.values()].map((row) => row.drainDeadlineMs);
  }

  /** Ids of the jobs in memory. */
  jobIds(): Iterable<string> {
    return this.nodes.keys();
  }

  /**
   * The ended job of the same name whose processes are not verified gone yet, and which this job must not run beside: a later
   * run of a name never overlaps what is left of an earlier, ended one. Undefined when there is none.
   */
  predecessorOf(job: Job): Job | undefined {
    const ids = this.jobsByName.get(nameKey(job.user, job.parentId, job.name));
    if (ids === undefined || ids.length < 2) return undefined;
    for (const id of ids) {
      const node = this.nodes.get(id);
      if (node === undefined || node.job.submittedAtMs >= job.submittedAtMs) continue;
      if (node.unfinished > 0 && isTerminalJobState(node.job.state)) return node.job;
    }
    return undefined;
  }

  /** Live jobs of the same name submitted later, which must not run beside what is left of this one. */
  laterRunsOf(job: Job): Job[] {
    const ids = this.jobsByName.get(nameKey(job.user, job.parentId, job.name)) ?? [];
    return ids
      .map((id) => this.job(id))
      .filter((other) => other !== undefined)
      .filter((other) => other.submittedAtMs > job.submittedAtMs && !isTerminalJobState(other.state));
  }

  /** A task is placeable when PENDING and nothing of its earlier attempts lives; a gang's when that holds for each member. */
  isPlaceable(task: Task): boolean {
    const node = this.nodes.get(task.jobId);
    if (node === undefined || task.state !== 'PENDING') return false;
    if (node.job.spec.gangBy !== null) return node.unfinished === 0 && activeCount(node.tally) === 0;
    return !this.attemptsOf(task.id).some(holdsCapacity);
  }

  /** What of an earlier run keeps a PENDING task from being placed, whatever is free; null when nothing does. */
  predecessorCause(taskId: string): Cause | null {
    const task = this.tasks.get(taskId);
    const job = task === undefined ? undefined : this.job(task.jobId);
    if (task === undefined || job === undefined || task.state !== 'PENDING') return null;
    if (this.attemptsOf(taskId).some(holdsCapacity)) {
      return {
        code: 'WAITS_FOR_PREDECESSOR',
        message: `Waits until the processes of attempt ${task.currentAttempt} are verified gone.`,
      };
    }
    const predecessor = this.predecessorOf(job);
    if (predecessor !== undefined) return waitsForJob(predecessor);
    if (this.isPlaceable(task)) return null;
    return {
      code: 'WAITS_FOR_PREDECESSOR',
      message: 'Waits until the processes of all members of its gang are verified gone.',
    };
  }

  /** Takes over what was committed. Rows may come in any order between jobs, tasks and attempts of one change set. */
  apply(change: ChangeSet): void {
    const touchedJobs = new Set<string>();
    // In submission order a parent comes before its children, and names and children stay sorted.
    const jobs = change.jobs.length < 2 ? change.jobs : change.jobs.toSorted(bySubmission);
    for (const job of jobs) {
      this.putJob(job);
      touchedJobs.add(job.id);
    }
    for (const task of change.tasks) {
      this.putTask(task);
      touchedJobs.add(task.jobId);
    }
    for (const attempt of change.attempts) this.putAttempt(attempt);
    for (const id of touchedJobs) this.refreshJobDeadline(id);
    for (const row of change.budgets) this.budgetRows.set(row.user, row);
    for (const row of change.uses) this.useRows.set(row.user, row);
    for (const { id, machine } of change.machines) {
      if (machine === null) this.machineRows.delete(id);
      else this.machineRows.set(id, machine);
    }
    for (const { requestId, answer } of change.receipts) this.receipts.set(requestId, answer);
    for (const requestId of this.receipts.keys()) {
      if (this.receipts.size <= maxReceipts) break;
      this.receipts.delete(requestId);
    }
    for (const [key, value] of Object.entries(change.meta)) this.metaValues.set(key, value);
  }

  /** Forgets a whole tree that is over: all its jobs terminal, no attempt unfinished. False, and nothing done, when it is not. */
  evictTree(rootId: string): boolean {
    if (this.job(rootId)?.rootId !== rootId) return false;
    const ids = this.treeOf(rootId);
    for (const id of ids) {
      const node = this.nodes.get(id);
      if (node === undefined || node.unfinished > 0 || !isTerminalJobState(node.job.state)) return false;
    }
    for (const id of ids) this.forgetJob(id);
    return true;
  }

  private treeOf(rootId: string): string[] {
    const ids = [rootId];
    for (let at = 0; at < ids.length; at += 1) ids.push(...(this.nodes.get(ids[at] ?? '')?.children ?? []));
    return ids;
  }

  private forgetJob(id: string): void {
    const node = this.nodes.get(id);
    if (node === undefined) return;
    for (const task of node.tasks) {
      for (const attempt of this.attemptsOf(task.id)) this.attempts.delete(attempt.uid);
      this.attemptsByTask.delete(task.id);
      this.tasks.delete(task.id);
    }
    const key = nameKey(node.job.user, node.job.parentId, node.job.name);
    const rest = (this.jobsByName.get(key) ?? []).filter((other) => other !== id);
    if (rest.length === 0) this.jobsByName.delete(key);
    else this.jobsByName.set(key, rest);
    this.jobDeadlines.set(id, null);
    this.nodes.delete(id);
  }

  private putJob(job: Job): void {
    const node = this.nodes.get(job.id);
    if (node !== undefined) {
      node.job = job;
      return;
    }
    this.nodes.set(job.id, { job, tasks: [], children: [], tally: newTally(), unfinished: 0 });
    if (job.parentId !== null) this.nodes.get(job.parentId)?.children.push(job.id);
    const key = nameKey(job.user, job.parentId, job.name);
    const named = this.jobsByName.get(key);
    if (named === undefined) this.jobsByName.set(key, [job.id]);
    else named.push(job.id);
  }

  private putTask(task: Task): void {
    const node = this.nodes.get(task.jobId);
    if (node === undefined) return;
    const before = this.tasks.get(task.id);
    this.tasks.set(task.id, task);
    node.tasks[task.index] = task;
    countTask(node.tally, before, task);
    const opened = Number(!isTerminalTaskState(task.state));
    const wasOpen = Number(before !== undefined && !isTerminalTaskState(before.state));
    if (opened !== wasOpen) {
      const identity = node.job.submittedBy;
      const count = this.openTasks(identity) + opened - wasOpen;
      if (count === 0) this.open.delete(identity);
      else this.open.set(identity, count);
    }
  }

  private putAttempt(attempt: Attempt): void {
    const node = this.nodes.get(attempt.jobId);
    if (node === undefined) return;
    const before = this.attempts.get(attempt.uid);
    this.attempts.set(attempt.uid, attempt);
    const list = this.attemptsByTask.get(attempt.taskId) ?? [];
    list[attempt.number] = attempt;
    this.attemptsByTask.set(attempt.taskId, list);
    const used = copyOnce(this.usedByWorker, attempt.workerId);
    if (holdsCapacity(before)) {
      removeUse(used, before);
      node.unfinished -= 1;
      this.unfinished.delete(before.uid);
    }
    if (holdsCapacity(attempt)) {
      addUse(used, attempt);
      node.unfinished += 1;
      this.unfinished.set(attempt.uid, attempt);
    }
    if (used.attempts === 0) this.usedByWorker.delete(attempt.workerId);
    const limit = node.job.spec.timeoutMs;
    const runs = attempt.state === 'BUILDING' || attempt.state === 'RUNNING';
    this.attemptDeadlines.set(
      attempt.uid,
      limit !== null && runs && attempt.startedAtMs !== null ? attempt.startedAtMs + limit : null,
    );
  }

  /** See `schedulingDeadlines` for what a deadline means. */
  private refreshJobDeadline(jobId: string): void {
    const node = this.nodes.get(jobId);
    if (node === undefined) return;
    const { job, tally } = node;
    const nothingRan = job.startedAtMs === null && activeCount(tally) === 0;
    const concerned = !isTerminalJobState(job.state) && (tally.fresh > 0 || nothingRan);
    this.jobDeadlines.set(jobId, concerned ? job.schedulingDeadlineMs : null);
  }
}

function bySubmission(left: Job, right: Job): number {
  return left.submittedAtMs - right.submittedAtMs;
}

function copyOnce(map: Map<string, MutableUsed>, workerId: string): MutableUsed {
  const known = map.get(workerId);
  if (known !== undefined) return known;
  const made = copyUsed(nothingUsed);
  map.set(workerId, made);
  return made;
}

export function waitsForJob(predecessor: Job): Cause {
  return {
    code: 'WAITS_FOR_PREDECESSOR',
    message: `Waits until the processes of ${predecessor.id}, the run of this name before it, are verified gone.`,
  };
}
