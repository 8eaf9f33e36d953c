import { describe, expect, it } from 'vitest';
import {
  appendHistory,
  graphColumns,
  historyUntil,
  lastAndHighest,
  noHistory,
  withoutRepeats,
} from './history-data.js';

const history = (timesMs: number[], series: Record<string, (number | null)[]>) => ({
  stepMs: 2000,
  timesMs,
  series: Object.entries(series).map(([key, values]) => ({ key, values })),
});

describe('history of a machine', () => {
  it('takes only what is newer and lets go of what is too old', () => {
    const first = appendHistory(noHistory, history([1000, 3000, 5000], { cpu: [1, 2, 3] }), 0);
    const second = appendHistory(first, history([3000, 5000, 7000], { cpu: [9, 9, 4] }), 3000);
    expect(second.timesMs).toEqual([3000, 5000, 7000]);
    expect(second.series.get('cpu')).toEqual([2, 3, 4]);
  });

  it('is the same when there is nothing new', () => {
    const first = appendHistory(noHistory, history([1000], { cpu: [1] }), 0);
    expect(appendHistory(first, history([], { cpu: [] }), 0)).toBe(first);
  });

  it('keeps nothing of before when all of it is too old', () => {
    const first = appendHistory(noHistory, history([1000, 3000], { cpu: [1, 2] }), 0);
    const second = appendHistory(first, history([90_000], { cpu: [5] }), 80_000);
    expect(second.timesMs).toEqual([90_000]);
    expect(second.series.get('cpu')).toEqual([5]);
  });

  it('has nulls where a card was not there yet or is gone', () => {
    const first = appendHistory(noHistory, history([1000], { a: [1] }), 0);
    const second = appendHistory(first, history([3000], { b: [2] }), 0);
    expect(second.series.get('a')).toEqual([1, null]);
    expect(second.series.get('b')).toEqual([null, 2]);
  });

  it('breaks the line where samples are missing, by the step of that age', () => {
    const now = 10_000_000;
    const recent = appendHistory(noHistory, history([now - 60_000, now - 2000, now], { cpu: [1, 2, 3] }), 0);
    expect(graphColumns(recent, ['cpu'], now)).toEqual({
      seconds: [9940, 9942, 9998, 10_000],
      columns: [[1, null, 2, 3]],
    });
    const old = now - 7_200_000;
    const minutes = appendHistory(
      noHistory,
      history([old, old + 60_000, old + 400_000], { cpu: [1, 2, 3] }),
      0,
    );
    expect(graphColumns(minutes, ['cpu', 'none'], now).columns).toEqual([
      [1, 2, null, 3],
      [null, null, null, null],
    ]);
  });

  it('ends with what it is of: figures of later are not its own', () => {
    const all = appendHistory(noHistory, history([1000, 3000, 5000, 7000], { cpu: [1, 2, 3, 90] }), 0);
    expect(historyUntil(all, 3500)).toMatchObject({ timesMs: [1000, 3000] });
    expect(historyUntil(all, 3500).series.get('cpu')).toEqual([1, 2]);
    expect(historyUntil(all, 3000).timesMs).toEqual([1000, 3000]);
    // One sample is no line: the next one tells of its last moments.
    expect(historyUntil(all, 2000).timesMs).toEqual([1000, 3000]);
    expect(historyUntil(all, 8000)).toBe(all);
    const gap = appendHistory(noHistory, history([1000, 60_000], { cpu: [1, 90] }), 0);
    expect(historyUntil(gap, 2000).timesMs).toEqual([1000]);
  });

  it('names a second once, however many lines of the grid lie in it', () => {
    expect(withoutRepeats(['9:00', '9:00', '9:01', '9:01', '9:00'])).toEqual([
      '9:00',
      '',
      '9:01',
      '',
      '9:00',
    ]);
    expect(withoutRepeats([])).toEqual([]);
  });

  it('knows the last and the highest value', () => {
    expect(lastAndHighest([1, 7, null])).toEqual({ last: null, highest: 7 });
    expect(lastAndHighest([])).toEqual({ last: null, highest: null });
  });
});
