/** How many tasks of a job are in each state, kept while tasks change so that a job's state never needs a scan of its tasks. */
import { taskStates, type TaskState } from '../contract/states.js';
import type { Task } from './entities.js';

export interface JobTally {
  readonly total: number;
  readonly byState: Readonly<Record<TaskState, number>>;
  /** PENDING and never assigned to a worker. */
  readonly fresh: number;
}

export interface MutableTally extends JobTally {
  total: number;
  readonly byState: Record<TaskState, number>;
  fresh: number;
}

export function newTally(): MutableTally {
  return {
    total: 0,
    byState: {
      PENDING: 0,
      ASSIGNED: 0,
      BUILDING: 0,
      RUNNING: 0,
      SUCCEEDED: 0,
      FAILED: 0,
      KILLED: 0,
      WORKER_FAILED: 0,
      UNSCHEDULABLE: 0,
      PREEMPTED: 0,
      COSCHED_FAILED: 0,
    },
    fresh: 0,
  };
}

export const emptyTally: JobTally = newTally();

export function copyTally(tally: JobTally): MutableTally {
  return { total: tally.total, byState: { ...tally.byState }, fresh: tally.fresh };
}

/** Counts `after` in place of `before`; undefined is no task. */
export function countTask(tally: MutableTally, before: Task | undefined, after: Task | undefined): void {
  for (const [task, step] of [
    [before, -1],
    [after, 1],
  ] as const) {
    if (task === undefined) continue;
    tally.total += step;
    tally.byState[task.state] += step;
    if (task.state === 'PENDING' && task.currentAttempt === -1) tally.fresh += step;
  }
}

export function activeCount(tally: JobTally): number {
  return tally.byState.ASSIGNED + tally.byState.BUILDING + tally.byState.RUNNING;
}

/** Tasks that may still run or are running. */
export function openCount(tally: JobTally): number {
  return tally.byState.PENDING + activeCount(tally);
}

export function sameTally(left: JobTally, right: JobTally): boolean {
  return (
    left.total === right.total &&
    left.fresh === right.fresh &&
    taskStates.every((state) => left.byState[state] === right.byState[state])
  );
}
