import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LoadHistory } from './history.js';

const start = Date.UTC(2026, 0, 5, 12);
const minute = 60_000;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-history-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const valuesOf = (history: LoadHistory, sinceMs: number, key = 'cpu-percent') =>
  history.since(sinceMs).series.find((series) => series.key === key)?.values;

test('two seconds apart for an hour, with a gap where nothing was known', () => {
  const history = new LoadHistory(null);
  history.add(start, { 'cpu-percent': 10, 'gpu-watts:GPU-1': 100 });
  history.add(start + 2000, { 'cpu-percent': 20, 'gpu-watts:GPU-1': null });
  history.add(start + 4000, { 'cpu-percent': 30, 'gpu-watts:GPU-1': 300 });
  expect(history.since(start)).toEqual({
    stepMs: 2000,
    timesMs: [start, start + 2000, start + 4000],
    series: [
      { key: 'cpu-percent', values: [10, 20, 30] },
      { key: 'gpu-watts:GPU-1', values: [100, null, 300] },
    ],
  });
  expect(valuesOf(history, start + 3000)).toEqual([30]);
  // Twice in one step: the later word.
  history.add(start + 4900, { 'cpu-percent': 35 });
  expect(valuesOf(history, start)).toEqual([10, 20, 35]);
});

test('a day in minutes, each the mean of its samples', () => {
  const history = new LoadHistory(null);
  for (let at = 0; at < 24 * 60; at += 1) {
    history.add(start + at * minute, { 'cpu-percent': 10 });
    history.add(start + at * minute + 30_000, { 'cpu-percent': 20 });
  }
  const day = history.since(start);
  expect(day.stepMs).toBe(minute);
  expect(day.timesMs).toHaveLength(1440);
  expect(new Set(day.series[0]?.values)).toEqual(new Set([15]));
});

test('it forgets after a week, and a graph of all of it has no more points than it can show', () => {
  const history = new LoadHistory(null);
  const minutes = 8 * 24 * 60;
  for (let at = 0; at < minutes; at += 1) history.add(start + at * minute, { 'cpu-percent': at % 2 });
  const all = history.since(0);
  expect(all.timesMs.length).toBeLessThanOrEqual(2000);
  expect(all.stepMs).toBe(6 * minute);
  expect(all.timesMs[0]).toBe(start + 24 * 60 * minute);
  expect(all.series[0]?.values[0]).toBe(0.5);
});

test('slices that were made anew again and again leave room for those there are', () => {
  const history = new LoadHistory(null);
  const slice = (number: number) => `gpu-memory-bytes:MIG-${number}`;
  let at = start;
  for (let number = 0; number < 400; number += 1, at += 2000) history.add(at, { [slice(number)]: number });
  // As many as are kept.
  expect(valuesOf(history, start, slice(399))).toBeUndefined();
  expect(valuesOf(history, start, slice(299))?.[299]).toBe(299);
  const later = at + 3_600_000;
  for (at = later; at < later + 3_600_000; at += 2000) history.add(at, { [slice(400)]: 400 });
  expect(valuesOf(history, at - 60_000, slice(400))?.at(-1)).toBe(400);
});

test('a clock that is set back takes what lay after it away, and time goes on', () => {
  const history = new LoadHistory(null);
  for (let at = 0; at < 10; at += 1) history.add(start + at * minute, { 'cpu-percent': at });
  history.add(start + 4 * minute, { 'cpu-percent': 44 });
  history.add(start + 5 * minute, { 'cpu-percent': 55 });
  expect(valuesOf(history, start)).toEqual([0, 1, 2, 3, 44, 55]);
});

test('kept in one compact file; what is not of ours is no history', () => {
  const file = path.join(folder, 'load');
  const history = new LoadHistory(file);
  for (let at = 0; at < 300; at += 1)
    history.add(start + at * minute, {
      'cpu-percent': 50,
      'memory-bytes': 2 ** 33,
      'gpu-percent:GPU-1': null,
    });
  history.save();
  expect(readFileSync(file).length).toBeLessThan(300 * 16 + 200);
  const again = new LoadHistory(file).since(start);
  expect(again.timesMs).toHaveLength(300);
  expect(again.series.find(({ key }) => key === 'memory-bytes')?.values[299]).toBe(2 ** 33);
  for (const text of [
    '',
    'rubbish',
    '{"version":2,"count":0,"keys":[]}\n',
    '{"version":1,"count":9,"keys":["a"]}\nxx',
  ]) {
    writeFileSync(file, text);
    expect(new LoadHistory(file).since(0).timesMs).toEqual([]);
  }
});
