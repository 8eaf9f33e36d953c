/** The controller's store: the one writing connection of a data folder. */
import { statSync } from 'node:fs';
import { refusal, RefusalError } from '../../core/contract/errors.js';
import { newestBackup } from './backups.js';
import { checkLines, refuseUnsound } from './check.js';
import { makeDurable, openConnection, type Connection } from './connection.js';
import { createFailedUnseen } from './counts.js';
import { prepareDatabaseFile } from './files.js';
import { asRefusal } from './failures.js';
import { createLoader } from './loads.js';
import { migrate, refuseNewer, schemaVersion } from './migrate.js';
import { migrations } from './migrations/index.js';
import { createPruner } from './prune.js';
import type { Store, StoreOptions } from './types.js';
import { createWriter } from './writes.js';

/**
 * Opens the database, checks it and brings it to the newest schema. Throws DATABASE_NEWER, DATABASE_CORRUPT (with what to do; the
 * file is left as it is), FOLDER_UNUSABLE for another program's file, or STORAGE_FAILED.
 */
export function openStore(options: StoreOptions): Store {
  const { path, nowMs, log } = options;
  try {
    refuseLost(path);
    prepareDatabaseFile(path);
  } catch (error) {
    if (error instanceof RefusalError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new RefusalError(
      refusal(
        'STORAGE_FAILED',
        `The database ${path} cannot be created or opened: ${reason}. Check its permissions and how the disk is mounted, or name another data folder with --home or IRIS_DESKTOP_HOME.`,
      ),
    );
  }
  const connection = openConnection(path, log, { readOnly: false });
  try {
    refuseNewer(connection, checkedVersion(connection), migrations.at(-1)?.version ?? 0);
    const pragmas = makeDurable(connection);
    migrate(connection, { ...options, migrations });
    return storeOf(connection, pragmas, nowMs);
  } catch (error) {
    connection.close();
    throw withAdvice(asRefusal(error, 'Opening the database', path), path);
  }
}

/** The schema version of a sound database. */
function checkedVersion(connection: Connection): number {
  const version = schemaVersion(connection);
  if (version !== 0) refuseUnsound(connection);
  return version;
}

/**
 * Of one that is gone, or has nothing in it any more, there are copies: an empty one in its place would end what runs, as it knows of
 * nothing, and be all there is.
 */
function refuseLost(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? null;
  if (size !== null && size > 0) return;
  const backup = newestBackup(path);
  if (backup === null) return;
  const what = size === null ? `There is no database ${path}` : `The database ${path} is empty`;
  throw new RefusalError(
    refusal(
      'DATABASE_CORRUPT',
      `${what}, but there are copies of one. Nothing was changed or deleted. To go on from the newest, move what is left of it (also -wal and -shm beside it) elsewhere and copy ${backup.file} to ${path}. To begin anew, move the folder of the copies elsewhere.`,
    ),
  );
}

/** A damaged database is never touched: the message says where it is, and which copy could take its place. */
function withAdvice(error: RefusalError, path: string): RefusalError {
  if (error.refusal.code !== 'DATABASE_CORRUPT') return error;
  const backup = newestBackup(path);
  const advice =
    backup === null
      ? 'There is no backup of it yet. Keep the file and the two beside it (-wal, -shm); `sqlite3 FILE .recover` may read them.'
      : `To go on from the newest backup, move ${path} and the two files beside it (-wal, -shm) elsewhere and copy ${backup.file} to ${path}.`;
  const result = new RefusalError(
    refusal('DATABASE_CORRUPT', `${error.refusal.message} Nothing was changed or deleted. ${advice}`),
  );
  result.cause = error;
  return result;
}

function storeOf(
  connection: Connection,
  pragmas: Readonly<Record<string, string | number>>,
  nowMs: () => number,
): Store {
  const writer = createWriter(connection);
  const loader = createLoader(connection);
  const pruner = createPruner(connection);
  const failedUnseen = createFailedUnseen(connection);
  const unread = connection.prepare<{ count: number }>(
    'unread inbox',
    'SELECT count(*) AS count FROM inbox WHERE read = 0',
  );
  const readAll = connection.prepare('mark inbox read', 'UPDATE inbox SET read = 1 WHERE read = 0');
  const readOne = connection.prepare(
    'mark inbox item read',
    'UPDATE inbox SET read = 1 WHERE id = ? AND read = 0',
  );
  const checkpoint = connection.prepare<{ busy: number; log: number; checkpointed: number }>(
    'checkpoint',
    'PRAGMA wal_checkpoint(PASSIVE)',
  );

  return {
    path: connection.path,
    pragmas,
    commit: writer,
    loadLive: () => loader.live(nowMs()),
    loadTree: (rootId) => loader.tree(rootId),
    findJob: (jobId) => loader.job(jobId),
    findReceipt: (requestId) => loader.receipt(requestId),
    jobById: (jobId) => loader.jobById(jobId),
    latestNamed: (user, parentId, name) => loader.latestNamed(user, parentId, name),
    markInboxRead: (ids) =>
      connection.write('Marking messages as read', () => {
        if (ids === null) readAll.run();
        else for (const id of ids) readOne.run(id);
        return { unread: unread.get()?.count ?? 0, failedUnseen: failedUnseen(nowMs()) };
      }),
    prune: (beforeMs, limit, kept = []) => pruner.trees(beforeMs, limit, nowMs(), kept),
    unknownAttempts: (uids) => pruner.unknown(uids),
    pruneRecords: (before, limit) => pruner.records(before, limit),
    integrity: () => [
      ...checkLines(connection, 'integrity_check(20)'),
      ...checkLines(connection, 'foreign_key_check'),
    ],
    checkpoint: () => {
      const result = connection.guard('Moving the write-ahead log', () => checkpoint.get());
      return result !== undefined && result.busy === 0 && result.log === result.checkpointed;
    },
    close: () => {
      connection.close();
    },
  };
}
