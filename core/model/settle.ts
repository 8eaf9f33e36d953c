/** The second pass of a batch: every touched job's state is derived once, ended jobs are closed, cascades run. */
import { stateClause } from '../contract/state-words.js';
import { isTerminalJobState, isTerminalTaskState, type JobState } from '../contract/states.js';
import type { Cause } from '../contract/views.js';
import { currentAttempt, killTask } from './attempt-end.js';
import type { Draft } from './draft.js';
import { controllerActor, type Job } from './entities.js';
import { deriveJobState, jobCause, jobExitCode } from './job-state.js';
import { openCount } from './tally.js';

/** To be called once a batch, after its transitions and before `changeSet`. */
export function settle(draft: Draft, nowMs: number): void {
  for (;;) {
    const touched = draft.takeTouched();
    if (touched.jobs.size === 0 && touched.requeued.size === 0) return;
    for (const jobId of touched.jobs) {
      const job = draft.job(jobId);
      if (job !== undefined) recompute(draft, job, nowMs);
    }
    for (const jobId of touched.requeued) {
      const job = draft.job(jobId);
      if (job?.spec.preemptionPolicy !== 'TERMINATE_CHILDREN' || isTerminalJobState(job.state)) continue;
      const message = `A task of its parent ${job.id} has to run again, which starts its children anew.`;
      endDescendants(draft, job.id, { code: 'PARENT_ENDED', message }, nowMs, controllerActor);
    }
  }
}

function recompute(draft: Draft, job: Job, nowMs: number): void {
  if (isTerminalJobState(job.state)) return;
  const tally = draft.tally(job.id);
  const state = deriveJobState({
    tally,
    started: job.startedAtMs !== null,
    maxTaskFailures: job.spec.maxTaskFailures,
  });
  if (!isTerminalJobState(state)) {
    if (state !== job.state) draft.putJob({ ...job, state });
    return;
  }
  const tasks = draft.tasksOf(job.id);
  // Over by itself: it ended when its last task did, which may have been while nobody watched.
  const finishedAtMs =
    openCount(tally) > 0
      ? nowMs
      : tasks.reduce((latest, task) => Math.max(latest, task.finishedAtMs ?? 0), 0);
  endJob(draft, job, {
    state,
    cause: jobCause(state, tasks),
    exitCode: jobExitCode(state, tasks),
    finishedAtMs,
    nowMs,
    actor: controllerActor,
  });
  if (state !== 'SUCCEEDED' && job.spec.preemptionPolicy !== 'TERMINATE_CHILDREN') return;
  const cause: Cause = {
    code: 'PARENT_ENDED',
    message: `Its parent ${job.id} is over: ${stateClause[state]}.`,
  };
  endDescendants(draft, job.id, cause, nowMs, controllerActor);
}

export interface JobEnd {
  readonly state: JobState;
  readonly cause: Cause | null;
  readonly exitCode: number | null;
  readonly finishedAtMs: number;
  readonly nowMs: number;
  readonly actor: string;
  /** For its remaining tasks; absent: that the job ended. */
  readonly taskCause?: Cause;
}

/** Writes a job's end, ends what is left of its tasks and notes a root job's end for notification. Not the descendants. */
export function endJob(draft: Draft, job: Job, end: JobEnd): void {
  const wasTerminal = isTerminalJobState(job.state);
  const ended: Job = {
    ...job,
    state: end.state,
    cause: end.state === 'SUCCEEDED' ? null : end.cause,
    exitCode: end.exitCode,
    finishedAtMs: job.finishedAtMs ?? end.finishedAtMs,
  };
  draft.putJob(ended);
  if (openCount(draft.tally(job.id)) > 0) {
    const cause = end.taskCause ?? {
      code: 'JOB_ENDED',
      message: `The job was over before this task was: ${stateClause[end.state]}.`,
    };
    for (const task of draft.tasksOf(job.id)) {
      if (!isTerminalTaskState(task.state)) killTask(draft, task, cause, end.nowMs, end.actor);
    }
  }
  if (wasTerminal) return;
  draft.audit(end.nowMs, end.actor, 'job_completed', job.id, {
    state: end.state,
    exitCode: end.exitCode,
    ...(ended.cause === null ? {} : { cause: ended.cause.code }),
  });
  if (job.parentId !== null) return;
  draft.inbox({
    jobId: job.id,
    jobName: job.name,
    state: end.state,
    cause: ended.cause,
    atMs: end.nowMs,
    durationMs: runTime(draft, ended, end.nowMs),
  });
}

/**
 * What a job took. The wall clock may have been set meanwhile: where the job was one attempt, that attempt's own measure counts, and
 * no job took less than its longest last attempt.
 */
function runTime(draft: Draft, job: Job, nowMs: number): number | null {
  if (job.startedAtMs === null) return null;
  const tasks = draft.tasksOf(job.id);
  const [only] = tasks;
  const measured = tasks.map((task) => currentAttempt(draft, task)?.durationMs ?? 0);
  const longest = measured.reduce((most, each) => Math.max(most, each), 0);
  if (tasks.length === 1 && only?.currentAttempt === 0 && longest > 0) return longest;
  return Math.max(longest, (job.finishedAtMs ?? nowMs) - job.startedAtMs);
}

/** Ends every descendant that is not over, and with `overwriteLost` (an explicit cancel) those that were lost with their worker. */
export function endDescendants(
  draft: Draft,
  jobId: string,
  cause: Cause,
  nowMs: number,
  actor: string,
  overwriteLost = false,
): number {
  let ended = 0;
  for (const child of draft.childrenOf(jobId)) {
    if (!isTerminalJobState(child.state) || (overwriteLost && child.state === 'WORKER_FAILED')) {
      endJob(draft, child, {
        state: 'KILLED',
        cause,
        exitCode: null,
        finishedAtMs: nowMs,
        nowMs,
        actor,
        taskCause: cause,
      });
      ended += 1;
    }
    ended += endDescendants(draft, child.id, cause, nowMs, actor, overwriteLost);
  }
  return ended;
}
