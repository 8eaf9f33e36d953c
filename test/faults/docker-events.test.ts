/** A thousand containers of an Engine end at once: an Engine that is only its words, over a real socket. */
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ContainerHub } from '../../main/backends/workstation/docker/container-hub.js';
import { Engine } from '../../main/backends/workstation/docker/engine.js';

const many = 1000;
const idOf = (index: number): string => index.toString(16).padStart(64, '0');

let folder: string;
let server: http.Server;
let engine: Engine;
let hub: ContainerHub;
let faults: unknown[];
/** Ids the Engine says run. */
let running: Set<string>;
let events: http.ServerResponse[];
let listed: number;

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-words-'));
  const socket = path.join(folder, 'docker.sock');
  running = new Set(Array.from({ length: many }, (_, index) => idOf(index)));
  events = [];
  faults = [];
  listed = 0;
  server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://docker');
    response.setHeader('content-type', 'application/json');
    if (pathname.endsWith('/events')) {
      response.flushHeaders();
      events.push(response);
    } else if (pathname.endsWith('/containers/json')) {
      listed += 1;
      response.end(JSON.stringify([...running].map((Id) => ({ Id, State: 'running', Labels: {} }))));
    } else response.end(JSON.stringify({ ServerVersion: '20.10.24', Runtimes: {} }));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  engine = new Engine({
    find: () => ({ ok: true, endpoint: { kind: 'socket', path: socket }, from: 'the test' }),
    onState: () => undefined,
  });
  hub = new ContainerHub({
    engine,
    owner: 'us',
    nowMs: () => Date.now(),
    isFar: false,
    onFault: (error) => faults.push(error),
  });
});
afterEach(async () => {
  hub.close();
  engine.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

const row = (action: string, id: string, attributes: Readonly<Record<string, string>>): string =>
  `${JSON.stringify({
    Type: 'container',
    Action: action,
    Actor: { ID: id, Attributes: { 'iris.managed': 'us', padding: 'x'.repeat(500), ...attributes } },
    timeNano: Date.now() * 1e6,
  })}\n`;

test('every end is noticed, with what was said of each, in bounded memory', async () => {
  const watched = [...running].map((id) => hub.ended(id));
  const over: string[] = [];
  for (const { seen, over: ended } of watched) void ended.then(() => over.push(seen.id));
  await expect.poll(() => events.length === 1 && listed > 0, { timeout: 10_000 }).toBe(true);
  expect(over).toEqual([]);
  // Of each its kernel's word, somebody's signal, and its end; the burst in pieces that fit no row.
  const text = [...running]
    .flatMap((id, index) => [
      ...(index % 3 === 0 ? [row('oom', id, {})] : []),
      ...(index % 3 === 1 ? [row('kill', id, { signal: '9' })] : []),
      row('die', id, { exitCode: '137' }),
    ])
    .join('');
  const before = process.memoryUsage().heapUsed;
  const [stream] = events;
  for (let at = 0; at < text.length; at += 7777) stream?.write(text.slice(at, at + 7777));
  await Promise.all(watched.map(({ over: ended }) => ended));
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 ** 2);
  // None was told by the list, which still has them all.
  expect(running.size).toBe(many);
  expect(new Set(over).size).toBe(many);
  watched.forEach(({ seen }, index) => {
    expect([seen.outOfMemory, seen.signals.length]).toEqual([index % 3 === 0, index % 3 === 1 ? 1 : 0]);
  });
  expect(faults).toEqual([]);
});

test('those whose word was lost with the connection are found by the list', async () => {
  const watched = [...running].map((id) => hub.ended(id));
  await expect.poll(() => events.length === 1 && listed > 0, { timeout: 10_000 }).toBe(true);
  const [stream] = events;
  running.clear();
  stream?.destroy();
  await Promise.all(watched.map(({ over }) => over));
  // The loss is known of each, as it may be why it ended.
  expect(watched.every(({ seen }) => seen.lostAtMs !== null)).toBe(true);
  expect(faults.length).toBeGreaterThan(0);
});
