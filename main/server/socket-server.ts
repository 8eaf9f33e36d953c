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

/** For a client that reads to the end and closes its side. One that is stopped, or reads nothing, is left after it. */
const lingerMs = 2000;

/** Listens on `path`. The caller owns the data folder, so a socket file found there is a dead host's. */
export async function listenOnSocket(path: string, open: SessionOpener): Promise<SocketServer> {
  if (process.platform !== 'win32') rmSync(path, { force: true });
  /** Each with what ends it. */
  const connections = new Map<net.Socket, () => void>();
  const server = net.createServer((socket) => {
    const finish = serve(socket, open, () => connections.delete(socket));
    connections.set(socket, finish);
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
        for (const finish of connections.values()) finish();
      }),
  };
}

/** Returns what ends the connection. */
function serve(socket: net.Socket, open: SessionOpener, gone: () => void): () => void {
  const decoder = new LineDecoder(maxFrameBytes);
  const outgoing = new Outgoing(socket);
  let ended = false;
  let finishing: NodeJS.Timeout | null = null;
  const isOver = () => finishing !== null;

  /**
   * What waits leaves, and then our side closes. The other side stays open, unheard, until the client closes it: closed before, a
   * frame of the client that is on its way would fail, and the client would throw away the unread reason of the end with that.
   */
  function finish(): void {
    if (finishing !== null || ended) return;
    outgoing.flush();
    outgoing.end();
    socket.end();
    finishing = setTimeout(() => socket.destroy(), lingerMs);
    session.close();
  }

  const session = open({ send: (frame) => outgoing.send(frame), close: finish });

  socket.on('data', (chunk) => {
    if (isOver()) return;
    const lines = decoder.push(chunk);
    if (lines === null) {
      outgoing.send({
        kind: 'refused',
        id: 1,
        refusal: refusal('RESOURCE_EXHAUSTED', `A frame is longer than ${maxFrameBytes} bytes.`),
      });
      finish();
      return;
    }
    for (const line of lines) {
      if (!isOver()) session.receive(parse(line));
    }
  });
  const end = () => {
    if (ended) return;
    ended = true;
    outgoing.end();
    gone();
    if (finishing === null) session.close();
    else clearTimeout(finishing);
  };
  socket.on('error', end);
  socket.on('close', end);
  socket.on('end', () => socket.end());
  return finish;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined; // no frame: the session refuses it and closes
  }
}
