/** One connection to a host over its socket, with promises. */
import net from 'node:net';
import path from 'node:path';
import type { MethodName, MethodResult, Params, TopicFilter, TopicName } from '../../core/contract/api.js';
import { createContractClient, type SubscriptionHandlers } from '../../core/contract/client.js';
import { contractVersion } from '../../core/contract/constants.js';
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import { maxFrameBytes } from '../../core/contract/host-frames.js';
import type { HostStatus } from '../../core/contract/views.js';
import { LineDecoder } from '../server/line-decoder.js';
import { foreignSocketFolder } from '../server/socket-folder.js';

export interface Connection {
  /** What the host said of itself when it was greeted. */
  readonly host: HostStatus;
  /** Rejects with a RefusalError, whatever went wrong. */
  call<M extends MethodName>(method: M, params: Params<M>): Promise<MethodResult<M>>;
  subscribe<T extends TopicName>(
    topic: T,
    filter: TopicFilter<T>,
    handlers: SubscriptionHandlers<T>,
  ): () => void;
  readonly isOpen: boolean;
  /** Resolves when the connection has ended, for whatever reason. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Nobody listens on the socket: there is no host. */
export class NobodyAnswers extends Error {}

/** A host that is alive answers its greeting at once; one that does not is stuck. */
const greetingDeadlineMs = 10_000;

const clientName = 'irisctl';

export async function openConnection(socketPath: string): Promise<Connection> {
  const socket = await dial(socketPath);
  const decoder = new LineDecoder(maxFrameBytes);
  const client = createContractClient((frame) => {
    if (socket.writable) socket.write(`${JSON.stringify(frame)}\n`);
  });
  let isOpen = true;
  let reason: Refusal = refusal('DISCONNECTED', 'The connection to the host ended.');
  const ended = new Promise<void>((resolve) => {
    socket.on('close', () => {
      isOpen = false;
      client.disconnected(reason);
      resolve();
    });
  });
  socket.on('error', (error) => {
    reason = refusal('DISCONNECTED', `The connection to the host ended: ${error.message}.`);
  });
  socket.on('end', () => socket.end());
  socket.on('data', (chunk: Buffer) => {
    const lines = decoder.push(chunk);
    if (lines === null) {
      reason = refusal('DISCONNECTED', `The host sent a frame of more than ${maxFrameBytes} bytes.`);
      socket.destroy();
      return;
    }
    for (const line of lines) client.receive(parseFrame(line));
  });

  function call<M extends MethodName>(method: M, params: Params<M>): Promise<MethodResult<M>> {
    return new Promise((resolve, reject) => {
      if (!isOpen) {
        reject(new RefusalError(reason));
        return;
      }
      client.call(method, params, (result) => {
        if (result.ok) resolve(result.value);
        else reject(new RefusalError(result.refusal));
      });
    });
  }

  const deadline = setTimeout(() => {
    reason = refusal(
      'UNAVAILABLE',
      `The host at ${socketPath} accepted the connection but did not answer within ${greetingDeadlineMs / 1000} s.`,
    );
    socket.destroy();
  }, greetingDeadlineMs);
  try {
    const host = await call('hello', { contractVersion, client: clientName });
    return {
      host,
      call,
      subscribe: (topic, filter, handlers) => {
        if (isOpen) return client.subscribe(topic, filter, handlers);
        handlers.ended(reason);
        return () => undefined;
      },
      get isOpen() {
        return isOpen;
      },
      ended,
      close: () => {
        socket.end();
        socket.destroySoon();
      },
    };
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(deadline);
  }
}

function parseFrame(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined; // no frame; the client ignores it
  }
}

function dial(socketPath: string): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const foreign = foreignSocketFolder(path.dirname(socketPath), 'connects');
    if (foreign !== null) {
      reject(new RefusalError(foreign));
      return;
    }
    const socket = net.connect(socketPath);
    socket.once('connect', () => {
      socket.off('error', failed);
      resolve(socket);
    });
    const failed = (error: NodeJS.ErrnoException) => {
      // ENOENT: never was one here; ECONNREFUSED: its file outlived it; EAGAIN: its queue is full, so it lives but is not ready.
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED' || error.code === 'EAGAIN') {
        reject(new NobodyAnswers(error.message));
        return;
      }
      const advice =
        error.code === 'EACCES' || error.code === 'EPERM'
          ? 'it belongs to another user; name your own data folder with --home'
          : error.message;
      reject(
        new RefusalError(
          refusal('UNAVAILABLE', `The host's socket ${socketPath} cannot be used: ${advice}.`),
        ),
      );
    };
    socket.once('error', failed);
  });
}
