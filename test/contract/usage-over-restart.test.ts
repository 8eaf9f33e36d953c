/** What an attempt has used is told as one sum, however often the controller was started meanwhile. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { report, specOf } from '../../core/model/test-world.js';
import type { BackendListener, DesiredAttempt } from '../../main/backends/backend.js';
import { Controller } from '../../main/controller/controller.js';
import type { Store } from '../../main/store/types.js';
import { plainParts } from '../harness/controller-parts.js';
import { eventually } from '../harness/eventually.js';
import { toldBackend } from '../harness/told-backend.js';
import { makeFolder, openTestStore, type Folder } from '../store/builders.js';

let folder: Folder;
let store: Store;

beforeEach(() => {
  folder = makeFolder();
  store = openTestStore(folder.database);
});
afterEach(() => {
  store.close();
  folder.remove();
});

test('the next controller tells the backend what was used before, and keeps the highest memory', async () => {
  let nowMs = Date.now();
  let desired: readonly DesiredAttempt[] = [];
  const listeners: BackendListener[] = [];
  const parts = plainParts();
  const start = async (): Promise<Controller> => {
    const controller = new Controller({
      store,
      backend: toldBackend({
        started: (given) => listeners.push(given),
        wanted: (wanted) => (desired = wanted),
      }),
      ...parts,
      nowMs: () => nowMs,
    });
    await controller.start();
    return controller;
  };
  const attemptOf = (uid: string) => store.loadLive().attempts.find((attempt) => attempt.uid === uid);
  const usage = {
    cpuSeconds: 500,
    memoryBytes: 9000,
    diskReadBytes: null,
    diskWrittenBytes: null,
    gpuPercent: 80,
    gpuMemoryBytes: 7000,
    energyJoules: 1_000_000,
    devicesUsed: ['GPU-1'],
  };

  let controller = await start();
  await controller.submit({
    spec: specOf({ name: 'train' }),
    identity: { user: 'ann' },
    requestId: 'r',
    retryOf: null,
  });
  await eventually(() => desired.length).toBe(1);
  expect(desired[0]).not.toHaveProperty('launch.usedBefore');
  const uid = [...controller.unfinishedAttempts()][0]?.uid ?? '';
  const runs = { startedAtMs: nowMs, pid: 7 };
  listeners[0]?.observations([report(uid, 'RUNNING', { ...runs, usage, peakMemoryBytes: 40_000 })]);
  await eventually(() => attemptOf(uid)?.peakMemoryBytes).toBe(40_000);
  controller.stop();
  nowMs += 60_000;
  controller = await start();
  await eventually(() => desired).toMatchObject([
    { kind: 'keep', uid, launch: { usedBefore: { usage, forMs: 60_000 } } },
  ]);
  // Who measures has seen less since.
  const later = { ...usage, energyJoules: 1_001_000 };
  listeners[1]?.observations([report(uid, 'RUNNING', { ...runs, usage: later, peakMemoryBytes: 10_000 })]);
  await eventually(() => attemptOf(uid)?.usage).toEqual(later);
  expect(attemptOf(uid)?.peakMemoryBytes).toBe(40_000);
  const end = { ...runs, exitCode: 0, finishedAtMs: nowMs, usage: later, peakMemoryBytes: 12_000 };
  listeners[1]?.observations([report(uid, 'SUCCEEDED', end)]);
  await eventually(() => store.loadTree('/ann/train')?.attempts).toMatchObject([
    { state: 'SUCCEEDED', peakMemoryBytes: 40_000, usage: later },
  ]);
  controller.stop();
});
