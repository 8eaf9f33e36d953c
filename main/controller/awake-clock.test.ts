import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { awakeClock, type AwakeClock } from './awake-clock.js';

const hour = 3_600_000;
let readMs = 1000;
let clock: AwakeClock;

beforeEach(() => {
  vi.useFakeTimers();
  readMs = 1000;
  clock = awakeClock(() => readMs);
});
afterEach(() => {
  clock.close();
  vi.useRealTimers();
});

/** Awake: the beats come as the clock goes. */
function live(ms: number): void {
  for (let lived = 0; lived < ms; lived += 1000) {
    readMs += 1000;
    vi.advanceTimersByTime(1000);
  }
}

test('goes as the clock does, also when nobody reads it for long', () => {
  live(2 * hour);
  expect(clock.nowMs()).toBe(1000 + 2 * hour);
});

test('does not count a night in which nothing ran, whether the clock went on or stood still', () => {
  live(hour);
  readMs += 8 * hour;
  expect(clock.nowMs() - 1000 - hour).toBeLessThanOrEqual(5000);
  live(hour);
  expect(clock.nowMs() - 1000 - 2 * hour).toBeLessThanOrEqual(5000);
  const before = clock.nowMs();
  expect(clock.nowMs()).toBe(before);
});

test('never goes back', () => {
  live(60_000);
  const before = clock.nowMs();
  readMs -= 10_000;
  expect(clock.nowMs()).toBe(before);
  readMs += 8 * hour;
  expect(clock.nowMs()).toBeGreaterThanOrEqual(before);
});
