/** The states as sentences say them: what a person reads of a job in the cause of an end, a reason or a refusal is never a code. */
import type { TaskState } from './states.js';

/** To stand after "it": a job, a task or an attempt has these. */
export const stateClause: Readonly<Record<TaskState, string>> = {
  PENDING: 'it waits',
  ASSIGNED: 'it is about to start',
  BUILDING: 'it is being prepared',
  RUNNING: 'it runs',
  SUCCEEDED: 'it succeeded',
  FAILED: 'it failed',
  KILLED: 'it was stopped',
  PREEMPTED: 'it was preempted',
  WORKER_FAILED: 'its machine was lost',
  UNSCHEDULABLE: 'it could not be scheduled',
  COSCHED_FAILED: 'its gang ended',
};
