/** The disk that a container's log is copied to is full when it ends: how it ended and what it said wait for room, and are not lost. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AttemptLaunch, AttemptObservation } from '../../main/backends/backend.js';
import { type DockerRuntime } from '../../main/backends/workstation/docker/docker-runtime.js';
import { launchOf } from '../harness/backend-probe.js';
import { fillDisk } from '../harness/fill-disk.js';
import { FakeEngine, type FakeContainer } from '../harness/fake-engine.js';
import { runtimeOn } from '../harness/fake-engine-runtime.js';

const reason = process.getuid?.() === 0 ? null : 'only root may mount a disk that gets full';
if (reason !== null && process.env['CI'] === 'true') throw new Error(reason);
const owner = '0123456789abcdef';
const waits = 'ended while the disk that its log is copied to';

describe.skipIf(reason !== null)(
  `a full disk under the copy of a container's log${reason === null ? '' : ` (left out: ${reason})`}`,
  () => {
    let folder: string;
    let disk: string;
    let engine: FakeEngine;
    let runtime: DockerRuntime;
    let said: AttemptObservation[];
    let warned: string[];
    let launch: AttemptLaunch;
    const until = (holds: () => boolean) => expect.poll(holds).toBe(true);
    const copied = () => readFileSync(path.join(disk, launch.uid, 'out'), 'utf8');

    beforeEach(async () => {
      folder = mkdtempSync(path.join(os.tmpdir(), 'iris-log-full-'));
      disk = path.join(folder, 'disk');
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', disk]);
      writeFileSync(path.join(disk, '.owner'), owner);
      engine = await FakeEngine.start();
      launch = launchOf({ command: ['train'], image: 'torch:1', workingDirectory: folder });
      [said, warned] = [[], []];
      runtime = open();
    });
    afterEach(async () => {
      await runtime.close();
      await engine.stop();
      execFileSync('umount', ['--lazy', disk]);
      rmSync(folder, { recursive: true, force: true });
    });

    function open(): DockerRuntime {
      return runtimeOn(engine, {
        attemptsFolder: disk,
        home: folder,
        log: { info: () => undefined, warn: (text) => warned.push(text), error: (text) => warned.push(text) },
        onObservations: (batch) => said.push(...batch),
      });
    }

    const fill = () => fillDisk(disk);

    async function running(): Promise<FakeContainer> {
      runtime.reconcile([{ kind: 'run', launch }]);
      await until(() => said.at(-1)?.state === 'RUNNING');
      const container = engine.named(`iris-${launch.uid}`);
      if (container === undefined) throw new Error('it has no container');
      engine.say(container, 'first');
      await until(() => copied() === 'first\n');
      return container;
    }

    test('the end is told once there is room, with the whole log, and the container stays till then', async () => {
      const container = await running();
      fill();
      engine.say(container, 'x'.repeat(50_000));
      engine.say(container, 'last words');
      engine.end(container, 0);
      await until(() => said.at(-1)?.warnings.length === 1);
      expect(said.at(-1)).toMatchObject({ state: 'RUNNING', warnings: [{ code: 'LOG_STORAGE_FULL' }] });
      expect(said.at(-1)?.warnings[0]?.message).toContain(waits);
      expect(engine.named(container.id)).toBe(container);
      rmSync(path.join(disk, 'filler'));
      await until(() => said.at(-1)?.state === 'SUCCEEDED');
      expect(said.at(-1)).toMatchObject({ exitCode: 0, cause: null });
      // It stays with the attempt, and has to be true then as well.
      expect(said.at(-1)?.warnings.map(({ message }) => message)).toEqual([expect.stringContaining(waits)]);
      expect(copied()).toBe(`first\n${'x'.repeat(50_000)}\nlast words\n`);
      await until(() => engine.containers.size === 0);
    });

    test('a host that ends meanwhile leaves it to the next one', async () => {
      const container = await running();
      fill();
      engine.say(container, 'x'.repeat(50_000));
      engine.end(container, 5);
      await until(() => said.at(-1)?.warnings.length === 1);
      await runtime.close();
      said = [];
      runtime = open();
      runtime.reconcile([{ kind: 'keep', uid: launch.uid, launch }]);
      await until(() => said.at(-1)?.warnings.length === 1);
      rmSync(path.join(disk, 'filler'));
      await until(() => said.at(-1)?.state === 'FAILED');
      expect(said.at(-1)).toMatchObject({ exitCode: 5, cause: { code: 'EXIT_CODE' } });
      expect(copied()).toBe(`first\n${'x'.repeat(50_000)}\n`);
    });
  },
);
