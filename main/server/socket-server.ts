/** The local socket: newline-delimited JSON frames, readable and writable by the owner only. */
import { chmodSync, rmSync } from 'node:fs';
import net from 'node:net';
import type { HostFrame } from '../../core/contract/protocol.js';
import type { LogFrame } from '../logs/log-answer.js';
import { maxFrameBytes } from '../../core/contract/protocol.js';
import { refusal } from '../../core/contract/errors.js';
import { LineDecoder } from './line-decoder.js';
import { Outgoing } from './outgoing.js';

/** What a connected client gets: frames in through `receive`, frames out through the `send` it was opened with. */
export interface ClientSession {
  receive(frame: unknown): void;
  close(): void;
}

export interface SessionOpener {
  (transport: { send(frame: HostFrame | LogFrame): void; close(): void }): ClientSession;
}

export interface SocketServer {
  close(): Promise<void>;
}

/** Listens on `path`. The caller owns the data folder, so a socket file found there is a dead host's. */
export async function listenOnSocket(path: string, open: SessionOpener): Promise<SocketServer> {
  if (process.platform !== 'win32') rmSync(path, { force: true });
  /** Each with what sends the frames that still wait. */
  const connections = new Map<net.Socket, () => void>();
  const server = net.createServer((socket) => {
    const flush = serve(socket, open, () => connections.delete(socket));
    connections.set(socket, flush);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
  if (process.platform !== 'win32') chmodSync(path, 0o600);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const [socket, flush] of connections) {
          // Answers and the reason of the end were given in this very turn: they leave first.
          flush();
          socket.end(() => socket.destroy());
        }
      }),
  };
}

function serve(socket: net.Socket, open: SessionOpener, gone: () => void): () => void {
  const decoder = new LineDecoder(maxFrameBytes);
  const outgoing = new Outgoing(socket);
  let ended = false;
  const session = open({
    send: (frame) => outgoing.send(frame),
    close() {
      outgoing.flush();
      socket.end();
    },
  });

  socket.on('data', (chunk) => {
    const lines = decoder.push(chunk);
    if (lines === null) {
      socket.write(
        `${JSON.stringify({ kind: 'refused', id: 1, refusal: refusal('RESOURCE_EXHAUSTED', `A frame is longer than ${maxFrameBytes} bytes.`) })}\n`,
      );
      socket.destroySoon();
      return;
    }
    for (const line of lines) {
      const frame = parse(line);
      session.receive(frame);
    }
  });
  const end = () => {
    if (ended) return;
    ended = true;
    outgoing.end();
    gone();
    session.close();
  };
  socket.on('error', end);
  socket.on('close', end);
  socket.on('end', () => socket.end());
  return () => outgoing.flush();
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined; // no frame: the session refuses it and closes
  }
}
