/** The queue in the order a round tries it, without placing anything. */
import type { Band } from '../contract/states.js';
import type { Cluster } from './cluster.js';
import { cursorsOf, headOf, nextJob } from './order.js';
import type { QueuedJob } from './inputs.js';
import { compareJobs, type JobEntry } from './queue.js';

export interface QueuedTurn {
  readonly job: QueuedJob;
  readonly waitingTasks: number;
}

/**
 * First those whose tasks have a place promised in that band, by age; then jobs of a band by the turn of their first task, at most `limit`: users in turn, whoever uses least first, each with its next task;
 * a gang takes one turn. `total` counts those not given as well.
 */
export function queueOrder(
  cluster: Cluster,
  band: Band,
  limit: number,
): { readonly total: number; readonly turns: readonly QueuedTurn[] } {
  const turns = promised(cluster, band);
  const seen = new Set(turns.map(({ job }) => job.id));
  let cursors = cursorsOf(cluster.queue.users.values(), band);
  const total =
    seen.size +
    cursors.reduce((sum, { lists }) => sum + lists.flat().filter(({ job }) => !seen.has(job.id)).length, 0);
  while (cursors.length > 0 && turns.length < limit) {
    cursors = cursors.filter((cursor) => {
      const entry = headOf(cursor);
      if (entry === undefined || turns.length >= limit) return false;
      const { job, indexes } = entry;
      if (cursor.taskAt === 0 && !seen.has(job.id)) turns.push({ job, waitingTasks: indexes.length });
      cursor.taskAt += job.gangBy === null ? 1 : indexes.length;
      if (cursor.taskAt >= indexes.length) nextJob(cursor);
      return true;
    });
  }
  return { total, turns: turns.slice(0, limit) };
}

function promised(cluster: Cluster, band: Band): QueuedTurn[] {
  const entries = new Set<JobEntry>();
  for (const claim of cluster.holdings.allClaims()) {
    const entry = claim.band === band ? cluster.queue.jobs.get(claim.jobId) : undefined;
    if (entry !== undefined) entries.add(entry);
  }
  return [...entries]
    .sort((left, right) => compareJobs(left.job, right.job))
    .map(({ job, indexes, claims }) => ({ job, waitingTasks: indexes.length + claims.length }));
}
