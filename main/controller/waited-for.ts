/** The trees jobs wait for: how one ended is asked for until the last of those is over, which may be long after it. */
import { isTerminalJobState } from '../../core/contract/states.js';
import type { ModelState } from '../../core/model/draft.js';

/** Ids of their root jobs, each once. */
export function treesWaitedFor(state: Pick<ModelState, 'jobIds' | 'job'>): string[] {
  const roots = new Set<string>();
  for (const id of state.jobIds()) {
    const job = state.job(id);
    if (job === undefined || isTerminalJobState(job.state)) continue;
    for (const { job: path } of job.spec.dependencies) roots.add(path.split('/').slice(0, 3).join('/'));
  }
  return [...roots];
}
