/** Ends asked for from outside: cancelling a job, or declaring it complete. */
import { stateClause } from '../contract/state-words.js';
import { isTerminalJobState, isTerminalTaskState } from '../contract/states.js';
import { ok, refuse, type Result } from '../contract/errors.js';
import type { Cause } from '../contract/views.js';
import { currentAttempt, endTask, isTerminalAttempt } from './attempt-end.js';
import type { Draft } from './draft.js';
import { endDescendants, endJob } from './settle.js';

export interface CancelOptions {
  readonly actor: string;
  readonly nowMs: number;
  /** Sentence for the cause; absent: who stopped it. */
  readonly message?: string;
}

export interface Cancelled {
  /** Jobs that were ended: the named one and its descendants. */
  readonly jobs: number;
}

/**
 * Ends the job and all its descendants as KILLED, whatever its policy for children; only WORKER_FAILED among terminal states is
 * overwritten. Refused when nothing of the tree was left to end.
 */
export function cancel(draft: Draft, jobId: string, options: CancelOptions): Result<Cancelled> {
  const { actor, nowMs } = options;
  const job = draft.findJob(jobId);
  if (job === undefined) return refuse('NOT_FOUND', `There is no job ${jobId}.`);
  const cause: Cause = { code: 'STOPPED_BY_USER', message: options.message ?? `Stopped by ${actor}.` };
  let jobs = 0;
  // One that left memory is over with all its tree, and stays as it ended.
  const live = draft.job(jobId) !== undefined;
  if (live && (!isTerminalJobState(job.state) || job.state === 'WORKER_FAILED')) {
    endJob(draft, job, {
      state: 'KILLED',
      cause,
      exitCode: null,
      finishedAtMs: nowMs,
      nowMs,
      actor,
      taskCause: cause,
    });
    jobs += 1;
  }
  const parentCause: Cause = {
    code: 'PARENT_ENDED',
    message: `Its parent ${jobId} was stopped by ${actor}.`,
  };
  jobs += endDescendants(draft, jobId, parentCause, nowMs, actor, true);
  if (jobs === 0) {
    return refuse(
      'FAILED_PRECONDITION',
      `${jobId} has ended already (${stateClause[job.state]}); there is nothing to stop.`,
    );
  }
  draft.audit(nowMs, actor, 'job_cancelled', jobId, { jobs });
  return ok({ jobs });
}

/** Declares a job done: what is unfinished of it counts as SUCCEEDED with exit code 0 and is stopped; descendants end. */
export function complete(
  draft: Draft,
  jobId: string,
  options: Pick<CancelOptions, 'actor' | 'nowMs'>,
): Result<null> {
  const { actor, nowMs } = options;
  const job = draft.findJob(jobId);
  if (job === undefined) return refuse('NOT_FOUND', `There is no job ${jobId}.`);
  if (isTerminalJobState(job.state)) {
    return refuse('FAILED_PRECONDITION', `${jobId} has ended already (${stateClause[job.state]}).`);
  }
  for (const task of draft.tasksOf(jobId)) {
    if (isTerminalTaskState(task.state)) continue;
    const attempt = currentAttempt(draft, task);
    if (attempt !== undefined && !isTerminalAttempt(attempt)) {
      draft.putAttempt({ ...attempt, state: 'SUCCEEDED', exitCode: 0 });
    }
    endTask(
      draft,
      { ...task, exitCode: 0 },
      { state: 'SUCCEEDED', cause: null, nowMs, finishedAtMs: nowMs, actor },
    );
  }
  endJob(draft, job, { state: 'SUCCEEDED', cause: null, exitCode: 0, finishedAtMs: nowMs, nowMs, actor });
  endDescendants(
    draft,
    jobId,
    { code: 'PARENT_ENDED', message: `Its parent ${jobId} was declared complete.` },
    nowMs,
    actor,
  );
  return ok(null);
}
