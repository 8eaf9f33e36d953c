/**
 * The client of the reader's thread. A thread that dies, or that does not answer in time, is replaced; what waited with it is asked
 * again once, since queries change nothing. Nobody waits forever: every question ends in an answer or a refusal.
 */
import { Worker } from 'node:worker_threads';
import { refusal, RefusalError } from '../../core/contract/errors.js';
import {
  answerOf,
  readMethods,
  refusalOf,
  type ReaderData,
  type ReaderReply,
  type ReaderRequest,
  type ReadMethod,
} from './reader-protocol.js';
import type { AsyncReads, ReaderOptions, Reads } from './types.js';

const defaultTimeoutMs = 10_000;
/** Questions waiting at once; a client that asks faster than it is answered is refused. */
const maxPending = 1000;

interface Pending {
  readonly id: number;
  readonly method: ReadMethod;
  readonly args: readonly unknown[];
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: RefusalError) => void;
  readonly timer: NodeJS.Timeout;
  /** How often it was sent. */
  sent: number;
}

export function openReader(options: ReaderOptions): AsyncReads {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const pending = new Map<number, Pending>();
  let nextId = 1;
  let worker: Worker | null = null;
  let closed: Promise<void> | null = null;

  function unavailable(message: string): RefusalError {
    return new RefusalError(refusal('UNAVAILABLE', message));
  }

  function settle(id: number): Pending | undefined {
    const question = pending.get(id);
    if (question !== undefined) {
      pending.delete(id);
      clearTimeout(question.timer);
    }
    return question;
  }

  function onReply(message: ReaderReply): void {
    switch (message.kind) {
      case 'log':
        options.log[message.level](message.message, message.fields);
        return;
      case 'answer':
        settle(message.id)?.resolve(message.value);
        return;
      case 'refused':
        settle(message.id)?.reject(new RefusalError(message.refusal));
        return;
    }
  }

  function start(): Worker {
    const workerData: ReaderData = { path: options.path };
    const started = new Worker(options.workerFile, { workerData, name: 'reader' });
    let reason = 'it ended';
    started.on('message', onReply);
    started.on('error', (error) => {
      reason = error.message;
    });
    started.on('exit', () => {
      if (worker !== started) return;
      worker = null;
      if (closed === null) onDeath(reason);
    });
    worker = started;
    return started;
  }

  /** Asks again what was lost once; what killed two threads is refused. */
  function onDeath(reason: string): void {
    options.log.warn('the reader thread ended and is replaced', { reason, waiting: pending.size });
    for (const question of [...pending.values()]) {
      if (question.sent < 2) send(question);
      else settle(question.id)?.reject(unavailable(`Reading ${question.method} failed twice: ${reason}.`));
    }
  }

  function send(question: Pending): void {
    question.sent += 1;
    const request: ReaderRequest = {
      kind: 'read',
      id: question.id,
      method: question.method,
      args: question.args,
    };
    (worker ?? start()).postMessage(request);
  }

  function onTimeout(id: number): void {
    const question = settle(id);
    if (question === undefined) return;
    question.reject(unavailable(`Reading ${question.method} took longer than ${timeoutMs} ms.`));
    // A query cannot be interrupted from outside: its thread goes, and the others' questions move to the next one.
    const stuck = worker;
    if (stuck === null) return;
    worker = null;
    void stuck.terminate();
    onDeath(`${question.method} took longer than ${timeoutMs} ms`);
  }

  function ask(method: ReadMethod, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (closed !== null) {
        reject(unavailable('The reader is closed.'));
        return;
      }
      if (pending.size >= maxPending) {
        reject(new RefusalError(refusal('RESOURCE_EXHAUSTED', `${maxPending} queries are waiting already.`)));
        return;
      }
      if (waiting !== null && later !== undefined) {
        try {
          early ??= later.reads();
          resolve(answerOf(early, method, args));
        } catch (error) {
          reject(new RefusalError(refusalOf(method, error)));
        }
        return;
      }
      const id = nextId++;
      const timer = setTimeout(() => {
        onTimeout(id);
      }, timeoutMs);
      const question: Pending = { id, method, args, resolve, reject, timer, sent: 0 };
      pending.set(id, question);
      send(question);
    });
  }

  async function close(): Promise<void> {
    endEarly();
    for (const id of [...pending.keys()]) settle(id)?.reject(unavailable('The reader is closed.'));
    const running = worker;
    if (running === null) return;
    const ended = new Promise<void>((resolve) => {
      running.once('exit', () => {
        resolve();
      });
    });
    const request: ReaderRequest = { kind: 'close' };
    running.postMessage(request);
    // It closes after the query at hand; one that never ends must not hold up the host's end.
    const timer = setTimeout(() => void running.terminate(), timeoutMs);
    await ended;
    clearTimeout(timer);
  }

  /** Answers on the caller's thread until the reader's own is started. */
  let early: Reads | null = null;
  let waiting: NodeJS.Timeout | null = null;
  const { later } = options;
  function endEarly(): void {
    if (waiting !== null) clearTimeout(waiting);
    waiting = null;
    early?.close();
    early = null;
  }
  // Otherwise opened now, so that the first question does not wait for it.
  if (later === undefined) start();
  else
    waiting = setTimeout(() => {
      endEarly();
      start();
    }, later.afterMs);

  const methods = Object.fromEntries(
    (Object.keys(readMethods) as ReadMethod[]).map((method) => [
      method,
      (...args: unknown[]) => ask(method, args),
    ]),
  );
  return {
    // One function a method, each passing its arguments on: the types are those of `Reads` by construction.
    ...(methods as unknown as Omit<AsyncReads, 'close'>),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
