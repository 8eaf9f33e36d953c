/** What is told of an Engine that answers: what it is, where it was found, and its room. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ReadRoom } from './engine-room.js';
import { localRoom } from './engine-room.js';
import { Engine, EngineUnreachable, type EngineOptions } from './engine.js';

let folder: string;
let socket: string;
let server: http.Server;
let info: Record<string, unknown>;
/** It takes questions and answers none. */
let hangs: boolean;
const engines: Engine[] = [];

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-words-'));
  socket = path.join(folder, 'docker.sock');
  info = { ServerVersion: '20.10.24', Runtimes: {}, Name: os.hostname(), DockerRootDir: folder };
  hangs = false;
  server = http.createServer((_, response) => {
    if (hangs) return;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(info));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
});
afterEach(async () => {
  for (const engine of engines.splice(0)) engine.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

function engineOf(readRoom: ReadRoom = localRoom, more: Partial<EngineOptions> = {}): Engine {
  const engine = new Engine({
    find: () => ({ ok: true, endpoint: { kind: 'socket', path: socket }, from: 'looked for there' }),
    onState: () => undefined,
    readRoom,
    ...more,
  });
  engines.push(engine);
  return engine;
}

const look = (readRoom?: ReadRoom) => engineOf(readRoom).probe();

test('a rootless one says so, with its socket and what named it', async () => {
  info = { ...info, SecurityOptions: ['name=seccomp,profile=default', 'name=rootless'] };
  const state = await look();
  expect(state.found).toEqual({ engine: 'Docker', at: socket, from: 'looked for there', rootless: true });
  expect(state).toMatchObject({ state: 'READY', version: '20.10.24', message: null });
  expect(state.storage?.path).toBe(folder);
});

test('Podman, which answers as Docker does, is called by its name', async () => {
  // As its version 4.3.1 says it, shortened.
  info = {
    ...info,
    ServerVersion: '4.3.1',
    BuildahVersion: '1.28.2',
    DriverStatus: [['Backing Filesystem', 'extfs']],
  };
  const state = await look();
  expect(state).toMatchObject({
    state: 'READY',
    version: '4.3.1',
    found: { engine: 'Podman', rootless: false },
  });
  expect(state.message).toMatch(/^It is Podman that answers there/);
});

describe('cards', () => {
  const gives = async (more: Partial<EngineOptions> = {}) => {
    const engine = engineOf(localRoom, more);
    const { gpus, message } = await engine.probe();
    return { gpus, message, way: engine.known()?.gpuWay };
  };

  test('are given by one that has them as devices alone, of which it tells or whose description it reads', async () => {
    info = { ...info, ServerVersion: '28.3.0', CDISpecDirs: ['/etc/cdi', '/var/run/cdi'] };
    expect(await gives({ isThere: () => Promise.resolve(false) })).toMatchObject({
      gpus: false,
      way: 'NONE',
    });
    const described = (place: string) => Promise.resolve(place === '/etc/cdi/nvidia.yaml');
    expect(await gives({ isThere: described })).toEqual({ gpus: true, message: null, way: 'CDI' });
    const DiscoveredDevices = [{ Source: 'cdi', ID: 'nvidia.com/gpu=GPU-a' }];
    info = { ...info, DiscoveredDevices };
    expect(await gives()).toEqual({ gpus: true, message: null, way: 'CDI' });
  });

  test('that are devices by number alone are not, and it says what to do', async () => {
    info = { ...info, DiscoveredDevices: [{ Source: 'cdi', ID: 'nvidia.com/gpu=0' }] };
    const { gpus, message } = await gives();
    expect([gpus, message]).toEqual([false, expect.stringContaining('--device-name-strategy=uuid')]);
  });

  test("are given through NVIDIA's hook, also on another machine; of what an address reaches no file is known", async () => {
    const hook = (place: string) => Promise.resolve(place === '/usr/bin/nvidia-container-runtime-hook');
    expect(await gives({ isThere: hook })).toMatchObject({ gpus: true, way: 'RUNTIME' });
    const tcp = http.createServer((_, response) => response.end(JSON.stringify(info)));
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const { port } = tcp.address() as AddressInfo;
    const endpoint = { kind: 'tcp', host: '127.0.0.1', port, tls: null } as const;
    const find = () => ({ ok: true, endpoint, from: 'DOCKER_HOST' }) as const;
    expect(await gives({ isThere: hook, find })).toMatchObject({ gpus: false, way: 'NONE' });
    tcp.closeAllConnections();
    tcp.close();
    expect(await gives({ isThere: () => Promise.reject(new Error('not connected')) })).toMatchObject({
      gpus: false,
    });
  });
});

test('the room of one in a machine of its own is not that of a folder of the same name here', async () => {
  info = { ...info, Name: 'docker-desktop' };
  expect((await look()).storage).toBeNull();
});

test('of several folders the fullest counts, and one that is full is told of', async () => {
  info = { ...info, DriverStatus: [['driver-type', 'io.containerd.snapshotter.v1']] };
  const free: Record<string, number> = { [folder]: 50, '/var/lib/containerd': 0 };
  const state = await look((one) =>
    Promise.resolve({ path: one, totalBytes: 100, freeBytes: (free[one] ?? 0) * 1024 ** 3 }),
  );
  expect(state.storage).toEqual({ path: '/var/lib/containerd', totalBytes: 100, freeBytes: 0 });
  expect(state.message).toContain('/var/lib/containerd, where Docker keeps its data, has 0 B of 100 B free.');
});

test('a file system that cannot be looked at is no fault of the Engine', async () => {
  const state = await look(() => Promise.reject(new Error('gone')));
  expect(state).toMatchObject({ state: 'READY', message: null, storage: null });
});

describe('one that takes questions and answers none', () => {
  const open = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );

  test('is left by each that waited too long, and keeps none of their connections', async () => {
    const engine = engineOf(localRoom, { callMs: 20, probeCallMs: 20 });
    await engine.probe();
    hangs = true;
    for (let time = 0; time < 5; time += 1) {
      await expect(engine.ask((docker) => docker.getContainer('x').inspect())).rejects.toBeInstanceOf(
        EngineUnreachable,
      );
      await expect(engine.ask((docker) => docker.listContainers({ all: true }))).rejects.toThrow(
        'Docker did not answer within 0.02 s',
      );
      expect(await engine.probe()).toMatchObject({ state: 'FAILED' });
    }
    await expect.poll(open, { timeout: 5000, interval: 5 }).toBe(0);
  });

  test('loses no stream that came in time', async () => {
    const callMs = 5000;
    const engine = engineOf(localRoom, { callMs });
    await engine.probe();
    let end: () => void = () => undefined;
    server.removeAllListeners('request').on('request', (_, response: http.ServerResponse) => {
      response.write('{"Type":"container"}\n');
      end = () => response.end('{"Type":"image"}\n');
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const stream = await engine.ask((docker) => docker.getEvents({}));
      vi.advanceTimersByTime(2 * callMs);
      end();
      let text = '';
      for await (const piece of stream) text += String(piece);
      expect(text).toBe('{"Type":"container"}\n{"Type":"image"}\n');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('one that could not be used', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Milliseconds until each next look, of which none succeeds. */
  async function pauses(count: number): Promise<number[]> {
    let looks = 0;
    const engine = engineOf(localRoom, {
      find: () => {
        looks += 1;
        return { ok: false, absent: false, message: 'not now' };
      },
    });
    await engine.probe();
    const found: number[] = [];
    for (let each = 0; each < count; each += 1) {
      const before = looks;
      let ms = 0;
      for (; looks === before && ms < 60_000; ms += 100) vi.advanceTimersByTime(100);
      found.push(ms);
      await vi.advanceTimersByTimeAsync(0);
    }
    return found;
  }

  test('is looked at again soon, and less often as it stays so', async () => {
    expect(await pauses(8)).toEqual([1000, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  test('and takes questions without an answer is given more time with each look', async () => {
    const engine = engineOf();
    async function waits(seconds: number): Promise<void> {
      hangs = true;
      const look = engine.probe();
      await once(server, 'request');
      vi.advanceTimersByTime(seconds * 1000);
      expect((await look).message).toContain(`no answer within ${seconds} s`);
    }
    for (const seconds of [5, 10, 20, 30, 30]) await waits(seconds);
    hangs = false;
    expect(await engine.probe()).toMatchObject({ state: 'READY' });
    await waits(5);
  });
});

test('what the environment says of another Engine is not taken for this one', async () => {
  vi.stubEnv('DOCKER_HOST', 'tcp://no such host:nor port');
  expect(await look()).toMatchObject({ state: 'READY' });
  vi.stubEnv('DOCKER_HOST', 'tcp://elsewhere:2376');
  vi.stubEnv('DOCKER_CERT_PATH', path.join(folder, 'none'));
  vi.stubEnv('DOCKER_CLIENT_TIMEOUT', '1');
  expect(await look()).toMatchObject({ state: 'READY' });
  expect(process.env['DOCKER_HOST']).toBe('tcp://elsewhere:2376');
  vi.unstubAllEnvs();
});
