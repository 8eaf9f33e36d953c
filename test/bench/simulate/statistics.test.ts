import { expect, test } from 'vitest';
import { interval95, jainIndex, mean, pairedDifference, quantile } from './statistics.js';

test.each([
  [[4, 1, 3, 2], 0.5, 2],
  [[4, 1, 3, 2], 0.95, 4],
  [Array.from({ length: 100 }, (_, at) => at + 1), 0.95, 95],
  [[7], 0.05, 7],
] as const)('quantile of %j at %d is %d', (samples, share, value) => {
  expect(quantile(samples, share)).toBe(value);
});

test('a quantile of nothing is no number', () => {
  expect(quantile([], 0.5)).toBeNaN();
});

test.each([
  [[3, 3, 3], 1],
  [[1, 0, 0, 0], 0.25],
  [[1, 3], 0.8],
] as const)('Jain index of %j is %d', (samples, value) => {
  expect(jainIndex(samples)).toBeCloseTo(value, 12);
});

test('the 95 % interval of a mean, by Student’s t', () => {
  // Standard deviation 1, 4 degrees of freedom: 2.776 / sqrt(5).
  const { mean: middle, half } = interval95([9, 9, 10, 11, 11]);
  expect([middle, half]).toEqual([10, expect.closeTo(2.776 / Math.sqrt(5), 9)]);
  expect(interval95([1]).half).toBe(Number.POSITIVE_INFINITY);
});

test('paired differences lose what both have in common', () => {
  const left = [100, 2000, 30_000];
  const right = left.map((sample) => sample - 5);
  expect(pairedDifference(left, right)).toEqual({ mean: -5, half: 0 });
  expect(mean(left)).toBeCloseTo(10_700, 9);
  expect(() => pairedDifference([1], [1, 2])).toThrow('1 samples cannot be paired with 2.');
});
