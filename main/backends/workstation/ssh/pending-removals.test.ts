import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PendingRemovals } from './pending-removals.js';
import type { SshMachine } from './ssh-machine-options.js';

let home: string;
let said: string[];

beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'iris-removals-'));
  said = [];
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(home, { recursive: true });
});

/** One that is off. */
const off = {
  start: () => Promise.resolve(),
  reconcile: () => undefined,
  close: () => Promise.resolve(),
  forget: () => undefined,
  observe: () => [],
} as unknown as SshMachine;

function begun(): PendingRemovals {
  const note = (message: string) => void said.push(message);
  const log = { info: note, warn: note, error: note };
  const pending = new PendingRemovals({ home, log, open: () => off });
  pending.begin({ id: 'old', address: 'ws-2', identity: 'm' });
  pending.resume();
  return pending;
}

test('one that is off is told of after a minute', () => {
  begun();
  vi.advanceTimersByTime(60_000);
  expect(said).toEqual(['A removed machine may go on with tasks: it is not in contact']);
});

test('nothing is said of one that is in use again, or once its controller is closed', async () => {
  begun().usedAgain({ id: 'new', address: 'ws-2', identity: null });
  await begun().close();
  vi.advanceTimersByTime(60_000);
  expect(said).toEqual([]);
});
