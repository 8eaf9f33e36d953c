import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LogAnswer, type LogFrame } from '../logs/log-answer.js';
import { Outgoing } from './outgoing.js';

let folder: string;
let server: net.Server;
let outgoing: Outgoing;
let serverSide: net.Socket;
let client: net.Socket;

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-outgoing-'));
  const name = path.join(folder, 's');
  const accepted = new Promise<net.Socket>((resolve) => {
    server = net.createServer(resolve);
  });
  await new Promise<void>((resolve) => server.listen(name, resolve));
  client = net.createConnection(name);
  serverSide = await accepted;
  outgoing = new Outgoing(serverSide);
});

afterEach(() => {
  client.destroy();
  serverSide.destroy();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

function log(id: number, bytes: Uint8Array, onRelease?: () => void): LogFrame {
  return { kind: 'log', id, answer: new LogAnswer({ dataBase64: '', size: 1 }, [bytes], onRelease) };
}

/** The first frames that come, so many. */
async function received(count: number): Promise<{ id: number; value: unknown }[]> {
  const pieces: Buffer[] = [];
  let ends = 0;
  await new Promise<void>((resolve) => {
    client.on('data', (piece) => {
      pieces.push(piece);
      for (const byte of piece) if (byte === 0x0a) ends += 1;
      if (ends >= count) resolve();
    });
  });
  const lines = Buffer.concat(pieces).toString().trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as { id: number; value: unknown });
}

const big = Buffer.from('0123456789'.repeat(100_000));

it('keeps the order of answers and frames, each whole', async () => {
  const all = received(5);
  outgoing.send({ kind: 'result', id: 1, value: 'a' });
  outgoing.send(log(2, big, () => outgoing.send({ kind: 'result', id: 5, value: 'released' })));
  outgoing.send({ kind: 'result', id: 3, value: 'b' });
  outgoing.send(log(4, big.subarray(1)));
  const frames = await all;
  expect(frames.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
  expect(frames[1]?.value).toEqual({ dataBase64: big.toString('base64'), size: 1 });
  expect(frames[3]?.value).toEqual({ dataBase64: big.subarray(1).toString('base64'), size: 1 });
});

it('at an end all that waits leaves, from the middle of an answer on', async () => {
  // Nobody reads yet: the first piece is on its way and the rest waits.
  outgoing.send(log(1, big));
  outgoing.send(log(2, big));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const all = received(3);
  outgoing.send({ kind: 'result', id: 3, value: 'last' });
  outgoing.flush();
  serverSide.end();
  const frames = await all;
  expect(frames.map(({ id }) => id)).toEqual([1, 2, 3]);
  expect(frames[1]?.value).toEqual({ dataBase64: big.toString('base64'), size: 1 });
});

it('has at most one piece of an answer wait in the socket', async () => {
  let most = 0;
  const write = serverSide.write.bind(serverSide);
  serverSide.write = ((...args: Parameters<typeof write>) => {
    const took = write(...args);
    most = Math.max(most, serverSide.writableLength);
    return took;
  }) as typeof serverSide.write;
  const all = received(20);
  for (let id = 1; id <= 20; id += 1) outgoing.send(log(id, big));
  expect(await all).toHaveLength(20);
  expect(most).toBeLessThanOrEqual(128 * 1024);
});

it('cuts off a client that lets more wait than it may', async () => {
  client.pause();
  const closed = new Promise((resolve) => serverSide.once('close', resolve));
  for (let id = 1; id <= 60; id += 1) outgoing.send(log(id, big));
  await closed;
  expect(serverSide.destroyed).toBe(true);
});
