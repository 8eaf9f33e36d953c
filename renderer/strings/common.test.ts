import { describe, expect, it } from 'vitest';
import { formatDuration } from '../../core/formats/durations.js';
import { refusal } from '../../core/contract/errors.js';
import { formatAge, formatExactTime, localTimes, outcomeText } from './common.js';

describe('the hour that comes twice when summer time ends', () => {
  it.each([
    ['Europe/Berlin', Date.UTC(2026, 9, 25, 0, 30), 'Sun, 25 Oct 2026, 02:30:00 CEST', /02:30:00 CET$/],
    [
      'Australia/Sydney',
      Date.UTC(2026, 3, 4, 15, 30),
      'Sun, 5 Apr 2026, 02:30:00 GMT+11',
      /02:30:00 GMT\+10$/,
    ],
  ])('in %s is told apart by its zone, and what lies between is an hour', (zone, firstMs, first, second) => {
    const secondMs = firstMs + 3_600_000;
    expect(formatExactTime(firstMs, zone)).toBe(first);
    expect(formatExactTime(secondMs, zone)).toMatch(second);
    expect(formatAge(secondMs - firstMs)).toBe('1h');
    expect(formatDuration(secondMs - firstMs)).toBe('1h 00m');
  });

  it.each([
    ['Europe/Berlin', Date.UTC(2026, 2, 29, 0, 59, 59), '01:59:59 CET', '03:00:00 CEST'],
    ['Australia/Sydney', Date.UTC(2026, 9, 3, 15, 59, 59), '01:59:59 GMT+10', '03:00:00 GMT+11'],
  ])('and in %s the hour that is left out takes a second', (zone, beforeMs, before, after) => {
    expect(formatExactTime(beforeMs, zone)).toContain(before);
    expect(formatExactTime(beforeMs + 1000, zone)).toContain(after);
  });
});

it('an age of a time that lies ahead, after a clock set back, is no age', () => {
  expect(formatAge(-120_000)).toBe(formatAge(0));
});

describe('times in sentences of the controller', () => {
  it.each([
    ['Asia/Kolkata', '1 Dec 2026, 13:30:00'],
    ['America/Los_Angeles', '1 Dec 2026, 00:00:00'],
    ['UTC', '1 Dec 2026, 08:00:00'],
  ])('read in %s', (zone, shown) => {
    expect(localTimes('It starts at 2026-12-01 08:00:00 UTC, at the latest.', zone)).toBe(
      `It starts at ${shown}, at the latest.`,
    );
  });
});

describe('what became of a command', () => {
  const notDone = (message: string) => `train was not stopped: ${message}`;
  it('is said to be none where it was refused, and not known where no answer came', () => {
    expect(outcomeText(refusal('NOT_FOUND', 'There is no job.'), notDone)).toBe(
      'train was not stopped: There is no job.',
    );
    expect(outcomeText(refusal('DISCONNECTED', 'It may have been done.'), notDone)).toBe(
      'It may have been done.',
    );
  });
});
