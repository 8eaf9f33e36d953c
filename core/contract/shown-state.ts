/** What is said of a job at a glance. */
import type { JobState, TaskState } from './states.js';
import type { JobSummary } from './views.js';

/**
 * A job that has once started is RUNNING until it ends, also while all of it waits anew (preempted, lost, retried) or an image is fetched for
 * it: who looks whether the run is alive is told what its tasks do.
 */
export function shownStateOf({
  state,
  taskCounts,
}: Pick<JobSummary, 'state' | 'taskCounts'>): JobState | TaskState {
  if (state !== 'RUNNING') return state;
  const best = (['RUNNING', 'BUILDING', 'ASSIGNED', 'PENDING'] as const).find(
    (each) => (taskCounts[each] ?? 0) > 0,
  );
  return best ?? state;
}
