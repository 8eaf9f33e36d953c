/**
 * Builds the line of the job list and the view of a task. The controller calls it with what it holds in memory, the reader with
 * what it aggregated in SQL, so that a published change and a page read from disk never differ.
 */
import { taskStates, type TaskState } from '../contract/states.js';
import type { AttemptView, Cause, JobSummary, TaskView } from '../contract/views.js';
import type { Attempt, Job, Task } from './entities.js';

/** Longest command line shown and searched, in UTF-16 units. */
export const maxCommandLineLength = 200;
/** Most workers named in one line. */
export const maxSummaryWorkers = 4;
/** Most attempts shown of one task, the last ones. */
export const maxTaskAttempts = 20;

/** A job without its specification, which is large and needed here for two values only. */
export type SummaryHead = Omit<
  Job,
  'spec' | 'submittedBy' | 'rootSubmittedAtMs' | 'schedulingDeadlineMs' | 'rank'
> & {
  /** GPUs asked for by all tasks together. */
  readonly gpuCount: number;
  readonly commandLine: string;
};

/** What a summary says of a job's tasks together. */
export interface TaskTotals {
  readonly counts: Readonly<Partial<Record<TaskState, number>>>;
  readonly failureCount: number;
  readonly preemptionCount: number;
  /** Of the PENDING task with the lowest index that has one. */
  readonly waiting: Cause | null;
}

/** The line of one job from the controller's records. `attempts` may hold older attempts too: only current ones count. */
export function summarizeJob(
  job: Job,
  tasks: readonly Task[],
  attempts: Iterable<Attempt>,
  childCount: number,
): JobSummary {
  return toJobSummary(summaryHead(job), totalTasks(tasks), currentWorkers(tasks, attempts), childCount);
}

export function summaryHead(job: Job): SummaryHead {
  return {
    ...job,
    gpuCount: job.spec.gpuCount * job.numTasks,
    commandLine: commandLineOf(job.spec.command),
  };
}

export function totalTasks(tasks: Iterable<Task>): TaskTotals {
  const counts: Partial<Record<TaskState, number>> = {};
  let failureCount = 0;
  let preemptionCount = 0;
  let first: Task | null = null;
  for (const task of tasks) {
    counts[task.state] = (counts[task.state] ?? 0) + 1;
    failureCount += task.failureCount;
    preemptionCount += task.preemptionCount;
    if (task.state === 'PENDING' && task.waiting !== null && (first === null || task.index < first.index))
      first = task;
  }
  return { counts, failureCount, preemptionCount, waiting: first?.waiting ?? null };
}

/** Workers of the tasks' current attempts, each once, in no order. */
export function currentWorkers(tasks: readonly Task[], attempts: Iterable<Attempt>): string[] {
  const current = new Map(tasks.map((task) => [task.id, task.currentAttempt]));
  const workers = new Set<string>();
  for (const attempt of attempts) {
    if (attempt.workerId !== '' && current.get(attempt.taskId) === attempt.number)
      workers.add(attempt.workerId);
  }
  return [...workers];
}

export function toJobSummary(
  head: SummaryHead,
  totals: TaskTotals,
  workers: readonly string[],
  childCount: number,
): JobSummary {
  const taskCounts: Partial<Record<TaskState, number>> = {};
  for (const state of taskStates) {
    const count = totals.counts[state] ?? 0;
    if (count > 0) taskCounts[state] = count;
  }
  return {
    id: head.id,
    name: head.name,
    user: head.user,
    parentId: head.parentId,
    rootId: head.rootId,
    depth: head.depth,
    state: head.state,
    band: head.band,
    submittedAtMs: head.submittedAtMs,
    startedAtMs: head.startedAtMs,
    finishedAtMs: head.finishedAtMs,
    numTasks: head.numTasks,
    taskCounts,
    childCount,
    failureCount: totals.failureCount,
    preemptionCount: totals.preemptionCount,
    gpuCount: head.gpuCount,
    exitCode: head.exitCode,
    cause: head.cause,
    waiting: totals.waiting,
    workers: [...workers].sort().slice(0, maxSummaryWorkers),
    commandLine: head.commandLine,
    retryOf: head.retryOf,
    held: head.held,
  };
}

/** One task with its last attempts. `attempts`: this task's, in any order. */
export function toTaskView(task: Task, attempts: readonly Attempt[]): TaskView {
  return {
    id: task.id,
    index: task.index,
    state: task.state,
    band: task.band,
    submittedAtMs: task.submittedAtMs,
    startedAtMs: task.startedAtMs,
    finishedAtMs: task.finishedAtMs,
    exitCode: task.exitCode,
    cause: task.cause,
    waiting: task.waiting,
    failureCount: task.failureCount,
    preemptionCount: task.preemptionCount,
    attempts: [...attempts]
      .sort((a, b) => a.number - b.number)
      .slice(-maxTaskAttempts)
      .map(toAttemptView),
  };
}

export function toAttemptView(attempt: Attempt): AttemptView {
  return {
    uid: attempt.uid,
    taskId: attempt.taskId,
    number: attempt.number,
    state: attempt.state,
    workerId: attempt.workerId === '' ? null : attempt.workerId,
    createdAtMs: attempt.createdAtMs,
    startedAtMs: attempt.startedAtMs,
    finishedAtMs: attempt.finishedAtMs,
    durationMs: attempt.durationMs,
    exitCode: attempt.exitCode,
    signal: attempt.signal,
    cause: attempt.cause,
    warnings: [...attempt.warnings],
    devices: [...attempt.devices],
    peakMemoryBytes: attempt.peakMemoryBytes,
    pid: attempt.pid,
    checkpointAtMs: attempt.checkpointAtMs,
    ...(attempt.usage === undefined ? {} : { usage: attempt.usage }),
    noticeAtMs: attempt.noticeAtMs,
    ...(attempt.demoted === undefined ? {} : { demoted: attempt.demoted }),
  };
}

const plainArgument = /^[A-Za-z0-9_@%+=:,./-]+$/;

/**
 * The argument vector in one line as a shell would take it, cut at 200 characters; for search and display. Line breaks and other
 * control characters become blanks, and halves of surrogate pairs the replacement character: the database could not keep them.
 */
export function commandLineOf(command: readonly string[]): string {
  let line = '';
  for (const argument of command) {
    // Long arguments are not quoted as a whole only to be cut.
    const start = argument.slice(0, maxCommandLineLength + 1);
    const quoted = plainArgument.test(start) ? start : `'${start.replaceAll("'", `'\\''`)}'`;
    line += line === '' ? quoted : ` ${quoted}`;
    if (line.length > maxCommandLineLength) break;
  }
  const clean = line.replaceAll(/\p{Cc}+/gu, ' ').replaceAll(/\p{Cs}/gu, '\uFFFD');
  if (clean.length <= maxCommandLineLength) return clean;
  // A pair cut in half would be such a half again.
  return `${clean.slice(0, maxCommandLineLength - 1).replace(/\p{Cs}$/u, '')}…`;
}
