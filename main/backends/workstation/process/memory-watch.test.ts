import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import { newEntry, type AttemptEntry } from './attempt-entry.js';
import { MemoryWatch } from './memory-watch.js';

const limit = 100_000_000;
let used: Map<number, number>;
let told: string[];
let entries: AttemptEntry[];
let held: boolean;
let watch: MemoryWatch;

function entryOf(memory: string | undefined, phase: AttemptEntry['phase'] = 'running'): AttemptEntry {
  const launch = launchOf({ command: ['true'], ...(memory === undefined ? {} : { memory }) });
  const entry = newEntry(launch.uid, `/attempts/${launch.uid}`, launch);
  entry.phase = phase;
  return entry;
}

beforeEach(() => {
  vi.useFakeTimers();
  used = new Map();
  told = [];
  entries = [];
  held = false;
  watch = new MemoryWatch({
    entries: () => entries,
    members: () => Promise.resolve([...used.keys()].map((pid) => ({ pid }))),
    end: () => told.push('end'),
    warn: (_, warning) => told.push(`${warning.code}: ${warning.message}`),
    isHeld: () => held,
    onFault: (error) => told.push(String(error)),
    everyMs: 1000,
    measure: (pid) => used.get(pid) ?? 0,
  });
});
afterEach(() => {
  watch.close();
  vi.useRealTimers();
});

/** One look at which the attempt's processes use this much together. */
async function look(...shares: readonly number[]): Promise<void> {
  used = new Map(shares.map((share, index) => [index + 1, share * limit]));
  await vi.advanceTimersByTimeAsync(1000);
}

test('one warning above 90 %, the sum of all processes counting', async () => {
  entries = [entryOf('100MB')];
  await look(0.45, 0.45);
  expect(told).toEqual([]);
  await look(0.45, 0.46);
  expect(told).toEqual([
    'MEMORY_NEAR_LIMIT: The task uses 86.8 MiB; its memory limit is 95.4 MiB, and a task that stays above it is ended.',
  ]);
  await look(0.99);
  await look(0.5);
  await look(0.95);
  expect(told).toHaveLength(1);
  expect(entries[0]?.peakMemoryBytes).toBe(0.99 * limit);
});

test('the end after three looks in a row above the limit, not after three in all', async () => {
  entries = [entryOf('100MB')];
  await look(1.01);
  await look(1.2);
  await look(1);
  await look(1.01);
  await look(1.01);
  expect(told.filter((word) => word === 'end')).toEqual([]);
  await look(1.01);
  expect(told.filter((word) => word === 'end')).toEqual(['end']);
});

test('memory that was not asked for is no limit, what the system holds needs no look, what ends is left alone', async () => {
  entries = [entryOf(undefined), entryOf('100MB', 'ending'), entryOf('100MB', 'starting')];
  for (let count = 0; count < 4; count += 1) await look(5);
  held = true;
  entries = [entryOf('100MB')];
  for (let count = 0; count < 4; count += 1) await look(5);
  expect(told).toEqual([]);
});

test('of what is not seen nothing is known, which is not that it uses nothing', async () => {
  entries = [entryOf('100MB')];
  await look();
  expect(entries[0]?.peakMemoryBytes).toBeNull();
  await look(0.2);
  await look();
  expect(entries[0]?.peakMemoryBytes).toBe(0.2 * limit);
});

test('of however many there are all are looked at by one look at the system', async () => {
  entries = [entryOf('100MB'), entryOf('100MB'), entryOf('100MB')];
  let turns = 0;
  let pending: Promise<readonly { readonly pid: number }[]> | null = null;
  watch.close();
  watch = new MemoryWatch({
    entries: () => entries,
    // As who ends sessions answers: who asks in one turn shares a look.
    members: () => {
      pending ??= new Promise((resolve) => {
        setImmediate(() => {
          turns += 1;
          pending = null;
          resolve([{ pid: 1 }]);
        });
      });
      return pending;
    },
    end: () => undefined,
    warn: () => undefined,
    isHeld: () => false,
    onFault: (error) => expect.fail(String(error)),
    everyMs: 1000,
    measure: () => 7,
  });
  await vi.advanceTimersByTimeAsync(1500);
  expect(entries.map(({ peakMemoryBytes }) => peakMemoryBytes)).toEqual([7, 7, 7]);
  expect(turns).toBe(1);
});
