/**
 * Jobs right behind one that found no room, of the same shape and with nothing of their own that could decide otherwise: a long queue is
 * mostly these.
 */
import type { WaitCode } from './decision.js';
import type { Cursor } from './order.js';
import type { JobEntry } from './queue.js';
import type { Shape } from './shape.js';
import type { WaitingList } from './waiting-list.js';

export interface PassOver {
  readonly cursor: Cursor;
  /** Of the job that found no room, and why. */
  readonly shape: Shape;
  readonly code: WaitCode;
  /** Those who give others time first are looked at by themselves once they have waited so long; null where nobody is asked to. */
  readonly patienceMs: number | null;
  readonly nowMs: number;
  /** They had their turn. */
  readonly served: ReadonlyMap<JobEntry, number>;
  readonly waiting: WaitingList;
}

/** Moves the cursor behind them. When the first of them has been patient for long enough; Infinity for never. */
export function passOver(run: PassOver): number {
  const { cursor, shape, code, patienceMs, nowMs, served, waiting } = run;
  const list = cursor.lists[cursor.listAt] ?? [];
  const patientUntilMs = ({ job }: JobEntry) =>
    patienceMs === null ? Number.POSITIVE_INFINITY : job.waitingSinceMs + patienceMs;
  const first = list[cursor.jobAt];
  if (first === undefined) return Number.POSITIVE_INFINITY;
  const own = cursor.user.lists.find(({ values }) => values === list);
  if (served.size === 0 && own?.restIsAlike(cursor.jobAt) === true) {
    // Nobody behind waits longer than the first.
    const untilMs = patientUntilMs(first);
    if (first.shape !== shape || untilMs <= nowMs) return Number.POSITIVE_INFINITY;
    waiting.passOver(list.slice(cursor.jobAt), code);
    cursor.jobAt = list.length;
    return untilMs;
  }
  let wakeAtMs = Number.POSITIVE_INFINITY;
  for (let entry = list[cursor.jobAt]; entry !== undefined; entry = list[cursor.jobAt]) {
    if (entry.shape !== shape || !entry.ungated || entry.job.maxActive !== null || served.has(entry)) break;
    const untilMs = patientUntilMs(entry);
    if (untilMs <= nowMs) break;
    wakeAtMs = Math.min(wakeAtMs, untilMs);
    entry.placed = 0;
    const count = entry.indexes.length;
    if (entry.waits?.code !== code || entry.waits.count !== count)
      entry.waits = { jobId: entry.job.id, code, count };
    waiting.repeat(entry.waits);
    cursor.jobAt += 1;
  }
  return wakeAtMs;
}
