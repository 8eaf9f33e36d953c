/** How often the disk under the logs is looked at. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newEntry } from './attempt-entry.js';
import { LogStorageWatch } from './log-storage.js';

const usualMs = 100_000;
let clockMs: number;
let looks: number;
/** How long each look takes, the first one first; none is left: no time. */
let takenMs: number[];
let watch: LogStorageWatch;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  [clockMs, looks, takenMs] = [0, 0, []];
  vi.spyOn(performance, 'now').mockImplementation(() => clockMs);
  watch = new LogStorageWatch({
    attemptsFolder: '/attempts',
    everyMs: usualMs,
    warn: () => undefined,
    readFree: () => {
      looks += 1;
      clockMs += takenMs.shift() ?? 0;
      return 1024 ** 2;
    },
  });
});
afterEach(() => {
  watch.close();
  vi.useRealTimers();
});

const begin = () => watch.add(newEntry('a', '/attempts/a', null));

test('a nearly full disk is looked at often, also after looks the processor was taken from', () => {
  takenMs = [8, 0, 8, 8, 8, 0, 8];
  begin();
  vi.advanceTimersByTime(500);
  expect(looks).toBe(11);
});

test('one whose looks all take long is not looked at more often for being nearly full', () => {
  takenMs = Array.from({ length: 8 }, () => 30);
  begin();
  vi.advanceTimersByTime(500);
  expect(looks).toBe(4);
  vi.advanceTimersByTime(usualMs);
  expect(looks).toBe(5);
});
