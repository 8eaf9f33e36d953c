/** Emptying the caches of one runtime beside the starts of its containers. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import { FakeEngine } from '../../../../test/harness/fake-engine.js';
import { runtimeOn } from '../../../../test/harness/fake-engine-runtime.js';
import type { AttemptObservation } from '../../backend.js';
import type { DockerRuntime, DockerRuntimeOptions } from './docker-runtime.js';
import { localFiles } from './local-files.js';

let folder: string;
let caches: string;
let engine: FakeEngine;
let said: AttemptObservation[];
const runtimes: DockerRuntime[] = [];

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-caches-'));
  caches = path.join(folder, 'caches');
  mkdirSync(path.join(folder, 'attempts'));
  mkdirSync(path.join(caches, 'uv'), { recursive: true });
  writeFileSync(path.join(caches, 'uv', 'old'), 'old');
  engine = await FakeEngine.start();
  said = [];
});
afterEach(async () => {
  for (const runtime of runtimes.splice(0)) await runtime.close();
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
});

const launch = () => launchOf({ command: ['train'], image: 'torch:1', workingDirectory: folder });
const until = (holds: () => boolean) => expect.poll(holds, { timeout: 15_000, interval: 10 }).toBe(true);

function opened(more: Partial<DockerRuntimeOptions> = {}): DockerRuntime {
  const made = runtimeOn(engine, {
    attemptsFolder: path.join(folder, 'attempts'),
    home: folder,
    onObservations: (batch) => said.push(...batch),
    ...more,
  });
  runtimes.push(made);
  return made;
}

test('a start that comes meanwhile waits, and has its folders made anew', async () => {
  const made = opened();
  await made.start();
  const held = new Promise<http.ServerResponse>((resolve) => {
    engine.instead.set('GET list', (_, response) => resolve(response));
  });
  const emptied = made.imageControl().caches.empty(['uv']);
  const answer = await held;
  engine.instead.delete('GET list');
  const wanted = launch();
  made.reconcile([{ kind: 'run', launch: wanted }]);
  // As far as it comes: it is said to be on its way, and nothing of it is made.
  await until(() => said.some(({ uid, state }) => uid === wanted.uid && state === 'BUILDING'));
  await made.start();
  expect(engine.asked).not.toContain('POST create');
  expect(existsSync(path.join(folder, 'attempts', wanted.uid, 'work'))).toBe(false);
  answer.end('[]');
  expect(await emptied).toEqual(['uv']);
  await until(() => said.some(({ uid, state }) => uid === wanted.uid && state === 'RUNNING'));
  expect(readdirSync(path.join(caches, 'uv'))).toEqual([]);
});

test('from the moment a task is wanted in a container until it is over, emptying is refused', async () => {
  // One that is being started, for as long as that takes.
  let go: () => void = () => undefined;
  const goes = new Promise<void>((resolve) => (go = resolve));
  const prepare: typeof localFiles.prepare = async (...asked) => {
    await goes;
    return localFiles.prepare(...asked);
  };
  const made = opened({ files: { ...localFiles, prepare } });
  const wanted = launch();
  made.reconcile([{ kind: 'run', launch: wanted }]);
  const { caches: control } = made.imageControl();
  const refusal = {
    refusal: {
      code: 'FAILED_PRECONDITION',
      message: expect.stringContaining(`${wanted.taskId} runs in a container on here, or is being`),
    },
  };
  await expect(control.empty(['uv'])).rejects.toMatchObject(refusal);
  go();
  await until(() => said.some(({ state }) => state === 'RUNNING'));
  await expect(control.empty(['uv'])).rejects.toMatchObject(refusal);
  const container = engine.named(`iris-${wanted.uid}`);
  if (container === undefined) throw new Error('nothing runs');
  engine.end(container, 0);
  await until(() => said.some(({ state }) => state === 'SUCCEEDED'));
  expect(await control.empty(['uv'])).toEqual(['uv']);
  await until(() => !control.view().removing);
});

test('who watches is told of each change of them', async () => {
  const made = opened();
  let told = 0;
  made.imageControl().watch((what) => (told += what === 'caches' ? 1 : 0));
  await made.imageControl().caches.measure();
  expect(told).toBe(2);
});
