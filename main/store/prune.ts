/** Retention: what is old and over leaves the database, in pieces small enough not to hold up the controller. */
import type { Connection } from './connection.js';
import type { PruneResult } from './types.js';

export interface Pruner {
  unknown(attemptUids: readonly string[]): readonly string[];
  trees(beforeMs: number, limit: number, nowMs: number, kept: readonly string[]): PruneResult;
  records(
    before: { readonly receiptsMs: number; readonly inboxMs: number; readonly auditMs: number },
    limit: number,
  ): number;
}

export function createPruner(connection: Connection): Pruner {
  // A tree goes as a whole, once every job of it ended long enough ago and nothing of it may still live.
  const candidates = connection.prepare<{ id: string; finished_at_ms: number }>(
    'trees to prune',
    `SELECT r.id, r.finished_at_ms FROM jobs r
     WHERE r.depth = 1 AND r.finished_at_ms < ? AND r.id NOT IN (SELECT value FROM json_each(?))
       AND NOT EXISTS (
         SELECT 1 FROM jobs j WHERE j.root_id = r.id
           AND (j.state IN (1, 3) OR j.finished_at_ms IS NULL OR j.finished_at_ms >= ?))
       AND NOT EXISTS (
         SELECT 1 FROM jobs j JOIN attempts a ON a.job_id = j.id WHERE j.root_id = r.id AND a.finished_at_ms IS NULL)
     ORDER BY r.finished_at_ms LIMIT ?`,
  );
  const jobs = connection.prepare<{ id: string }>('jobs of a tree', 'SELECT id FROM jobs WHERE root_id = ?');
  const uids = connection.prepare<{ uid: string }>(
    'attempts of a tree',
    'SELECT a.uid FROM jobs j JOIN attempts a ON a.job_id = j.id WHERE j.root_id = ?',
  );
  const unknown = connection.prepare<{ uid: string }>(
    'attempts nobody knows',
    `SELECT value AS uid FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM attempts WHERE uid = value)`,
  );
  const remove = connection.prepare('delete tree', 'DELETE FROM jobs WHERE root_id = ?');
  const audit = connection.prepare(
    'insert audit of a pruned tree',
    `INSERT INTO audit(at_ms, actor, action, entity, detail) VALUES (?, 'controller', 'job_pruned', ?, ?)`,
  );
  const records = [
    connection.prepare(
      'delete receipts',
      'DELETE FROM receipts WHERE request_id IN (SELECT request_id FROM receipts WHERE at_ms < ? ORDER BY at_ms LIMIT ?)',
    ),
    connection.prepare(
      'delete inbox',
      'DELETE FROM inbox WHERE id IN (SELECT id FROM inbox WHERE at_ms < ? LIMIT ?)',
    ),
    // Rows are in order of time but for clock changes, so the oldest by id are the ones to look at.
    connection.prepare(
      'delete audit',
      'DELETE FROM audit WHERE at_ms < ? AND id IN (SELECT id FROM audit ORDER BY id LIMIT ?)',
    ),
  ] as const;

  return {
    trees: (beforeMs, limit, nowMs, kept) => {
      const rootIds: string[] = [];
      const jobIds: string[] = [];
      const attemptUids: string[] = [];
      const found = connection.guard('Looking for old jobs', () =>
        candidates.all(beforeMs, JSON.stringify(kept), beforeMs, limit),
      );
      for (const { id, finished_at_ms: finishedAtMs } of found) {
        try {
          const gone = connection.write('Deleting an old job', () => {
            const ids = jobs.all(id).map((row) => row.id);
            const attempts = uids.all(id).map((row) => row.uid);
            remove.run(id);
            audit.run(
              nowMs,
              id,
              JSON.stringify({ jobs: ids.length, attempts: attempts.length, finishedAtMs }),
            );
            return { ids, attempts };
          });
          rootIds.push(id);
          jobIds.push(...gone.ids);
          attemptUids.push(...gone.attempts);
        } catch (error) {
          // What is gone already has to be told of; the next call meets the reason again.
          if (rootIds.length === 0) throw error;
          break;
        }
      }
      return { rootIds, jobIds, attemptUids };
    },

    unknown: (attemptUids) =>
      connection.guard('Looking for forgotten attempts', () =>
        unknown.all(JSON.stringify(attemptUids)).map(({ uid }) => uid),
      ),

    records: (before, limit) =>
      connection.write('Deleting old records', () => {
        const [receipts, inbox, audits] = records;
        return (
          receipts.run(before.receiptsMs, limit).changes +
          inbox.run(before.inboxMs, limit).changes +
          audits.run(before.auditMs, limit).changes
        );
      }),
  };
}
