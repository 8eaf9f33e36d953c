/** States, bands and their closed sets. Values and numbers follow Iris' `job.proto`; code and JSON use the upper-case word. */
import { z } from 'zod';

/** State of a job, derived from its tasks; terminal ones never change. */
export const jobStates = [
  'PENDING',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
  'KILLED',
  'WORKER_FAILED',
  'UNSCHEDULABLE',
] as const;
export const jobStateSchema = z.enum(jobStates);
export type JobState = z.infer<typeof jobStateSchema>;

/** State of a task. An attempt has the same states, without PENDING and UNSCHEDULABLE. */
export const taskStates = [
  'PENDING',
  'ASSIGNED',
  'BUILDING',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
  'KILLED',
  'WORKER_FAILED',
  'UNSCHEDULABLE',
  'PREEMPTED',
  'COSCHED_FAILED',
] as const;
export const taskStateSchema = z.enum(taskStates);
export type TaskState = z.infer<typeof taskStateSchema>;

export const attemptStates = [
  'ASSIGNED',
  'BUILDING',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
  'KILLED',
  'WORKER_FAILED',
  'PREEMPTED',
  'COSCHED_FAILED',
] as const;
export const attemptStateSchema = z.enum(attemptStates);
export type AttemptState = z.infer<typeof attemptStateSchema>;

/** Priority bands, best first; the position in this list is the rank. */
export const bands = ['SYSTEM', 'PRODUCTION', 'INTERACTIVE', 'BATCH'] as const;
export const bandSchema = z.enum(bands);
export type Band = z.infer<typeof bandSchema>;

/** Band as asked for: INHERIT takes the parent's, or INTERACTIVE for a root job. */
export const requestedBands = ['INHERIT', ...bands] as const;
export const requestedBandSchema = z.enum(requestedBands);
export type RequestedBand = z.infer<typeof requestedBandSchema>;

/** Rank of a band: 0 is the best. Compare ranks, never wire numbers. */
export function bandRank(band: Band): number {
  return bands.indexOf(band);
}

export function isTerminalJobState(state: JobState): boolean {
  return state !== 'PENDING' && state !== 'RUNNING';
}

/** Occupies a worker as far as the task is concerned. */
export function isActiveTaskState(state: TaskState): state is 'ASSIGNED' | 'BUILDING' | 'RUNNING' {
  return state === 'ASSIGNED' || state === 'BUILDING' || state === 'RUNNING';
}

export function isTerminalTaskState(state: TaskState): boolean {
  return state !== 'PENDING' && !isActiveTaskState(state);
}
