/** A thousand containers of a real Engine end at once. What lies between is a relay of this test's, which can break and hold back. */
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import Docker from 'dockerode';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ContainerHub } from '../../main/backends/workstation/docker/container-hub.js';
import { Engine } from '../../main/backends/workstation/docker/engine.js';
import { engineImage, noEngine, ownEngine, withEngine, type OwnEngine } from '../harness/engine.js';

const many = 1000;
const longMs = 120_000;
/** Asked of the Engine at the same moment. */
const atOnce = 50;

async function eachOf<T>(items: readonly T[], todo: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const work = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await todo(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

describe.skipIf(noEngine)(withEngine('a thousand ends at once'), () => {
  let real: OwnEngine;
  let docker: Docker;
  let relay: http.Server;
  let engine: Engine;
  let hub: ContainerHub;
  let faults: unknown[];
  let ids: string[];
  /** Connections that carry events, and whether new ones are let through. */
  let events: http.ServerResponse[];
  let cut: boolean;
  let lists: number;
  /** The last list, given again while it is held back: so nothing is learned from lists. */
  let held: Buffer | null;
  let holding: boolean;

  beforeAll(async () => {
    real = await ownEngine();
    docker = new Docker({ socketPath: real.socket });
  }, longMs);
  afterAll(() => real.stop(), longMs);

  const pass = (request: http.IncomingMessage, response: http.ServerResponse) => {
    const { pathname } = new URL(request.url ?? '/', 'http://docker');
    const [isEvents, isList] = [pathname.endsWith('/events'), pathname.endsWith('/containers/json')];
    if (isEvents && cut) {
      response.destroy();
      return;
    }
    if (isList && holding && held !== null) {
      response.setHeader('content-type', 'application/json');
      response.end(held);
      return;
    }
    const { url, method, headers } = request;
    const asked = http.request({ socketPath: real.socket, path: url, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      response.flushHeaders();
      if (isEvents) events.push(response);
      const pieces: Buffer[] = [];
      if (isList)
        answer
          .on('data', (piece: Buffer) => pieces.push(piece))
          .on('end', () => {
            held = Buffer.concat(pieces);
            lists += 1;
          });
      answer.pipe(response);
    });
    asked.on('error', () => response.destroy());
    response.on('close', () => asked.destroy());
    request.pipe(asked);
  };

  beforeEach(async () => {
    [ids, faults, events, lists] = [[], [], [], 0];
    [cut, holding, held] = [false, false, null];
    relay = http.createServer(pass).listen(path.join(real.folder, 'relay.sock'));
    await once(relay, 'listening');
    const endpoint = { kind: 'socket', path: path.join(real.folder, 'relay.sock') } as const;
    engine = new Engine({ find: () => ({ ok: true, endpoint, from: 'the test' }), onState: () => undefined });
    hub = new ContainerHub({
      engine,
      owner: 'us',
      nowMs: () => Date.now(),
      isFar: false,
      onFault: (error) => faults.push(error),
    });
    const container = {
      Image: engineImage,
      Labels: { 'iris.managed': 'us' },
      HostConfig: { NetworkMode: 'none' },
    };
    const make = async () => ids.push((await docker.createContainer({ ...container, Cmd: ['true'] })).id);
    await eachOf([...Array(many).keys()], make);
  }, longMs);
  afterEach(async () => {
    hub.close();
    engine.close();
    relay.closeAllConnections();
    relay.close();
    await once(relay, 'close');
    await real.clear();
  }, longMs);

  const run = async (Cmd: string[], Memory = 0) => {
    const HostConfig = { NetworkMode: 'host', Memory, MemorySwap: Memory };
    const Labels = { 'iris.managed': 'us' };
    const made = await docker.createContainer({ Image: engineImage, Cmd, Labels, HostConfig });
    await made.start();
    return made.id;
  };
  const removeAll = () => eachOf(ids, (id) => docker.getContainer(id).remove({ force: true }));
  const connected = () => expect.poll(() => events.length === 1 && lists > 0, { timeout: longMs }).toBe(true);

  test(
    'every end is noticed by its events, with what was said of each, in bounded memory',
    async () => {
      const killed = await Promise.all(Array.from({ length: 5 }, () => run(['sleep', '300'])));
      // Begins when it is told to, once it is watched.
      const hungry = await run(
        ['sh', '-c', 'trap : USR1; echo ready; sleep 300 & wait; x=a; while true; do x=$x$x; done'],
        32 * 1024 ** 2,
      );
      ids.push(...killed, hungry);
      const watched = ids.map((id) => hub.ended(id));
      const over = new Set<string>();
      for (const { seen, over: ended } of watched) void ended.then(() => over.add(seen.id));
      await connected();
      await expect.poll(() => real.docker('logs', hungry), { timeout: longMs }).toBe('ready\n');
      expect(over.size).toBe(0);
      holding = true;
      const before = process.memoryUsage().heapUsed;
      await docker.getContainer(hungry).kill({ signal: 'SIGUSR1' });
      await Promise.all(killed.map((id) => docker.getContainer(id).kill({ signal: 'SIGKILL' })));
      await docker.getContainer(hungry).wait();
      await removeAll();
      await Promise.all(watched.map(({ over: ended }) => ended));
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 ** 2);
      expect(over.size).toBe(many + 6);
      for (const { seen } of watched) {
        const signals = seen.id === hungry ? [10] : killed.includes(seen.id) ? [9] : [];
        expect(seen.signals.map(({ signal }) => signal)).toEqual(signals);
        expect([seen.outOfMemory, seen.lostAtMs]).toEqual([seen.id === hungry, null]);
      }
      expect(faults).toEqual([]);
    },
    longMs,
  );

  test(
    'those whose word was lost with the connection are found by the list',
    async () => {
      const watched = ids.map((id) => hub.ended(id));
      await connected();
      [cut, holding] = [true, true];
      for (const each of events) each.destroy();
      await removeAll();
      await expect.poll(() => faults.length, { timeout: longMs }).toBeGreaterThan(0);
      holding = false;
      await Promise.all(watched.map(({ over }) => over));
      // The loss is known of each, as it may be why it ended.
      expect(watched.every(({ seen }) => seen.lostAtMs !== null)).toBe(true);
    },
    longMs,
  );
});
