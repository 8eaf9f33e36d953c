import { expect, test } from 'vitest';
import { VirtualClock } from './clock.js';
import { Random } from './random.js';

test('events come by time, those of one time as they were asked for', () => {
  const clock = new VirtualClock<string>();
  for (const [ms, event] of [
    [5, 'd'],
    [1, 'a'],
    [3, 'b'],
    [3, 'c'],
    [9, 'e'],
  ] as const)
    clock.at(ms, event);
  const seen: string[] = [];
  for (let event = clock.next(); event !== null; event = clock.next()) seen.push(`${event}${clock.nowMs}`);
  expect(seen).toEqual(['a1', 'b3', 'c3', 'd5', 'e9']);
});

test('a thousand events with others asked for in between: time never goes back', () => {
  const random = new Random(3);
  const clock = new VirtualClock<number>();
  for (let at = 0; at < 1000; at += 1) clock.at(Math.floor(random.unit() * 100), at);
  let count = 0;
  let last = -1;
  for (let event = clock.next(); event !== null; event = clock.next()) {
    expect(clock.nowMs).toBeGreaterThanOrEqual(last);
    last = clock.nowMs;
    count += 1;
    if (event < 500) clock.at(clock.nowMs + (event % 7), 1000 + event);
  }
  expect(count).toBe(1500);
  expect(clock.nextMs()).toBeNull();
});

test('nothing happens before now', () => {
  const clock = new VirtualClock<string>();
  clock.at(10, 'a');
  clock.next();
  expect(() => clock.at(9, 'b')).toThrow('9 ms is before now, which is 10 ms.');
  expect(() => clock.at(Number.NaN, 'b')).toThrow('NaN ms is before now');
});
