/** The client's end of the local socket: frames out, frames in. */
import net from 'node:net';
import { dirname } from 'node:path';
import { RefusalError, refusal, type Refusal } from '../../core/contract/errors.js';
import { maxFrameBytes } from '../../core/contract/host-frames.js';
import type { ClientFrame } from '../../core/contract/protocol.js';
import { LineDecoder } from './line-decoder.js';
import { foreignSocketFolder } from './socket-folder.js';

export interface SocketConnection {
  send(frame: ClientFrame): void;
  close(): void;
}

const ended = refusal('DISCONNECTED', 'The connection to the controller ended.');

/**
 * Connects to a host's socket. Rejects with UNAVAILABLE when nobody listens there. `closed` is called once when the host is gone,
 * not after `close`. A listener in somebody else's folder is none to be trusted: FOLDER_UNUSABLE.
 */
export function connectSocket(
  path: string,
  receive: (frame: unknown) => void,
  closed: (reason: Refusal) => void,
): Promise<SocketConnection> {
  return new Promise((resolve, reject) => {
    const foreign = foreignSocketFolder(dirname(path), 'connects');
    if (foreign !== null) {
      reject(new RefusalError(foreign));
      return;
    }
    const socket = net.createConnection(path);
    const decoder = new LineDecoder(maxFrameBytes);
    let connected = false;
    let over = false;

    function end(reason: Refusal): void {
      if (over) return;
      over = true;
      socket.destroy();
      if (connected) closed(reason);
      else reject(new RefusalError(reason));
    }

    socket.on('connect', () => {
      connected = true;
      resolve({
        send: (frame) => {
          if (!over) socket.write(`${JSON.stringify(frame)}\n`);
        },
        close: () => {
          over = true;
          socket.end();
        },
      });
    });
    socket.on('data', (chunk) => {
      const lines = decoder.push(chunk);
      if (lines === null) {
        end(refusal('RESOURCE_EXHAUSTED', `The controller sent a frame longer than ${maxFrameBytes} bytes.`));
        return;
      }
      for (const line of lines) {
        if (!over) receive(parse(line));
      }
    });
    socket.on('error', (error) => {
      const text = connected
        ? `The connection to the controller failed: ${error.message}`
        : `No controller answers on ${path}: ${error.message}`;
      end(refusal(connected ? 'DISCONNECTED' : 'UNAVAILABLE', text));
    });
    // Before the socket's own end: nothing can be written from here on.
    socket.on('end', () => end(ended));
    socket.on('close', () => end(ended));
  });
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined; // no frame; the client ignores it
  }
}
