import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AttemptObservation } from '../../backend.js';
import { newEntry } from '../process/attempt-entry.js';
import { Reporter } from '../process/reporter.js';
import { concludeAttempt } from './attempt-conclusion.js';
import { readNote, type AttemptEnd } from './attempt-note.js';

/** Goes on after each pause once it is told to. */
const pauses = vi.hoisted(() => [] as (() => void)[]);
vi.mock(import('./attempt-turns.js'), async (original) => ({
  ...(await original()),
  pauseOf: () => new Promise<void>((resolve) => pauses.push(resolve)),
}));

const end: AttemptEnd = {
  state: 'SUCCEEDED',
  ...{ finishedAtMs: 9, startedAtMs: 1, durationMs: 8, exitCode: 0, signal: null, cause: null },
};
let folder: string;
let warned: string[];
let said: AttemptObservation[];

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-conclusion-'));
  [warned, said, pauses.length] = [[], [], 0];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('an end that cannot be noted for a while is told, said of once, and keeps its container till it is', async () => {
  const nothing = () => undefined;
  const log = { info: nothing, warn: (text: string) => warned.push(text), error: nothing };
  const onObservations = (batch: readonly AttemptObservation[]) => said.push(...batch);
  const reporter = new Reporter({ monotonicMs: () => 1, log, onObservations, onEnded: nothing });
  // Nothing can be put in its place, as nothing can on a full disk.
  const inTheWay = path.join(folder, 'container.json', 'in the way');
  mkdirSync(inTheWay, { recursive: true });
  let removed = 0;
  const remove = (): Promise<void> => {
    removed += 1;
    return Promise.resolve();
  };
  const entry = newEntry('a', folder, null);
  concludeAttempt({ log, reporter, onConclude: nothing }, entry, end, { isClosed: () => false, remove });
  for (let time = 1; time <= 5; time += 1) {
    await expect.poll(() => pauses.length).toBe(time);
    if (time < 5) pauses.at(-1)?.();
  }
  await expect.poll(() => said).toMatchObject([{ state: 'SUCCEEDED', exitCode: 0 }]);
  expect(removed).toBe(0);
  expect(warned).toEqual(['The end of an attempt cannot be noted yet']);
  expect(existsSync(inTheWay)).toBe(true);
  rmSync(path.join(folder, 'container.json'), { recursive: true });
  pauses.at(-1)?.();
  await expect.poll(() => removed).toBe(1);
  expect(readNote(folder)).toEqual({ phase: 'ended', containerId: null, end });
});
