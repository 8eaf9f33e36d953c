import { describe, expect, it } from 'vitest';
import { plainGpu } from '../../../core/contract/gpus.js';
import type { LaneItem } from '../../../core/contract/queue.js';
import { barAt, laneRows, rowAt, rowPadding } from './lane-rows.js';
import { historySince, moved, rangeOf, startWindow, ticksOf, zoomed } from './time-scale.js';

const minute = 60_000;
const nowMs = Date.UTC(2026, 0, 5, 12);
const range = { startMs: nowMs - 60 * minute, endMs: nowMs + 30 * minute };

const gpu = (index: number) => ({
  ...plainGpu,
  processes: [],
  claimedBy: [],
  uuid: `GPU-${index}`,
  index,
  name: 'NVIDIA H100',
  variant: 'h100',
});
const machines = [
  { id: 'ws-1', gpus: [gpu(0), gpu(1)] },
  { id: 'ws-2', gpus: [] },
];

const item = (name: string, part: Partial<LaneItem> = {}): LaneItem => ({
  uid: name,
  taskId: `/anna/${name}/0`,
  jobId: `/anna/${name}`,
  jobName: name,
  user: 'anna',
  band: 'BATCH',
  workerId: 'ws-1',
  devices: [],
  state: 'RUNNING',
  fromMs: nowMs - 10 * minute,
  toMs: null,
  ...part,
});

const rowsOf = (
  items: readonly LaneItem[],
  reservations: Parameters<typeof laneRows>[0]['reservations'] = [],
) => laneRows({ machines, items, reservations }, range, nowMs).rows;

describe('rows of what runs where', () => {
  it('has one row a machine, then one each of its GPUs', () => {
    expect(rowsOf([]).map((row) => row.fullLabel)).toEqual([
      'ws-1, processors',
      'ws-1, GPU 0 h100',
      'ws-1, GPU 1 h100',
      'ws-2, processors',
    ]);
  });

  it('puts work on each of its GPUs, and on the processors only what has none', () => {
    const rows = rowsOf([item('both', { devices: ['GPU-0', 'GPU-1'] }), item('plain')]);
    expect(rows.map((row) => row.bars.map((bar) => bar.item.jobName))).toEqual([
      ['plain'],
      ['both'],
      ['both'],
      [],
    ]);
  });

  it('stacks what is there at once and shares a track between what follows one another', () => {
    const [row] = rowsOf([
      item('first', { state: 'SUCCEEDED', fromMs: nowMs - 50 * minute, toMs: nowMs - 30 * minute }),
      item('second', { fromMs: nowMs - 40 * minute, toMs: nowMs + minute }),
      item('third', { fromMs: nowMs - 30 * minute }),
    ]);
    expect(row?.bars.map((bar) => [bar.item.jobName, bar.track])).toEqual([
      ['first', 0],
      ['second', 1],
      ['third', 0],
    ]);
    expect(row?.tracks).toBe(2);
  });

  it('draws a promised place from now on and what outlives its limit up to now', () => {
    const [row] = rowsOf([
      item('promised', { uid: null, state: 'PROMISED', fromMs: nowMs - 5 * minute }),
      item('late', { toMs: nowMs - minute }),
    ]);
    const spans = row?.bars.map((bar) => [bar.item.jobName, bar.fromMs - nowMs, bar.toMs]);
    expect(spans).toEqual([
      ['late', -10 * minute, nowMs],
      ['promised', 0, Infinity],
    ]);
  });

  it('leaves out what is outside of the time shown', () => {
    const [row] = rowsOf([
      item('before', { state: 'FAILED', fromMs: nowMs - 90 * minute, toMs: nowMs - 61 * minute }),
      item('within', { state: 'FAILED', fromMs: nowMs - 90 * minute, toMs: nowMs - 59 * minute }),
    ]);
    expect(row?.bars.map((bar) => bar.item.jobName)).toEqual(['within']);
  });

  it('keeps a row for machines and cards that are gone', () => {
    const rows = rowsOf([item('old', { workerId: 'ws-9', devices: ['GPU-beef'] })]);
    expect(rows.slice(4).map((row) => row.fullLabel)).toEqual([
      'ws-9, processors',
      'ws-9, GPU beef, not there now',
    ]);
  });

  it('marks the rows of machines that are kept', () => {
    const kept = { jobId: '/anna/big', band: 'BATCH' as const, workerIds: ['ws-2'], startMs: null };
    expect(rowsOf([], [kept]).map((row) => row.reserved.length)).toEqual([0, 0, 0, 1]);
  });

  it('finds the bar under the pointer', () => {
    const rows = rowsOf([item('a'), item('b'), item('c', { devices: ['GPU-1'] })]);
    const [first, , third] = rows;
    if (first === undefined || third === undefined) throw new Error('no rows');
    expect(rowAt(rows, third.top + 1)).toBe(2);
    expect(rowAt(rows, 100_000)).toBe(3);
    expect(barAt(first, rowPadding + 1, nowMs, 0)?.item.jobName).toBe('a');
    expect(barAt(first, rowPadding + first.barHeight + 2, nowMs, 0)?.item.jobName).toBe('b');
    expect(barAt(first, rowPadding + 1, nowMs - 11 * minute, 0)).toBeNull();
    expect(barAt(first, rowPadding + 1, nowMs - 11 * minute, 2 * minute)?.item.jobName).toBe('a');
  });
});

describe('time on the axis', () => {
  it('follows the present until it is moved, and stays where it was put', () => {
    expect(rangeOf(startWindow, nowMs)).toEqual(range);
    const earlier = moved(startWindow, -0.5, nowMs);
    expect(rangeOf(earlier, nowMs).startMs).toBe(range.startMs - 45 * minute);
    expect(rangeOf(earlier, nowMs + minute)).toEqual(rangeOf(earlier, nowMs));
  });

  it('zooms about the pointer, between a quarter of an hour and seven days', () => {
    const still = { spanMs: 60 * minute, startMs: nowMs - 60 * minute };
    const closer = zoomed(still, 0.5, nowMs, 0.5);
    expect(rangeOf(closer, nowMs)).toEqual({ startMs: nowMs - 45 * minute, endMs: nowMs - 15 * minute });
    expect(zoomed(still, 0.001, nowMs).spanMs).toBe(15 * minute);
    expect(zoomed(still, 1e6, nowMs).spanMs).toBe(7 * 24 * 60 * minute);
    expect(zoomed(startWindow, 2, nowMs)).toEqual({ spanMs: 180 * minute, startMs: null });
  });

  it('has ticks at whole local times', () => {
    const ticks = ticksOf(range, 10, () => 0);
    expect(ticks[0]).toBe(range.startMs);
    expect(new Set(ticks.slice(1).map((tick, at) => tick - (ticks[at] ?? 0)))).toEqual(
      new Set([10 * minute]),
    );
    const halfAnHourAhead = ticksOf({ startMs: nowMs, endMs: nowMs + 600 * minute }, 5, () => 30 * minute);
    expect(halfAnHourAhead[0]).toBe(nowMs + 90 * minute);
  });

  it.each([
    ['ends', Date.UTC(2026, 9, 25, 1), 120, 60],
    ['begins', Date.UTC(2026, 2, 29, 1), 60, 120],
  ])(
    'has ticks at whole local times also in the week in which summer time %s',
    (_what, changeMs, before, after) => {
      const offsetAt = (atMs: number) => (atMs < changeMs ? before : after) * minute;
      const day = 24 * 60 * minute;
      for (const hours of [1, 6, 12, 24]) {
        const most = (7 * 24) / hours;
        const ticks = ticksOf({ startMs: changeMs - 3.5 * day, endMs: changeMs + 3.5 * day }, most, offsetAt);
        expect(ticks.length).toBeGreaterThanOrEqual(most - 2);
        for (const tick of ticks) expect((tick + offsetAt(tick)) % (hours * 60 * minute)).toBe(0);
        expect(ticks).toEqual([...new Set(ticks)].sort((a, b) => a - b));
      }
    },
  );

  it('asks for the last hour at least, and for the same while little time passes', () => {
    const since = historySince(range, nowMs);
    expect(since).toBeLessThanOrEqual(nowMs - 60 * minute);
    expect(since).toBeGreaterThan(nowMs - 80 * minute);
    const later = { startMs: range.startMs + 1000, endMs: range.endMs + 1000 };
    expect(historySince(later, nowMs + 1000)).toBe(since);
  });
});
