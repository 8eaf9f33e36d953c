/** What the phases of the original's rules share: tasks one by one, and what is free of each machine. */
import { bandRank, type Band } from '../../contract/states.js';
import { effectiveBand } from '../../budget/effective-band.js';
import type { Cluster } from '../cluster.js';
import { compareAge, type JobEntry, type UserEntry } from '../queue.js';

export interface OneTask {
  readonly entry: JobEntry;
  readonly index: number;
  /** Effective. */
  readonly band: Band;
}

/** Base order: requested band, deeper first, older tree first, submission; tasks of a job by index. */
export function baseOrder(cluster: Cluster): JobEntry[] {
  return [...cluster.queue.jobs.values()]
    .filter(({ indexes }) => indexes.length > 0)
    .sort(
      (left, right) => bandRank(left.job.band) - bandRank(right.job.band) || compareAge(left.job, right.job),
    );
}

/**
 * Effective bands, best first; within each, users by spend (ties in the order they first appear), one task each in turn. The members of
 * a gang take their turns like any other task.
 */
export function interleave(jobs: readonly JobEntry[], mostOfOne: (entry: JobEntry) => number): OneTask[] {
  const ordered: OneTask[] = [];
  const byBand = new Map<Band, Map<UserEntry, OneTask[]>>();
  for (const entry of jobs) {
    const { user, job } = entry;
    const band = effectiveBand(job.band, user.spend, user.budget.limit);
    const users = byBand.get(band) ?? new Map<UserEntry, OneTask[]>();
    byBand.set(band, users);
    const tasks = users.get(user) ?? [];
    users.set(user, tasks);
    for (const index of entry.indexes.slice(0, mostOfOne(entry))) tasks.push({ entry, index, band });
  }
  for (const [, users] of [...byBand].sort(([left], [right]) => bandRank(left) - bandRank(right))) {
    const queues = [...users].sort(([left], [right]) => left.spend - right.spend).map(([, tasks]) => tasks);
    for (let round = 0; queues.some((tasks) => round < tasks.length); round += 1) {
      for (const tasks of queues) {
        const task = tasks[round];
        if (task !== undefined) ordered.push(task);
      }
    }
  }
  return ordered;
}
