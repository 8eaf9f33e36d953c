import { expect, test } from 'vitest';
import { compareRuns, tableOf } from './compare.js';
import { figureNames, waitName, type Figures } from './figures.js';

function runs(name: string, values: readonly (number | null)[]): Figures[] {
  return values.map((value) => ({ [name]: { value, jobs: 40 } }));
}

const batch = waitName('p95', 'BATCH', '1 GPU');

test.each([
  [figureNames.gangs, [100, 200], [70, 140], true],
  [figureNames.gangs, [100, 200], [71, 141], false],
  [figureNames.lost, [10, 10], [7, 7], true],
  [figureNames.lost, [10, 10], [8, 7], false],
  [figureNames.utilization, [80, 80], [79, 79], true],
  [figureNames.utilization, [80, 80], [78, 79], false],
  [figureNames.fairness, [0.9, 0.9], [0.82, 0.82], true],
  [figureNames.fairness, [0.9, 0.9], [0.8, 0.8], false],
  [batch, [100, 100], [110, 110], true],
  [batch, [100, 100], [111, 111], false],
  // Half a minute of grace and five of minimum run time.
  [batch, [1, 1], [6.5, 6.5], true],
  [batch, [1, 1], [6.6, 6.6], false],
  [batch, [0, 0], [5, 5], true],
  [figureNames.slowdown, [2, 2], [2.2, 2.2], true],
  [figureNames.slowdown, [2, 2], [2.3, 2.3], false],
] as const)('%s: %j becomes %j: %s', (name, original, ours, holds) => {
  const rows = compareRuns(runs(name, original), runs(name, ours));
  expect(rows.map((row) => [row.name, row.holds])).toEqual([[name, holds]]);
});

test('what some seed cannot tell is left out', () => {
  expect(compareRuns(runs(batch, [1, null]), runs(batch, [1, 2]))).toEqual([]);
});

test('the table: means, paired difference with its interval, change, verdict', () => {
  const rows = compareRuns(runs(figureNames.lost, [10, 20]), runs(figureNames.lost, [5, 11]));
  const [head, line] = tableOf(rows).map((text) => text.split(/ {2,}/));
  expect(head).toEqual(['figure', 'jobs', 'original', 'ours', 'difference', 'change', 'wanted', 'holds']);
  expect(line).toEqual([
    'work lost, GPU hours',
    '40',
    '15.0 ±63.5',
    '8.00 ±38.12',
    '-7.00 ±25.41',
    '-47 %',
    '30 % less',
    'yes',
  ]);
});
