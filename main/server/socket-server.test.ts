import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { maxFrameBytes } from '../../core/contract/host-frames.js';
import type { HostFrame } from '../../core/contract/protocol.js';
import { listenOnSocket, type SocketServer } from './socket-server.js';

let folder: string;
let server: SocketServer;
let client: net.Socket;
let say: (frame: HostFrame) => void;
let endSession: () => void;
let heard: unknown[];
let hear: () => void;
let sessionsClosed: number;

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-socket-'));
  const name = path.join(folder, 's');
  heard = [];
  hear = () => undefined;
  sessionsClosed = 0;
  let opened: () => void = () => undefined;
  const open = new Promise<void>((resolve) => {
    opened = resolve;
  });
  server = await listenOnSocket(name, (transport) => {
    say = (frame) => transport.send(frame);
    endSession = () => transport.close();
    opened();
    return {
      receive: (frame) => {
        heard.push(frame);
        hear();
      },
      close: () => {
        sessionsClosed += 1;
      },
    };
  });
  client = net.connect(name);
  await open;
});

afterEach(async () => {
  client.destroy();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** All the client is sent, to the end of the connection. */
async function rest(): Promise<string> {
  const pieces: Buffer[] = [];
  client.on('data', (piece: Buffer) => pieces.push(piece));
  await once(client, 'close');
  return Buffer.concat(pieces).toString();
}

/** The server has done all it does of itself by then. */
async function severalTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
}

it.each([
  ['the end of the server', () => void server.close()],
  ['the end of a session', () => endSession()],
])('%s leaves the last words to a client that is still sending', async (_, end) => {
  say({ kind: 'result', id: 1, value: 'last words' });
  end();
  await severalTurns();
  client.write('{"kind":"ack"}\n');
  await severalTurns();
  client.write('{"kind":"ack"}\n');
  expect(JSON.parse(await rest())).toEqual({ kind: 'result', id: 1, value: 'last words' });
  await server.close();
  expect(heard).toEqual([]);
  expect(sessionsClosed).toBe(1);
});

it('sends nothing after its last words', async () => {
  say({ kind: 'result', id: 1, value: 'last words' });
  endSession();
  say({ kind: 'result', id: 2, value: 'too late' });
  const text = rest();
  await severalTurns();
  say({ kind: 'result', id: 3, value: 'much too late' });
  expect(JSON.parse(await text)).toEqual({ kind: 'result', id: 1, value: 'last words' });
});

it('tells who sends a frame that is too long, though more of it is on its way', async () => {
  const text = rest();
  client.write(Buffer.alloc(3 * maxFrameBytes, 'x'));
  expect(JSON.parse(await text)).toMatchObject({
    kind: 'refused',
    refusal: { code: 'RESOURCE_EXHAUSTED', message: `A frame is longer than ${maxFrameBytes} bytes.` },
  });
  expect(heard).toEqual([]);
});

it('hears no more of what came together with the frame that ended the session', async () => {
  hear = () => endSession();
  client.write('{"n":1}\n{"n":2}\n');
  await rest();
  expect(heard).toEqual([{ n: 1 }]);
});

it('waits for two seconds, no longer, for a client that does not close its side', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    say({ kind: 'result', id: 1, value: 'unread, so the end after it is not seen' });
    let closed = false;
    const closing = server.close().then(() => {
      closed = true;
    });
    await severalTurns();
    vi.advanceTimersByTime(1999);
    await severalTurns();
    expect(closed).toBe(false);
    vi.advanceTimersByTime(1);
    await closing;
  } finally {
    vi.useRealTimers();
  }
});
