/** Ends by time and by loss: time limits, scheduling deadlines, workers that are gone, preemption. */
import { stateClause } from '../contract/state-words.js';
import { isTerminalJobState } from '../contract/states.js';
import type { Cause } from '../contract/views.js';
import { formatDuration } from '../formats/durations.js';
import { auditAttempt, endAttempt, endTask, isTerminalAttempt } from './attempt-end.js';
import type { Draft } from './draft.js';
import { controllerActor } from './entities.js';
import { ok, refuse, type Result } from '../contract/errors.js';
import { activeCount } from './tally.js';

/** How long the job or attempt of that id has lasted since a moment of the wall clock, which may have been set since. */
export type Elapsed = (id: string, sinceMs: number) => number;

/** Ends attempts that ran longer than their job's time limit: FAILED, whatever the retry budget, not finished until verified gone. */
export function executionTimeouts(
  draft: Draft,
  nowMs: number,
  elapsed: Elapsed = (_, sinceMs) => nowMs - sinceMs,
): number {
  let ended = 0;
  for (const uid of draft.due(nowMs).attempts) {
    const attempt = draft.attempt(uid);
    const limitMs = attempt === undefined ? null : (draft.job(attempt.jobId)?.spec.timeoutMs ?? null);
    if (
      attempt === undefined ||
      limitMs === null ||
      attempt.startedAtMs === null ||
      isTerminalAttempt(attempt)
    )
      continue;
    if (attempt.startedAtMs + limitMs > nowMs || elapsed(uid, attempt.startedAtMs) < limitMs) continue;
    endAttempt(draft, attempt, {
      state: 'FAILED',
      nowMs,
      actor: controllerActor,
      cause: { code: 'TIME_LIMIT', message: `Ran longer than its time limit of ${formatDuration(limitMs)}.` },
      mayRetry: false,
    });
    ended += 1;
  }
  return ended;
}

/**
 * A deadline is about the start. A job of which nothing has run, and nothing is placed, ends as a whole; else each of its tasks
 * that was never placed ends alone. A task that was placed before and has to run again waits on: its start was in time.
 */
export function schedulingDeadlines(
  draft: Draft,
  nowMs: number,
  /** Why a waiting task waits, for the message. */
  waitingCause: (taskId: string) => Cause | null = () => null,
  elapsed: Elapsed = (_, sinceMs) => nowMs - sinceMs,
): number {
  let ended = 0;
  for (const jobId of draft.due(nowMs).jobs) {
    const job = draft.job(jobId);
    if (job === undefined || isTerminalJobState(job.state) || job.schedulingDeadlineMs === null) continue;
    const allowedMs = job.schedulingDeadlineMs - job.submittedAtMs;
    if (job.schedulingDeadlineMs > nowMs || elapsed(jobId, job.submittedAtMs) < allowedMs) continue;
    const whole = job.startedAtMs === null && activeCount(draft.tally(jobId)) === 0;
    const waited = formatDuration(allowedMs);
    for (const task of draft.tasksOf(jobId)) {
      if (task.state !== 'PENDING' || (!whole && task.currentAttempt >= 0)) continue;
      const why = waitingCause(task.id);
      const cause: Cause = {
        code: 'SCHEDULING_DEADLINE',
        message: `Could not start within ${waited} of its submission.${why === null ? '' : ` ${why.message}`}`,
      };
      endTask(draft, task, {
        state: 'UNSCHEDULABLE',
        cause,
        nowMs,
        finishedAtMs: nowMs,
        actor: controllerActor,
      });
      ended += 1;
    }
  }
  return ended;
}

/** A worker is gone for good: its attempts are finished at once, started ones on the preemption budget, others free of charge. */
export function workerLost(draft: Draft, workerId: string, cause: Cause, nowMs: number): number {
  const lost = [...draft.unfinishedAttempts()].filter((attempt) => attempt.workerId === workerId);
  for (const { uid } of lost) {
    // Read anew: an earlier one of the same gang may have ended it meanwhile.
    const attempt = draft.attempt(uid);
    if (attempt === undefined) continue;
    const finished = { ...attempt, finishedAtMs: nowMs };
    if (isTerminalAttempt(attempt)) {
      draft.putAttempt(finished);
      auditAttempt(draft, attempt, 'attempt_verified_gone', nowMs, { lost: workerId });
    } else {
      endAttempt(draft, finished, {
        state: 'WORKER_FAILED',
        nowMs,
        actor: controllerActor,
        cause,
        mayRetry: true,
      });
    }
  }
  return lost.length;
}

/** Takes a place away for better work: requeued within the preemption budget; capacity stays held until verified gone. */
export function preempt(
  draft: Draft,
  uid: string,
  options: {
    readonly reason: string;
    readonly actor: string;
    readonly nowMs: number;
    /** The job that gets the place. */
    readonly forJob?: string;
  },
): Result<null> {
  const attempt = draft.attempt(uid);
  if (attempt === undefined) return refuse('NOT_FOUND', `There is no attempt ${uid}.`);
  if (isTerminalAttempt(attempt)) {
    return refuse(
      'FAILED_PRECONDITION',
      `Attempt ${uid} of ${attempt.taskId} has ended already (${stateClause[attempt.state]}).`,
    );
  }
  const { nowMs, forJob } = options;
  auditAttempt(
    draft,
    attempt,
    'attempt_notified',
    nowMs,
    { ...(forJob === undefined ? {} : { forJob }), ...noticeDetail(draft, attempt.jobId, nowMs) },
    options.actor,
  );
  const notified = { ...attempt, noticeAtMs: nowMs };
  endAttempt(draft, notified, {
    state: 'PREEMPTED',
    nowMs: options.nowMs,
    actor: options.actor,
    cause: { code: 'PREEMPTED', message: options.reason },
    mayRetry: true,
  });
  return ok(null);
}

/** How a job's programs are told to leave, and when they are killed. */
function noticeDetail(draft: Draft, jobId: string, nowMs: number): Readonly<Record<string, unknown>> {
  const spec = draft.job(jobId)?.spec;
  return spec === undefined ? {} : { signal: spec.stopSignal, killedAtMs: nowMs + spec.graceMs };
}
