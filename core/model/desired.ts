/** What shall be true of every attempt that is not finished: the complete desired set of level-triggered reconciliation. */
import type { CauseCode } from '../contract/views.js';
import { isTerminalAttempt } from './attempt-end.js';
import type { Attempt, Job, Task } from './entities.js';
import type { ModelView } from './view.js';

export type DesiredStop = 'cancelled' | 'preempted' | 'timeout' | 'job-ended' | 'superseded';

interface DesiredRow {
  readonly uid: string;
  readonly attempt: Attempt;
  readonly task: Task;
  readonly job: Job;
}

export type Desired =
  /** Not known to have started: start it, or go on when it was. */
  | (DesiredRow & { readonly kind: 'run' })
  /** Known to have started: keep it, adopt it, or report MISSING. */
  | (DesiredRow & { readonly kind: 'keep' })
  | (DesiredRow & {
      readonly kind: 'stop';
      readonly reason: DesiredStop;
      readonly signal: string;
      readonly graceMs: number;
      /** What it is told before: why, and when what lives is killed. Null: it was not asked to leave for others. */
      readonly notice: { readonly reason: string; readonly deadlineMs: number } | null;
    });

/** One entry an unfinished attempt, oldest first. */
export function desiredAttempts(view: ModelView): Desired[] {
  const desired: Desired[] = [];
  for (const attempt of view.unfinishedAttempts()) {
    const task = view.task(attempt.taskId);
    const job = view.job(attempt.jobId);
    if (task === undefined || job === undefined) continue;
    desired.push(desiredOf(attempt, task, job));
  }
  return desired;
}

export function desiredOf(attempt: Attempt, task: Task, job: Job): Desired {
  const row = { uid: attempt.uid, attempt, task, job };
  if (!isTerminalAttempt(attempt)) return { ...row, kind: attempt.state === 'ASSIGNED' ? 'run' : 'keep' };
  const { stopSignal, graceMs } = job.spec;
  const notice =
    attempt.noticeAtMs === null
      ? null
      : { reason: attempt.cause?.message ?? 'Preempted.', deadlineMs: attempt.noticeAtMs + graceMs };
  return { ...row, kind: 'stop', reason: stopReason(attempt, task), signal: stopSignal, graceMs, notice };
}

const reasonByCause: Partial<Record<CauseCode, DesiredStop>> = {
  STOPPED_BY_USER: 'cancelled',
  PARENT_ENDED: 'cancelled',
  PREEMPTED: 'preempted',
  TIME_LIMIT: 'timeout',
  JOB_ENDED: 'job-ended',
};

/** By the attempt's own cause where it has one (the task may have moved on since), else by the task's state. */
function stopReason(attempt: Attempt, task: Task): DesiredStop {
  const known = attempt.cause === null ? undefined : reasonByCause[attempt.cause.code];
  if (known !== undefined) return known;
  if (task.currentAttempt !== attempt.number) return 'superseded';
  switch (task.state) {
    case 'KILLED':
      return 'cancelled';
    case 'PREEMPTED':
    case 'PENDING':
      return 'preempted';
    case 'FAILED':
      return 'timeout';
    default:
      return 'job-ended';
  }
}
