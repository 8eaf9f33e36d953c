/** What the end of an attempt means for its task and its gang: retry budgets, requeue, tear-down. */
import {
  isActiveTaskState,
  isTerminalTaskState,
  type AttemptState,
  type TaskState,
} from '../contract/states.js';
import { stateClause } from '../contract/state-words.js';
import type { Cause } from '../contract/views.js';
import type { Draft } from './draft.js';
import { controllerActor, type Attempt, type AuditAction, type Task } from './entities.js';
import { timeLimitExitCode } from './exit-codes.js';
import { attemptNameOf } from './names.js';

export type EndState = Exclude<AttemptState, 'ASSIGNED' | 'BUILDING' | 'RUNNING'>;

export interface AttemptEnd {
  readonly state: EndState;
  readonly nowMs: number;
  readonly actor: string;
  readonly cause: Cause | null;
  /** False: whatever the budget, the task does not run again (time limit). */
  readonly mayRetry: boolean;
}

export function isTerminalAttempt(attempt: Attempt): boolean {
  return isTerminalTaskState(attempt.state);
}

/** An audit row of an attempt, filed under its path. */
export function auditAttempt(
  draft: Draft,
  attempt: Attempt,
  action: AuditAction,
  nowMs: number,
  detail: Readonly<Record<string, unknown>> = {},
  actor = controllerActor,
): void {
  const entity = attemptNameOf(attempt.taskId, attempt.number);
  draft.audit(nowMs, actor, action, entity, { uid: attempt.uid, ...detail });
}

/** The attempt a task runs or ran last. */
export function currentAttempt(draft: Draft, task: Task): Attempt | undefined {
  return draft.attemptsOf(task.id)[task.currentAttempt];
}

/**
 * Ends the current, active attempt of a task. `attempt` carries what was seen (start, finish, exit code) already; a null
 * `finishedAtMs` means that its processes may live and its capacity stays reserved.
 */
export function endAttempt(draft: Draft, attempt: Attempt, end: AttemptEnd): void {
  const task = draft.task(attempt.taskId);
  if (task === undefined) return;
  const ended: Attempt = {
    ...attempt,
    state: end.state,
    cause: end.cause,
    // One reading for attempt, task and job. What the command made of the signal is no exit code of its own choice.
    exitCode: end.cause?.code === 'TIME_LIMIT' ? timeLimitExitCode : attempt.exitCode,
  };
  draft.putAttempt(ended);
  auditAttempt(
    draft,
    attempt,
    'attempt_ended',
    end.nowMs,
    {
      state: end.state,
      exitCode: ended.exitCode,
      ...(ended.signal === null ? {} : { signal: ended.signal }),
      ...(end.cause === null ? {} : { cause: end.cause.code }),
    },
    end.actor,
  );
  const outcome = outcomeOf(draft, task, ended, end);
  if (outcome.state === 'PENDING') {
    requeueTask(draft, { ...task, ...outcome.counts }, end);
  } else {
    endTask(
      draft,
      { ...task, ...outcome.counts, exitCode: ended.exitCode },
      {
        state: outcome.state,
        cause: end.cause,
        nowMs: end.nowMs,
        finishedAtMs: ended.finishedAtMs ?? end.nowMs,
        actor: end.actor,
      },
    );
  }
  fanOut(draft, task, end.state, outcome.state, end);
}

interface Outcome {
  readonly state: TaskState;
  readonly counts: Pick<Task, 'failureCount' | 'preemptionCount'>;
}

function outcomeOf(draft: Draft, task: Task, ended: Attempt, end: AttemptEnd): Outcome {
  const spec = draft.job(task.jobId)?.spec;
  const maxFailures = spec?.maxRetriesFailure ?? 0;
  const maxPreemptions = spec?.maxRetriesPreemption ?? 0;
  const { failureCount, preemptionCount } = task;
  switch (end.state) {
    case 'SUCCEEDED':
      return { state: 'SUCCEEDED', counts: { failureCount, preemptionCount } };
    case 'FAILED': {
      const failures = failureCount + 1;
      const again = end.mayRetry && failures <= maxFailures;
      return { state: again ? 'PENDING' : 'FAILED', counts: { failureCount: failures, preemptionCount } };
    }
    case 'KILLED':
    case 'WORKER_FAILED':
    case 'PREEMPTED': {
      // What never started cost nothing: it is tried again free of charge.
      if (
        ended.startedAtMs === null &&
        (end.state === 'PREEMPTED' || startsInVain(draft, task) <= maxFreeRequeues)
      ) {
        return { state: 'PENDING', counts: { failureCount, preemptionCount } };
      }
      const preemptions = preemptionCount + 1;
      const lost = end.state === 'PREEMPTED' ? 'PREEMPTED' : 'WORKER_FAILED';
      return {
        state: preemptions <= maxPreemptions ? 'PENDING' : lost,
        counts: { failureCount, preemptionCount: preemptions },
      };
    }
    case 'COSCHED_FAILED':
      return { state: 'COSCHED_FAILED', counts: { failureCount, preemptionCount } };
  }
}

/**
 * Attempts lost in a row before they started that cost nothing. From there on each counts as a preemption, so that a machine on
 * which nothing can be started ends the task with its reason instead of trying for ever.
 */
export const maxFreeRequeues = 10;

/** How many of the task's last attempts in a row were lost before they started. */
function startsInVain(draft: Draft, task: Task): number {
  const attempts = draft.attemptsOf(task.id);
  let count = 0;
  for (let at = attempts.length - 1; at >= 0 && count <= maxFreeRequeues; at -= 1) {
    const attempt = attempts[at];
    if (attempt?.startedAtMs !== null || (attempt.state !== 'WORKER_FAILED' && attempt.state !== 'KILLED'))
      break;
    count += 1;
  }
  return count;
}

function requeueTask(draft: Draft, task: Task, end: Pick<AttemptEnd, 'nowMs' | 'actor' | 'cause'>): void {
  draft.putTask({
    ...task,
    state: 'PENDING',
    finishedAtMs: null,
    exitCode: null,
    cause: null,
    waiting: null,
  });
  draft.markRequeued(task.jobId);
  draft.audit(end.nowMs, end.actor, 'task_retry_scheduled', task.id, {
    afterAttempt: task.currentAttempt,
    failures: task.failureCount,
    preemptions: task.preemptionCount,
    ...(end.cause === null ? {} : { cause: end.cause.code }),
  });
}

export interface TaskEnd {
  readonly state: TaskState;
  readonly cause: Cause | null;
  readonly nowMs: number;
  readonly finishedAtMs: number;
  readonly actor: string;
}

/** Ends a task for good. Its attempt is the caller's business. */
export function endTask(draft: Draft, task: Task, end: TaskEnd): void {
  draft.putTask({
    ...task,
    state: end.state,
    final: true,
    finishedAtMs: end.finishedAtMs,
    cause: end.state === 'SUCCEEDED' ? null : end.cause,
    waiting: null,
    claim: null,
  });
  draft.audit(
    end.nowMs,
    end.actor,
    end.state === 'UNSCHEDULABLE' ? 'task_unschedulable' : 'task_ended',
    task.id,
    {
      state: end.state,
      exitCode: task.exitCode,
      ...(end.cause === null ? {} : { cause: end.cause.code }),
    },
  );
}

/** Ends a task and its running attempt from outside: cancelled, or its job or parent ended. Terminal ones stay as they are. */
export function killTask(draft: Draft, task: Task, cause: Cause, nowMs: number, actor: string): void {
  if (isTerminalTaskState(task.state)) return;
  const attempt = currentAttempt(draft, task);
  if (attempt !== undefined && !isTerminalAttempt(attempt)) {
    draft.putAttempt({ ...attempt, state: 'KILLED', cause });
    auditAttempt(draft, attempt, 'attempt_ended', nowMs, { state: 'KILLED', cause: cause.code }, actor);
  }
  endTask(draft, task, { state: 'KILLED', cause, nowMs, finishedAtMs: nowMs, actor });
}

const gangTriggers: ReadonlySet<EndState> = new Set(['FAILED', 'WORKER_FAILED', 'PREEMPTED', 'KILLED']);

/** A gang stands or falls together: a requeued member requeues its active siblings, a lost one ends them. */
function fanOut(draft: Draft, member: Task, reported: EndState, resolved: TaskState, end: AttemptEnd): void {
  if (!gangTriggers.has(reported)) return;
  if ((draft.job(member.jobId)?.spec.gangBy ?? null) === null) return;
  const requeue = resolved === 'PENDING';
  const cause: Cause = {
    code: 'GANG_SIBLING_ENDED',
    message: requeue
      ? `Task ${member.index} of its gang has to run again, and a gang runs together or not at all.`
      : `Task ${member.index} of its gang is over (${stateClause[resolved]}), and a gang runs together or not at all.`,
  };
  for (const sibling of draft.tasksOf(member.jobId)) {
    if (sibling.id === member.id || !isActiveTaskState(sibling.state)) continue;
    const attempt = currentAttempt(draft, sibling);
    if (attempt !== undefined && !isTerminalAttempt(attempt)) {
      const noticeAtMs = reported === 'PREEMPTED' ? end.nowMs : attempt.noticeAtMs;
      draft.putAttempt({ ...attempt, state: 'COSCHED_FAILED', cause, noticeAtMs });
      const detail = { state: 'COSCHED_FAILED', cause: cause.code };
      auditAttempt(draft, attempt, 'attempt_ended', end.nowMs, detail, end.actor);
    }
    if (requeue) requeueTask(draft, sibling, { ...end, cause });
    else {
      endTask(draft, sibling, {
        state: 'COSCHED_FAILED',
        cause,
        nowMs: end.nowMs,
        finishedAtMs: end.nowMs,
        actor: end.actor,
      });
    }
  }
}
