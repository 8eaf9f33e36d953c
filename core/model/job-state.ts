/** A job's state as it follows from its tasks. */
import type { JobState, TaskState } from '../contract/states.js';
import type { Cause } from '../contract/views.js';
import { exitCodeOfTask } from './exit-codes.js';
import type { Task } from './entities.js';
import { activeCount, openCount, type JobTally } from './tally.js';

export interface JobStateInput {
  readonly tally: JobTally;
  /** An attempt of it has started, ever. */
  readonly started: boolean;
  readonly maxTaskFailures: number;
}

/**
 * First matching rule wins. Terminal states are sticky: a caller does not ask for a job that has one. Rules that differ from the
 * original's: (2) counts tasks that failed for good, so that retries are not defeated by a `maxTaskFailures` of 0; (3) ends the job
 * at once only when nothing of it ran, otherwise it waits for the other tasks; (5) needs a lost task, or a gang that fell without one
 * of its members having failed.
 */
export function deriveJobState(input: JobStateInput): JobState {
  const { byState, total } = input.tally;
  const over = total > 0 && openCount(input.tally) === 0;
  if (over && byState.SUCCEEDED === total) return 'SUCCEEDED';
  if (byState.FAILED > input.maxTaskFailures) return 'FAILED';
  if (byState.UNSCHEDULABLE > 0 && (over || (!input.started && activeCount(input.tally) === 0)))
    return 'UNSCHEDULABLE';
  if (byState.KILLED > 0) return 'KILLED';
  if (over) {
    const lost = byState.WORKER_FAILED + byState.PREEMPTED > 0;
    return lost || (byState.COSCHED_FAILED > 0 && byState.FAILED === 0) ? 'WORKER_FAILED' : 'FAILED';
  }
  if (activeCount(input.tally) > 0 || input.started) return 'RUNNING';
  return 'PENDING';
}

const statesBehind: Readonly<Record<JobState, readonly TaskState[]>> = {
  PENDING: [],
  RUNNING: [],
  SUCCEEDED: [],
  FAILED: ['FAILED'],
  KILLED: ['KILLED'],
  WORKER_FAILED: ['WORKER_FAILED', 'PREEMPTED', 'COSCHED_FAILED'],
  UNSCHEDULABLE: ['UNSCHEDULABLE'],
};

/** Why a job ended: the cause of its first task (by index) that explains the state, named when there are several tasks. */
export function jobCause(state: JobState, tasks: readonly Task[]): Cause | null {
  const task = tasks.find((candidate) => statesBehind[state].includes(candidate.state));
  if (task === undefined || task.cause === null) return null;
  if (tasks.length === 1) return task.cause;
  return { code: task.cause.code, message: `Task ${task.index}: ${task.cause.message}` };
}

/** 0 when it succeeded, the first failed task's own by index when it failed, else null. */
export function jobExitCode(state: JobState, tasks: readonly Task[]): number | null {
  if (state === 'SUCCEEDED') return 0;
  if (state !== 'FAILED') return null;
  const task = tasks.find((candidate) => candidate.state === 'FAILED');
  return task === undefined ? null : exitCodeOfTask(task);
}
