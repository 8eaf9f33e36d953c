/** No room where an Engine keeps its data: told before, and named as the cause of whatever fails for it. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startEngine } from '../../scripts/lib/engine.mjs';
import type { BackendProbe } from '../harness/backend-probe.js';
import {
  dockerBackends,
  noEngine,
  withEngine,
  type DockerBackends,
  type OwnEngine,
} from '../harness/engine.js';
import { noRegistry, startRegistry, type OwnRegistry } from '../harness/registry.js';

const longMs = 120_000;
const diskBytes = 64 * 1024 ** 2;

describe.skipIf(noEngine)(withEngine('the room where an Engine keeps its data'), () => {
  let engine: OwnEngine;
  let data: string;
  let backends: DockerBackends;
  let probe: BackendProbe;
  beforeAll(async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-engine-'));
    data = path.join(folder, 'data');
    mkdirSync(data);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'tmpfs', data]);
    engine = await startEngine(folder);
  });
  afterAll(() => engine.stop());
  beforeEach(async () => {
    backends = await dockerBackends(engine);
    probe = await backends.open();
    await probe.until(() => dockerNow()?.state === 'READY');
  });
  afterEach(async () => {
    empty();
    await backends.dispose();
  });

  const dockerNow = () => probe.lastWorkers[0]?.docker;
  const filler = () => path.join(data, 'filler');
  const empty = () => rmSync(filler(), { force: true });
  /** All but so many bytes. */
  function fill(left = 0): void {
    const file = openSync(filler(), 'a');
    try {
      for (const size of [1 << 20, 4096, 1]) {
        const piece = Buffer.alloc(size);
        const { bsize } = statfsSync(data);
        while (statfsSync(data).bavail * bsize - left >= size) {
          if (writeSync(file, piece) < size) break;
        }
      }
    } catch (error) {
      if (!String(error).includes('ENOSPC')) throw error;
    } finally {
      closeSync(file);
    }
  }

  test('is told of with the state of the Engine, and short of it before anything fails', async () => {
    expect(dockerNow()).toMatchObject({ message: null, storage: { path: data, totalBytes: diskBytes } });
    fill(5 * 1024 ** 2);
    const later = await backends.open();
    await later.until(() => later.lastWorkers[0]?.docker?.state === 'READY');
    expect(later.lastWorkers[0]?.docker?.message).toMatch(
      new RegExp(
        `^${data}, where Docker keeps its data, has [45][\\d.]* MiB of 64 MiB free\\. Images that do not fit`,
      ),
    );
  });

  test('is the cause of a start that is refused, as a fault of the machine', async () => {
    fill();
    const launch = backends.launch({ command: ['true'] });
    probe.run(launch);
    const end = await probe.over(launch.uid, longMs);
    expect(end).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'DOCKER_STORAGE_FULL' } });
    expect(end.cause?.message).toContain(`${data}, where Docker keeps its data, has `);
    await probe.until(() => dockerNow()?.message?.includes('Nothing more can be pulled or started') === true);
    empty();
    const next = backends.launch({ command: ['true'] });
    probe.run(next);
    expect(await probe.over(next.uid, longMs)).toMatchObject({ state: 'SUCCEEDED' });
  });

  test('is the cause of a failed write of a container, whose log may be cut', async () => {
    const launch = backends.launch({
      command: [
        'sh',
        '-c',
        'echo begun; cat /dev/zero >/big; echo lost; until test -e go; do usleep 10000; done; exit 9',
      ],
    });
    probe.run(launch);
    const warned = await probe.warned(launch.uid, longMs);
    expect(warned).toMatchObject({ state: 'RUNNING', warnings: [{ code: 'LOG_STORAGE_FULL' }] });
    expect(warned.warnings[0]?.message).toContain(`(${data}) was full while the task ran`);
    writeFileSync(path.join(backends.work, 'go'), '');
    const end = await probe.over(launch.uid, longMs);
    expect(end).toMatchObject({
      state: 'FAILED',
      exitCode: 9,
      cause: { code: 'DOCKER_STORAGE_FULL' },
      warnings: [{ code: 'LOG_STORAGE_FULL' }],
    });
    expect(end.cause?.message).toContain('sh ended with exit code 9, and while it ran there was no room');
    expect(end.cause?.message).toContain(data);
    expect((await probe.text(launch.uid)).startsWith('begun\n')).toBe(true);
  });

  test('is no cause of a failure that came when there was room', async () => {
    const launch = backends.launch({ command: ['sh', '-c', 'exit 3'] });
    probe.run(launch);
    expect(await probe.over(launch.uid, longMs)).toMatchObject({
      state: 'FAILED',
      cause: { code: 'EXIT_CODE' },
      warnings: [],
    });
  });

  describe.skipIf(noRegistry)(`and images${noRegistry ? ' (left out: no docker-registry)' : ''}`, () => {
    let folder: string;
    let registry: OwnRegistry;
    let name: string;
    beforeAll(async () => {
      folder = mkdtempSync(path.join(os.tmpdir(), 'iris-registry-'));
      registry = await startRegistry(folder, false);
      name = `${registry.address}/lab/large:1`;
      const file = path.join(folder, 'layer');
      writeFileSync(file, randomBytes(12 * 1024 ** 2));
      const id = (await engine.docker('create', '--network', 'host', 'iris-test:1', 'true')).trim();
      await engine.docker('cp', file, `${id}:/layer`);
      await engine.docker('commit', id, name);
      await engine.docker('rm', id);
      await engine.docker('push', '-q', name);
      await engine.docker('rmi', name);
      rmSync(file);
    });
    afterAll(async () => {
      await registry.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    test('the cause of a fetch that found none, though what it brought is gone again', async () => {
      fill(8 * 1024 ** 2);
      const before = statSync(filler()).size;
      const launch = backends.launch({ command: ['true'], image: name });
      probe.run(launch);
      const end = await probe.over(launch.uid, longMs);
      expect(end).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'DOCKER_STORAGE_FULL' } });
      expect(end.cause?.message).toContain(`There was no room for the image ${name}: `);
      expect(end.cause?.message).toContain(`${data}, where Docker keeps its data, has `);
      expect(statSync(filler()).size).toBe(before);
      const [pull] = probe.backend.images?.('here')?.pulls() ?? [];
      expect(pull).toMatchObject({ state: 'FAILED', message: end.cause?.message });
    });
  });
});
