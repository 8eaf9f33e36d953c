/**
 * How the desktop's main thread reaches a controller: its own, in a worker thread, or another host's through the socket. Frames
 * pass through unread.
 */
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import type { ClientFrame } from '../../core/contract/protocol.js';
import type { Home } from '../home.js';
import type { LinkFrame } from '../server/frame-text.js';
import { connectSocket } from '../server/socket-client.js';
import { makeControllerThread, mayListen, type ControllerThread } from './controller-thread.js';

export interface LinkClient {
  send(frame: ClientFrame): void;
  close(): void;
}

export interface HostLink {
  /** `own`: the controller lives in this process; `attached`: another host owns the folder. */
  readonly kind: 'own' | 'attached';
  /** A new connection; `closed` is called once when the host is gone, not after `close`. */
  openClient(receive: (frame: LinkFrame) => void, closed: (reason: Refusal) => void): LinkClient;
  /** Resolves when the host is gone, with the reason. */
  readonly ended: Promise<Refusal>;
  /** Own: ends the controller, after its last commit; attached: only disconnects. Attempts go on. */
  shutdown(reason: string): Promise<void>;
}

export interface LinkOptions {
  readonly home: Home;
  readonly appVersion: string;
  /** In words, such as `Electron 45.5.0`. */
  readonly runtime: string;
  /** The built controller-worker module. */
  readonly workerModule: URL;
  /** A thread made ahead of this call, which takes it: it is started, or ended where there is a host to attach to. */
  readonly thread?: ControllerThread | null;
  /** How long a host that has the folder and does not answer is waited for. */
  readonly patienceMs?: number;
}

/** From the folder being had to its host's answer, or to its end: one that comes up may read all it needs from a cold disk. */
const usualPatienceMs = 60_000;
const shortestWaitMs = 20;
/** A host that leaves holds the folder for a moment: then it is asked for again. */
const askAgainAfterMs = 500;

/** What passes between the main thread and the controller's worker. */
export type WorkerMessage =
  | { readonly kind: 'start' }
  | { readonly kind: 'open'; readonly client: number }
  | { readonly kind: 'frame'; readonly client: number; readonly frame: unknown }
  | { readonly kind: 'close'; readonly client: number }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly refusal: Refusal }
  | { readonly kind: 'shutdown'; readonly reason: string }
  | { readonly kind: 'stopped'; readonly reason: string };

/** Takes the folder when it is free, else attaches to its owner. One that is just starting or leaving is waited for. */
export async function connectOrStart(options: LinkOptions): Promise<HostLink> {
  const { socket } = options.home;
  const until = performance.now() + (options.patienceMs ?? usualPatienceMs);
  let { thread } = options;
  // Where nothing can listen nothing is waited for: what comes after a wait under the desktop comes only when Electron is nearly ready.
  let existing = mayListen(socket) ? await whoListens(socket) : null;
  for (;;) {
    if (existing !== null) {
      void thread?.worker.terminate();
      return existing;
    }
    try {
      return await startLocalHost({ ...options, thread: thread ?? null });
    } catch (error) {
      const isOwned = error instanceof RefusalError && error.refusal.code === 'FOLDER_OWNED';
      if (!isOwned || performance.now() >= until) throw error;
    }
    thread = null;
    // Somebody has it: it is about to listen, or its socket is closed already and the folder not yet let go.
    const askAgain = performance.now() + askAgainAfterMs;
    for (let waitMs = shortestWaitMs; existing === null && performance.now() < askAgain; waitMs *= 1.5) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      existing = await whoListens(socket);
    }
  }
}

function whoListens(socketPath: string): Promise<HostLink | null> {
  return attachToHost(socketPath).catch(() => null);
}

function threadFailed(error: Error): Refusal {
  return refusal('INTERNAL', `The controller's thread failed: ${error.message}`);
}

export async function startLocalHost(options: LinkOptions): Promise<HostLink> {
  const { home, appVersion, runtime } = options;
  const thread = options.thread ?? makeControllerThread(options.workerModule, { home, appVersion, runtime });
  const failure = thread.failure();
  if (failure !== null) throw new RefusalError(threadFailed(failure));
  const { worker } = thread;
  const clients = new Map<number, { receive(frame: LinkFrame): void; closed(reason: Refusal): void }>();
  let nextClient = 1;
  let gone: Refusal | null = null;
  let resolveEnded: (reason: Refusal) => void = () => undefined;
  const ended = new Promise<Refusal>((resolve) => {
    resolveEnded = resolve;
  });

  function end(reason: Refusal): void {
    if (gone !== null) return;
    gone = reason;
    for (const client of clients.values()) client.closed(reason);
    clients.clear();
    resolveEnded(reason);
  }

  const post = (message: WorkerMessage) => worker.postMessage(message);
  await new Promise<void>((resolve, reject) => {
    worker.on('message', (message: WorkerMessage) => {
      switch (message.kind) {
        case 'ready':
          resolve();
          return;
        case 'failed':
          reject(new RefusalError(message.refusal));
          end(message.refusal);
          return;
        case 'frame':
          clients.get(message.client)?.receive(message.frame as LinkFrame);
          return;
        case 'close': {
          const client = clients.get(message.client);
          clients.delete(message.client);
          client?.closed(refusal('DISCONNECTED', 'The controller closed the connection.'));
          return;
        }
        case 'stopped':
          end(refusal('UNAVAILABLE', `The controller stopped: ${message.reason}.`));
          return;
        case 'start':
        case 'open':
        case 'shutdown':
          return;
      }
    });
    worker.on('error', (error) => {
      const reason = threadFailed(error);
      reject(new RefusalError(reason));
      end(reason);
    });
    worker.on('exit', (code) => {
      const reason = refusal('UNAVAILABLE', `The controller's thread ended with code ${code}.`);
      reject(new RefusalError(reason));
      end(reason);
    });
    post({ kind: 'start' });
  });

  return {
    kind: 'own',
    ended,
    openClient(receive, closed) {
      if (gone !== null) {
        const reason = gone;
        queueMicrotask(() => closed(reason));
        return { send: () => undefined, close: () => undefined };
      }
      const client = nextClient++;
      clients.set(client, { receive, closed });
      post({ kind: 'open', client });
      return {
        send: (frame) => {
          if (clients.has(client)) post({ kind: 'frame', client, frame });
        },
        close: () => {
          if (clients.delete(client)) post({ kind: 'close', client });
        },
      };
    },
    async shutdown(reason) {
      if (gone === null) post({ kind: 'shutdown', reason });
      await ended;
      await worker.terminate();
    },
  };
}

/** Attaches to whoever listens on the socket. Rejects with UNAVAILABLE when nobody does. */
export async function attachToHost(socketPath: string): Promise<HostLink> {
  // One connection is kept open to learn of the host's end; each client gets its own.
  let resolveEnded: (reason: Refusal) => void = () => undefined;
  const ended = new Promise<Refusal>((resolve) => {
    resolveEnded = resolve;
  });
  const watch = await connectSocket(socketPath, () => undefined, resolveEnded);
  return {
    kind: 'attached',
    ended,
    openClient(receive, closed) {
      const waiting: ClientFrame[] = [];
      let connection: LinkClient | null = null;
      let over = false;
      connectSocket(
        socketPath,
        (frame) => receive(frame as LinkFrame),
        (reason) => {
          if (!over) closed(reason);
          over = true;
        },
      ).then(
        (made) => {
          if (over) {
            made.close();
            return;
          }
          connection = made;
          for (const frame of waiting.splice(0)) made.send(frame);
        },
        (error: unknown) => {
          if (over) return;
          over = true;
          closed(error instanceof RefusalError ? error.refusal : refusal('UNAVAILABLE', String(error)));
        },
      );
      return {
        send: (frame) => {
          if (over) return;
          if (connection === null) waiting.push(frame);
          else connection.send(frame);
        },
        close: () => {
          over = true;
          connection?.close();
        },
      };
    },
    shutdown() {
      watch.close();
      resolveEnded(refusal('DISCONNECTED', 'Detached from the controller.'));
      return Promise.resolve();
    },
  };
}
