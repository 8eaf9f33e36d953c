/** The counts of the status bar and the tray, over the whole database. */
import type { Counts } from '../../core/contract/views.js';
import { stateNumbers } from './codes.js';
import type { Connection } from './connection.js';

const dayMs = 86_400_000;

/** Root jobs that failed in the last day and were not looked at. */
export function createFailedUnseen(connection: Connection): (nowMs: number) => number {
  const query = connection.prepare<{ count: number }>(
    'failed and unseen',
    `SELECT count(*) AS count FROM inbox
     WHERE read = 0 AND at_ms >= ? AND state IN (${stateNumbers.FAILED}, ${stateNumbers.WORKER_FAILED})`,
  );
  return (nowMs) => query.get(nowMs - dayMs)?.count ?? 0;
}

export function createCounter(connection: Connection): (nowMs: number) => Counts {
  const byState = connection.prepare<{ state: number; count: number }>(
    'jobs by state',
    'SELECT state, count(*) AS count FROM jobs GROUP BY state',
  );
  const failedUnseen = createFailedUnseen(connection);
  return (nowMs) => {
    const counts = { running: 0, waiting: 0, finished: 0 };
    for (const { state, count } of byState.all()) {
      if (state === stateNumbers.PENDING) counts.waiting += count;
      else if (state === stateNumbers.RUNNING) counts.running += count;
      else counts.finished += count;
    }
    return { ...counts, failedUnseen: failedUnseen(nowMs) };
  };
}
