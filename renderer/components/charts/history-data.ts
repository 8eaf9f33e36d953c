/** Load over time as it was answered so far, and as a graph takes it. */
import type { History } from '../../../core/contract/machines.js';

export interface HistoryData {
  /** Ascending. */
  readonly timesMs: readonly number[];
  /** Beside the times, by the contract's key of the figure. */
  readonly series: ReadonlyMap<string, readonly (number | null)[]>;
  /** Of the last answer. */
  readonly stepMs: number;
}

export const noHistory: HistoryData = { timesMs: [], series: new Map(), stepMs: 2000 };

/** After so many steps without a sample there was none, and the line is broken. */
const gapSteps = 5;
/** Older samples are kept once a minute. */
const fineMs = 3_600_000;
const coarseStepMs = 60_000;

/** `before` with what is newer in `more`, without what is older than `fromMs`. A figure that comes or goes has nulls meanwhile. */
export function appendHistory(before: HistoryData, more: History, fromMs: number): HistoryData {
  const last = before.timesMs.at(-1) ?? -Infinity;
  const firstNew = more.timesMs.findIndex((at) => at > last);
  const added = firstNew === -1 ? [] : more.timesMs.slice(firstNew);
  const firstKept = before.timesMs.findIndex((at) => at >= fromMs);
  const kept = firstKept === -1 ? [] : before.timesMs.slice(firstKept);
  if (added.length === 0 && kept.length === before.timesMs.length) return before;
  const given = new Map(more.series.map(({ key, values }) => [key, values]));
  const series = new Map<string, readonly (number | null)[]>();
  for (const key of new Set([...before.series.keys(), ...given.keys()])) {
    const old = before.series.get(key)?.slice(firstKept === -1 ? undefined : firstKept) ?? [];
    const fresh = given.get(key)?.slice(firstNew) ?? [];
    series.set(key, [
      ...kept.map((_at, index) => (firstKept === -1 ? null : (old[index] ?? null))),
      ...added.map((_at, index) => fresh[index] ?? null),
    ]);
  }
  return { timesMs: [...kept, ...added], series, stepMs: more.stepMs };
}

/** What there is of something that was over at `toMs`: nothing of later, but where that were no line the sample its last moments are in. */
export function historyUntil(data: HistoryData, toMs: number): HistoryData {
  const after = data.timesMs.findIndex((at) => at > toMs);
  if (after === -1) return data;
  const isShort = after < 2 && (data.timesMs[after] ?? 0) - toMs < data.stepMs;
  const kept = isShort ? after + 1 : after;
  return {
    ...data,
    timesMs: data.timesMs.slice(0, kept),
    series: new Map([...data.series].map(([key, values]) => [key, values.slice(0, kept)])),
  };
}

/** Labels of an axis: of several that read the same, as those of less than a second, the first. */
export function withoutRepeats(labels: readonly string[]): string[] {
  return labels.map((label, at) => (label === labels[at - 1] ? '' : label));
}

export interface GraphColumns {
  /** Epoch seconds. */
  readonly seconds: number[];
  readonly columns: (number | null)[][];
}

/** Columns of a graph; where samples are missing a row of nulls breaks the lines. */
export function graphColumns(data: HistoryData, keys: readonly string[], nowMs: number): GraphColumns {
  const seconds: number[] = [];
  const columns: (number | null)[][] = keys.map(() => []);
  const values = keys.map((key) => data.series.get(key));
  let before: number | null = null;
  for (const [index, at] of data.timesMs.entries()) {
    const step = nowMs - at > fineMs ? Math.max(data.stepMs, coarseStepMs) : data.stepMs;
    if (before !== null && at - before > gapSteps * step) {
      seconds.push((before + step) / 1000);
      for (const column of columns) column.push(null);
    }
    seconds.push(at / 1000);
    for (const [at2, column] of columns.entries()) column.push(values[at2]?.[index] ?? null);
    before = at;
  }
  return { seconds, columns };
}

/** The last value there is and the highest; null where there is none. */
export function lastAndHighest(values: readonly (number | null)[]): {
  readonly last: number | null;
  readonly highest: number | null;
} {
  let highest: number | null = null;
  for (const value of values) if (value !== null && (highest === null || value > highest)) highest = value;
  return { last: values.at(-1) ?? null, highest };
}
