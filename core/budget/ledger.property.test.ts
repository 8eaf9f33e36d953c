/** The ledger of use: parts make up the whole, and past use fades exactly, however it was written down. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  atEpoch,
  emptyLedger,
  enter,
  gpuHours,
  ledgerAt,
  nearerEpoch,
  refaded,
  type Fading,
  type Ledger,
} from './ledger.js';

const hour = 3_600_000;
const day = 24 * hour;

const values = fc.record({
  gpus: fc.integer({ min: 0, max: 64 }).map((count) => 1000 * count),
  memory: fc.integer({ min: 0, max: 4096 }),
  processors: fc.integer({ min: 0, max: 512 }).map((count) => 5 * count),
});
const times = fc
  .tuple(fc.integer({ min: 0, max: 90 * day }), fc.integer({ min: 0, max: 10 * day }))
  .map(([fromMs, lastedMs]) => ({ fromMs, toMs: fromMs + lastedMs }));
const uses = fc.array(
  fc.tuple(values, times).map(([value, time]) => ({ value, ...time })),
  { maxLength: 30 },
);
/** The epoch lies within 200 half-lives of the last use, as the controller keeps it. */
const fadings = fc
  .tuple(fc.integer({ min: hour, max: 400 * day }), fc.integer({ min: -200, max: 200 }))
  .map(([halfLifeMs, off]): Fading => ({ halfLifeMs, epochMs: 100 * day + off * halfLifeMs }));

const fadedTotal = (ledger: Ledger, nowMs: number, fading: Fading): number => {
  const { faded } = ledgerAt(ledger, [], nowMs, fading);
  if (faded === null) throw new Error('nothing fades');
  return gpuHours(faded).total;
};
const near = (actual: number, expected: number): void => {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-9 * Math.max(1e-9, Math.abs(expected)));
};

describe('what was used', () => {
  it('is an hour a GPU, and what is worth as much of the rest', () => {
    const value = { gpus: 8000, memory: 64, processors: 40 };
    const { used } = enter(emptyLedger, { value, fromMs: 0, toMs: 3 * hour }, null);
    expect(gpuHours(used)).toEqual({ gpus: 24, memory: 0.192, processors: 0.12, total: 24.312 });
  });

  it('of its parts makes up the whole, settled or held still', () => {
    fc.assert(
      fc.property(uses, fadings, (all, fading) => {
        const settled = all.reduce((ledger, use) => enter(ledger, use, fading), emptyLedger);
        const nowMs = 100 * day;
        const held = all.map(({ value, fromMs }) => ({ value, fromMs }));
        const { used, faded } = ledgerAt(settled, held, nowMs, fading);
        const weights = all.map(({ value, fromMs, toMs }) => {
          const whole = value.gpus + value.memory + value.processors;
          return (whole * (toMs - fromMs + nowMs - fromMs)) / (1000 * hour);
        });
        near(
          gpuHours(used).total,
          weights.reduce((sum, each) => sum + each, 0),
        );
        for (const parts of [used, faded ?? used]) {
          const { gpus, memory, processors, total } = gpuHours(parts);
          expect(total).toBe(gpus + memory + processors);
        }
      }),
    );
  });

  it('is not lost when the clock goes back', () => {
    const value = { gpus: 1000, memory: 0, processors: 0 };
    const before = enter(emptyLedger, { value, fromMs: 0, toMs: hour }, null);
    expect(enter(before, { value, fromMs: 2 * hour, toMs: hour }, null)).toEqual(before);
  });

  it('can be taken out again', () => {
    fc.assert(
      fc.property(uses, fadings, values, times, (all, fading, value, time) => {
        const before = all.reduce((ledger, use) => enter(ledger, use, fading), emptyLedger);
        const there = enter(before, { value, ...time }, fading);
        const back = enter(there, { value, ...time }, fading, -1);
        expect(back.used).toEqual(before.used);
        const scale = fadedTotal(there, 100 * day, fading);
        const left = Math.abs(fadedTotal(back, 100 * day, fading) - fadedTotal(before, 100 * day, fading));
        expect(left).toBeLessThanOrEqual(1e-12 * Math.max(1, scale));
      }),
    );
  });
});

describe('past use', () => {
  const gpu = { gpus: 1000, memory: 0, processors: 0 };

  it('counts half after one half-life, a quarter after two', () => {
    const fading = { halfLifeMs: 7 * day, epochMs: 0 };
    const ledger = refaded({ ...emptyLedger, used: { ...gpu, gpus: 8000 * hour } }, 0, null, fading);
    expect([0, 7, 14, 21].map((days) => fadedTotal(ledger, days * day, fading))).toEqual([8, 4, 2, 1]);
  });

  it('settles at a constant rate where as much fades as is added', () => {
    const fading = { halfLifeMs: hour, epochMs: 0 };
    const ledger = enter(emptyLedger, { value: gpu, fromMs: 0, toMs: 100 * hour }, fading);
    near(fadedTotal(ledger, 100 * hour, fading), 1 / Math.LN2);
  });

  it('fades alike in one step and in many', () => {
    fc.assert(
      fc.property(
        values,
        times,
        fadings,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 }),
        (value, { fromMs, toMs }, fading, cuts) => {
          const at = cuts.map((share) => Math.round(fromMs + share * (toMs - fromMs))).sort((a, b) => a - b);
          const ends = [...at, toMs];
          let inSteps = emptyLedger;
          for (const [index, end] of ends.entries())
            inSteps = enter(inSteps, { value, fromMs: ends[index - 1] ?? fromMs, toMs: end }, fading);
          const atOnce = enter(emptyLedger, { value, fromMs, toMs }, fading);
          const nowMs = 100 * day;
          near(fadedTotal(inSteps, nowMs, fading), fadedTotal(atOnce, nowMs, fading));
          expect(inSteps.used).toEqual(atOnce.used);
        },
      ),
    );
  });

  it('is the same read now and then or at once: 2^(-a) of 2^(-b) is 2^(-(a+b))', () => {
    fc.assert(
      fc.property(uses, fadings, fc.integer({ min: 0, max: 50 * day }), (all, fading, laterMs) => {
        const ledger = all.reduce((sum, use) => enter(sum, use, fading), emptyLedger);
        const nowMs = 100 * day;
        near(
          fadedTotal(ledger, nowMs + laterMs, fading),
          fadedTotal(ledger, nowMs, fading) * 2 ** (-laterMs / fading.halfLifeMs),
        );
      }),
    );
  });

  it('never counts more than what was used', () => {
    fc.assert(
      fc.property(uses, fadings, (all, fading) => {
        const ledger = all.reduce((sum, use) => enter(sum, use, fading), emptyLedger);
        const { used } = ledgerAt(ledger, [], 100 * day, fading);
        expect(fadedTotal(ledger, 100 * day, fading)).toBeLessThanOrEqual(gpuHours(used).total * (1 + 1e-12));
      }),
    );
  });

  it('keeps every digit when the epoch moves, and stays a number over centuries', () => {
    const fading = { halfLifeMs: hour, epochMs: 0 };
    const ledger = enter(emptyLedger, { value: { ...gpu, memory: 3 }, fromMs: 0, toMs: 250 * hour }, fading);
    expect(nearerEpoch(fading, 250 * hour)).toBeNull();
    const later = nearerEpoch(fading, 300.5 * hour);
    expect(later).toEqual({ halfLifeMs: hour, epochMs: 300 * hour });
    const moved = atEpoch(ledger, fading, later ?? fading);
    expect(fadedTotal(moved, 310 * hour, later ?? fading)).toBe(fadedTotal(ledger, 310 * hour, fading));
    const far = nearerEpoch(fading, 4_000_000 * hour) ?? fading;
    expect(fadedTotal(atEpoch(ledger, fading, far), far.epochMs, far)).toBe(0);
  });

  it('goes on from what it was under another half-life, whole from none', () => {
    const week = { halfLifeMs: 7 * day, epochMs: 0 };
    const before = enter(emptyLedger, { value: gpu, fromMs: 0, toMs: 10 * hour }, null);
    const on = refaded(before, 10 * hour, null, week);
    near(fadedTotal(on, 10 * hour, week), 10);
    const shorter = { halfLifeMs: day, epochMs: 5 * day };
    const nowMs = 8 * day;
    const changed = refaded(on, nowMs, week, shorter);
    near(fadedTotal(changed, nowMs, shorter), fadedTotal(on, nowMs, week));
    near(fadedTotal(changed, nowMs + day, shorter), fadedTotal(on, nowMs, week) / 2);
    expect(refaded(changed, nowMs, shorter, null)).toEqual({ ...emptyLedger, used: on.used });
  });
});
