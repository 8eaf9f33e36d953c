/** Copies a database that others write to meanwhile: in the thread for that, and the client of that thread. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { RefusalError, type Refusal } from '../../core/contract/errors.js';
import { refuseUnsound } from './check.js';
import { openConnection } from './connection.js';
import { asRefusal } from './failures.js';
import { syncFile } from './files.js';
import type { ReaderData, ReaderReply } from './reader-protocol.js';
import type { StoreLog } from './types.js';

/** Between two turns the thread can be ended. */
const pagesATurn = 250;

/**
 * A whole database as it was at the beginning, on disk when this resolves. Rejects with DATABASE_CORRUPT for one that is damaged,
 * wherever that is met: its copy would take the place of one that is not.
 */
export async function copySnapshot(path: string, to: string, log: StoreLog): Promise<void> {
  const connection = openConnection(path, log, { readOnly: true });
  try {
    // Held to the end: without it each write of another connection would have SQLite begin the copy anew.
    connection.database.exec('BEGIN');
    connection.database.prepare('SELECT count(*) FROM sqlite_schema').get();
    refuseUnsound(connection);
    await connection.database.backup(to, { progress: () => pagesATurn });
  } catch (error) {
    // Here, as it says no more what kind it is once it has left this thread.
    throw asRefusal(error, 'Copying the database', path);
  } finally {
    connection.close();
  }
  syncFile(to);
}

export interface CopyOptions {
  readonly path: string;
  /** The built reader-worker. */
  readonly workerFile: string | URL;
  /** Ends it; it rejects then. */
  readonly signal: AbortSignal;
}

/** The same in a thread of its own. */
export async function copyInThread({ path, workerFile, signal }: CopyOptions, to: string): Promise<void> {
  signal.throwIfAborted();
  const workerData: ReaderData = { path, copyTo: to };
  const worker = new Worker(workerFile, { workerData, name: 'copy' });
  const end = () => void worker.terminate();
  const refused: Refusal[] = [];
  worker.on('message', (message: ReaderReply) => {
    if (message.kind === 'refused') refused.push(message.refusal);
  });
  signal.addEventListener('abort', end, { once: true });
  try {
    // Rejects with the error that ended the thread.
    await once(worker, 'exit');
    signal.throwIfAborted();
    for (const each of refused) throw new RefusalError(each);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
