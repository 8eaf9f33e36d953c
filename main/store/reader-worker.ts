/** The reader's thread: heavy queries and copies run here, so that neither the controller nor a window waits for them. */
import { parentPort, workerData } from 'node:worker_threads';
import { RefusalError } from '../../core/contract/errors.js';
import { copySnapshot } from './copy-snapshot.js';
import { openReads } from './reads.js';
import {
  answerOf,
  refusalOf,
  type ReaderData,
  type ReaderReply,
  type ReaderRequest,
} from './reader-protocol.js';
import type { Reads, StoreLog } from './types.js';

if (parentPort === null) throw new Error('reader-worker runs as a worker thread only');
const port = parentPort;

function reply(message: ReaderReply): void {
  port.postMessage(message);
}

/** Written by our own clients only. */
const { path, copyTo } = workerData as ReaderData;
const log: StoreLog = {
  info: (message, fields) => {
    reply({ kind: 'log', level: 'info', message, fields });
  },
  warn: (message, fields) => {
    reply({ kind: 'log', level: 'warn', message, fields });
  },
};

if (copyTo === undefined) answer();
// What else fails ends the thread, and is heard by who started it.
else
  void copySnapshot(path, copyTo, log).catch((error: unknown) => {
    if (!(error instanceof RefusalError)) throw error;
    reply({ kind: 'refused', id: 0, refusal: error.refusal });
  });

function answer(): void {
  const reads: Reads = openReads({ path, nowMs: () => Date.now(), log });
  port.on('message', (request: ReaderRequest) => {
    if (request.kind === 'close') {
      reads.close();
      port.close();
      return;
    }
    const { id, method, args } = request;
    try {
      reply({ kind: 'answer', id, value: answerOf(reads, method, args) });
    } catch (error) {
      reply({ kind: 'refused', id, refusal: refusalOf(method, error) });
    }
  });
}
