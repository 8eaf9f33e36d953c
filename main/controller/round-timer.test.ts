import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RoundTimer } from './round-timer.js';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Rounds by when they ran; asked for as a controller does: what can wait asks for one when it waited long enough. */
function timed() {
  const rounds: number[] = [];
  const began = performance.now();
  const timer: RoundTimer = new RoundTimer({
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    due: () => soon(),
  });
  const soon = () =>
    timer.soon(() => {
      timer.roundBegins();
      rounds.push(performance.now() - began);
    });
  return { timer, rounds, soon, withNext: () => timer.withNext(soon) };
}

test('a start that is told alone has its round a little later, and only one', () => {
  const { rounds, withNext } = timed();

  withNext();
  vi.advanceTimersByTime(10);
  withNext();
  vi.advanceTimersByTime(200);

  expect(rounds).toHaveLength(1);
  expect(rounds[0]).toBeGreaterThanOrEqual(20);
  expect(rounds[0]).toBeLessThan(25);
});

test('what is asked for at once takes it along', () => {
  const { rounds, soon, withNext } = timed();

  withNext();
  vi.advanceTimersByTime(3);
  soon();
  vi.advanceTimersByTime(200);

  expect(rounds).toEqual([3]);
});

test('beside a round that is due anyway it sets no timer of its own', () => {
  const { rounds, soon, withNext } = timed();

  soon();
  withNext();
  vi.advanceTimersByTime(200);

  expect(rounds).toEqual([0]);
});

test('a stopped timer starts nothing', () => {
  const { timer, rounds, withNext } = timed();

  withNext();
  timer.stop();
  vi.advanceTimersByTime(200);

  expect(rounds).toEqual([]);
});

test('a round asked for right after another is 1 ms behind it', () => {
  const { rounds, soon } = timed();

  soon();
  vi.advanceTimersByTime(0);
  soon();
  soon();
  vi.advanceTimersByTime(0);
  expect(rounds).toEqual([0]);
  vi.advanceTimersByTime(20);

  expect(rounds).toEqual([0, 1]);
});
