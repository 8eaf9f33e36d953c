/** States, bands and their closed sets. Values and numbers follow Iris' `job.proto`; code and JSON use the upper-case word. */
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
export type JobState = (typeof jobStates)[number];

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
export type TaskState = (typeof taskStates)[number];

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
export type AttemptState = (typeof attemptStates)[number];

/** Priority bands, best first; the position in this list is the rank. */
export const bands = ['SYSTEM', 'PRODUCTION', 'INTERACTIVE', 'BATCH'] as const;
export type Band = (typeof bands)[number];

/** The bands a right must be granted for. */
export const upperBands = ['SYSTEM', 'PRODUCTION'] as const satisfies readonly Band[];
export type UpperBand = (typeof upperBands)[number];

export function isUpperBand(band: RequestedBand): band is UpperBand {
  return upperBands.some((upper) => upper === band);
}

/** Band as asked for: INHERIT takes the parent's, or INTERACTIVE for a root job. */
export const requestedBands = ['INHERIT', ...bands] as const;
export type RequestedBand = (typeof requestedBands)[number];

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
