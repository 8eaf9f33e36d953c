import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AttemptObservation } from '../../backend.js';
import { newEntry, observationOf } from './attempt-entry.js';
import { Reporter } from './reporter.js';

let told: string[][];
let reporter: Reporter;

beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  reporter = new Reporter({
    monotonicMs: () => Date.now(),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    onObservations: (batch: readonly AttemptObservation[]) =>
      told.push(batch.map(({ uid, state }) => `${uid} ${state}`)),
    onEnded: () => undefined,
  });
});
afterEach(() => {
  reporter.close();
  vi.useRealTimers();
});

function starts(uid: string) {
  const entry = newEntry(uid, `/attempts/${uid}`, null);
  entry.phase = 'running';
  reporter.progress(observationOf(entry, 'RUNNING'));
  return entry;
}

function ends(entry: ReturnType<typeof starts>): void {
  reporter.last(entry, observationOf(entry, 'SUCCEEDED'));
}

test('the end of a short command is all that is told of it', () => {
  const entry = starts('a');
  vi.advanceTimersByTime(10);
  ends(entry);
  vi.advanceTimersByTime(100);
  expect(told).toEqual([['a SUCCEEDED']]);
});

test('an end is told at once and leaves the starts of others waiting until they are due', () => {
  const short = starts('a');
  vi.advanceTimersByTime(10);
  starts('b');
  ends(short);
  vi.advanceTimersByTime(1);
  expect(told).toEqual([['a SUCCEEDED']]);
  vi.advanceTimersByTime(23);
  expect(told).toEqual([['a SUCCEEDED']]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual([['a SUCCEEDED'], ['b RUNNING']]);
});

test('each start is told when it is due itself, the latest word of it', () => {
  const first = starts('a');
  vi.advanceTimersByTime(20);
  starts('b');
  reporter.warn(first, { code: 'MEMORY_NEAR_LIMIT', message: 'nearly' });
  vi.advanceTimersByTime(5);
  expect(told).toEqual([['a RUNNING']]);
  vi.advanceTimersByTime(20);
  expect(told).toEqual([['a RUNNING'], ['b RUNNING']]);
});

test('what is noticed of one that is set up does not say that it runs', () => {
  const entry = newEntry('a', '/attempts/a', null);
  reporter.warn(entry, { code: 'LOG_STORAGE_FULL', message: 'full' });
  vi.advanceTimersByTime(25);
  expect(told).toEqual([['a BUILDING']]);
});

test('ends of one turn are told together, and nothing after the close', () => {
  const [one, two] = [starts('a'), starts('b')];
  ends(one);
  ends(two);
  starts('c');
  vi.advanceTimersByTime(1);
  expect(told).toEqual([['a SUCCEEDED', 'b SUCCEEDED']]);
  reporter.close();
  vi.advanceTimersByTime(100);
  expect(told).toHaveLength(1);
});
