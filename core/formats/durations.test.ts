import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { durationToInput, formatDuration, parseDuration } from './durations.js';

describe('parseDuration', () => {
  test.each([
    ['90', 90_000],
    ['0', 0],
    ['1.5', 1500],
    ['90s', 90_000],
    ['250ms', 250],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1h30m', 5_400_000],
    ['1h 30m 5s', 5_405_000],
    [' 2H ', 7_200_000],
    ['0.5h', 1_800_000],
    ['1m500ms', 60_500],
  ])('%j is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(['', ' ', 'soon', '-5', '-5s', '5x', '5 minutes', 'h', '1e3', '1:30', '999999999999999d', '.5s'])(
    '%j is no duration',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );
});

describe('formatDuration', () => {
  test.each([
    [0, '0s'],
    [-120_000, '0s'],
    [1, '<0.1s'],
    [99, '<0.1s'],
    [400, '0.4s'],
    [1000, '1s'],
    [9_999, '9.9s'],
    [12_345, '12s'],
    [59_999, '59s'],
    [60_000, '1m 00s'],
    [245_000, '4m 05s'],
    [3_599_999, '59m 59s'],
    [3_600_000, '1h 00m'],
    [4_980_000, '1h 23m'],
    [86_400_000, '1d 0h'],
    [180_000_000, '2d 2h'],
  ])('%i ms reads as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('durationToInput', () => {
  test.each([
    [7_200_000, '2h'],
    [90_000, '90s'],
    [250, '250ms'],
    [60_000, '1m'],
    [172_800_000, '2d'],
    [0, '0ms'],
  ])('%i is written %s', (ms, text) => {
    expect(durationToInput(ms)).toBe(text);
  });

  test('what is written is read back to the same number', () => {
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), (ms) => {
        expect(parseDuration(durationToInput(ms))).toBe(ms);
      }),
    );
  });
});
