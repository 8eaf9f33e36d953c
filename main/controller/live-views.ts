/** What the controller's memory says of live jobs, in the contract's shapes. */
import { bandRank, isActiveTaskState, isTerminalJobState } from '../../core/contract/states.js';
import type { Cause, Counts, DemotionView, JobSummary, TaskView } from '../../core/contract/views.js';
import type { ModelState } from '../../core/model/draft.js';
import type { ChangeSet, Job, Task } from '../../core/model/entities.js';
import { summarizeJob, toTaskView } from '../../core/model/summary.js';

/** Tasks in one snapshot of a job; more are read in pages. */
const maxSnapshotTasks = 500;

/** What is known of what waits. */
interface Waits {
  causeOf(taskId: string): Cause | null;
  /** Why a waiting job competes in a lower band than it asks for. */
  demotionOf(jobId: string, nowMs: number): DemotionView | null;
}

export class LiveViews {
  /** States as last counted, of jobs that are not over. */
  private readonly open = new Map<string, 'PENDING' | 'RUNNING'>();
  private runningCount = 0;
  private waitingCount = 0;
  private finishedCount = 0;
  private failedUnseenCount = 0;

  /** The state is asked for anew each time: a failed write replaces it. */
  constructor(
    private readonly current: () => ModelState,
    private readonly placement: () => Waits,
    private readonly nowMs: () => number,
  ) {}

  private get state(): ModelState {
    return this.current();
  }

  /** Counts of the database at start; what is live is counted from memory. */
  start(counts: Counts): void {
    this.finishedCount = counts.finished;
    this.failedUnseenCount = counts.failedUnseen;
    for (const id of this.state.jobIds()) {
      const job = this.state.job(id);
      if (job !== undefined && !isTerminalJobState(job.state)) this.count(job);
    }
  }

  counts(): Counts {
    return {
      running: this.runningCount,
      waiting: this.waitingCount,
      failedUnseen: this.failedUnseenCount,
      finished: this.finishedCount,
    };
  }

  setFailedUnseen(count: number): void {
    this.failedUnseenCount = count;
  }

  /** So many jobs that were over are kept no longer. */
  forgotten(count: number): void {
    this.finishedCount -= count;
  }

  committed(changes: ChangeSet): void {
    for (const job of changes.jobs) this.count(job);
    for (const entry of changes.inbox) {
      if (entry.state === 'FAILED' || entry.state === 'WORKER_FAILED') this.failedUnseenCount += 1;
    }
  }

  private count(job: Job): void {
    const before = this.open.get(job.id);
    if (before === 'RUNNING') this.runningCount -= 1;
    if (before === 'PENDING') this.waitingCount -= 1;
    if (job.state === 'RUNNING' || job.state === 'PENDING') {
      this.open.set(job.id, job.state);
      if (job.state === 'RUNNING') this.runningCount += 1;
      else this.waitingCount += 1;
      return;
    }
    this.open.delete(job.id);
    // A job may be written once more after its end, when its last process is verified gone.
    if (before !== undefined || job.finishedAtMs === job.submittedAtMs) this.finishedCount += 1;
  }

  /** The line of a live job, with why it waits as the last round saw it. */
  summary(job: Job): JobSummary {
    const tasks = this.state.tasksOf(job.id);
    const attempts = tasks
      .map((task) => this.state.attemptsOf(task.id).at(-1))
      .filter((last) => last !== undefined);
    const summary = summarizeJob(job, tasks, attempts, this.state.childrenOf(job.id).length);
    const waiting = tasks.find((task) => task.state === 'PENDING');
    const active = attempts.find(({ state, demoted }) => demoted !== undefined && isActiveTaskState(state));
    const demoted =
      active?.demoted ?? (waiting === undefined ? null : this.placement().demotionOf(job.id, this.nowMs()));
    return {
      ...summary,
      ...(demoted === null ? {} : { demoted }),
      ...(waiting === undefined ? {} : { waiting: this.placement().causeOf(waiting.id) }),
    };
  }

  has(jobId: string): boolean {
    return this.state.job(jobId) !== undefined;
  }

  hasTask(taskId: string): boolean {
    return this.state.task(taskId) !== undefined;
  }

  summaryOf(jobId: string): JobSummary | null {
    const job = this.state.job(jobId);
    return job === undefined ? null : this.summary(job);
  }

  private taskView(task: Task): TaskView {
    return {
      ...toTaskView(task, this.state.attemptsOf(task.id)),
      waiting: this.placement().causeOf(task.id),
    };
  }

  /** Rows read from the database, with those of live jobs as memory knows them. */
  refreshed(rows: readonly JobSummary[]): JobSummary[] {
    return rows.map((row) => {
      const job = this.state.job(row.id);
      if (job === undefined) return row;
      // One that is over stays as it was read, unless that was before its end.
      return isTerminalJobState(job.state) && isTerminalJobState(row.state) ? row : this.summary(job);
    });
  }

  /** Likewise for tasks. */
  refreshedTasks(rows: readonly TaskView[]): TaskView[] {
    return rows.map((row) => {
      const task = this.state.task(row.id);
      return task === undefined ? row : this.taskView(task);
    });
  }

  /** Longest running first. */
  running(limit: number): JobSummary[] {
    return this.first(limit, 'RUNNING', (a, b) => (a.startedAtMs ?? 0) - (b.startedAtMs ?? 0));
  }

  /** In the order they would start. */
  waiting(limit: number): JobSummary[] {
    return this.first(
      limit,
      'PENDING',
      (a, b) =>
        bandRank(a.band) - bandRank(b.band) ||
        b.depth - a.depth ||
        a.rootSubmittedAtMs - b.rootSubmittedAtMs ||
        a.submittedAtMs - b.submittedAtMs,
    );
  }

  /** The first few by an order, without sorting all that is open. */
  private first(
    limit: number,
    state: 'PENDING' | 'RUNNING',
    order: (a: Job, b: Job) => number,
  ): JobSummary[] {
    const best: Job[] = [];
    for (const [id, current] of this.open) {
      const job = current === state ? this.state.job(id) : undefined;
      if (job === undefined) continue;
      const last = best[best.length - 1];
      if (best.length === limit && last !== undefined && order(last, job) <= 0) continue;
      let at = best.length;
      while (at > 0) {
        const other = best[at - 1];
        if (other === undefined || order(other, job) <= 0) break;
        at -= 1;
      }
      best.splice(at, 0, job);
      if (best.length > limit) best.pop();
    }
    return best.map((job) => this.summary(job));
  }

  /** A job with its first tasks; null when it is not in memory. */
  job(jobId: string): { summary: JobSummary; tasks: TaskView[] } | null {
    const job = this.state.job(jobId);
    if (job === undefined) return null;
    const tasks = this.state.tasksOf(jobId).slice(0, maxSnapshotTasks);
    return {
      summary: this.summary(job),
      tasks: tasks.map((task) => this.taskView(task)),
    };
  }

  /** Jobs and tasks that a commit changed, once each; tasks only of jobs somebody looks at. */
  changed(
    changes: ChangeSet,
    watched: (jobId: string) => boolean,
  ): { jobs: JobSummary[]; touched: string[]; tasks: Map<string, TaskView[]> } {
    const jobIds = new Set<string>();
    const taskIds = new Map<string, string>();
    for (const job of changes.jobs) {
      jobIds.add(job.id);
      if (job.parentId !== null) jobIds.add(job.parentId);
    }
    for (const task of changes.tasks) {
      jobIds.add(task.jobId);
      taskIds.set(task.id, task.jobId);
    }
    for (const attempt of changes.attempts) {
      jobIds.add(attempt.jobId);
      taskIds.set(attempt.taskId, attempt.jobId);
    }
    const jobs: JobSummary[] = [];
    const touched: string[] = [];
    for (const id of jobIds) {
      const job = this.state.job(id);
      if (job === undefined) continue;
      // What is over may leave memory next; a line of what goes on is made when it is sent.
      if (isTerminalJobState(job.state)) jobs.push(this.summary(job));
      else touched.push(id);
    }
    const tasks = new Map<string, TaskView[]>();
    for (const [taskId, jobId] of taskIds) {
      if (!watched(jobId)) continue;
      const task = this.state.task(taskId);
      if (task === undefined) continue;
      const list = tasks.get(jobId) ?? [];
      list.push(this.taskView(task));
      tasks.set(jobId, list);
    }
    return { jobs, touched, tasks };
  }

  /** Lets trees leave memory in which this commit left nothing to do. */
  evictOver(changes: ChangeSet): void {
    const roots = new Set<string>();
    for (const job of changes.jobs) if (isTerminalJobState(job.state)) roots.add(job.rootId);
    for (const attempt of changes.attempts) {
      const job = attempt.finishedAtMs === null ? undefined : this.state.job(attempt.jobId);
      if (job !== undefined) roots.add(job.rootId);
    }
    for (const rootId of roots) this.state.evictTree(rootId);
  }
}
