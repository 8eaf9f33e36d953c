/** The queue in the order a round tries it, without placing anything. */
import type { Band } from '../contract/states.js';
import type { Cluster } from './cluster.js';
import { cursorsOf, headOf, nextJob } from './order.js';
import type { QueuedJob } from './inputs.js';

export interface QueuedTurn {
  readonly job: QueuedJob;
  readonly waitingTasks: number;
}

/**
 * Jobs of a band by the turn of their first task, at most `limit`: users in turn, whoever uses least first, each with its next task;
 * a gang takes one turn. `total` counts those not given as well.
 */
export function queueOrder(
  cluster: Cluster,
  band: Band,
  limit: number,
): { readonly total: number; readonly turns: readonly QueuedTurn[] } {
  const turns: QueuedTurn[] = [];
  let cursors = cursorsOf(cluster.queue.users.values(), band);
  const total = cursors.reduce(
    (sum, { lists }) => sum + lists.reduce((jobs, list) => jobs + list.length, 0),
    0,
  );
  while (cursors.length > 0 && turns.length < limit) {
    cursors = cursors.filter((cursor) => {
      const entry = headOf(cursor);
      if (entry === undefined || turns.length >= limit) return false;
      const { job, indexes } = entry;
      if (cursor.taskAt === 0) turns.push({ job, waitingTasks: indexes.length });
      cursor.taskAt += job.gangBy === null ? 1 : indexes.length;
      if (cursor.taskAt >= indexes.length) nextJob(cursor);
      return true;
    });
  }
  return { total, turns };
}
