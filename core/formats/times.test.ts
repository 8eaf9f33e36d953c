import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { parseTimeBound, resolveTimeBound, showTimes, timeBoundToInput, timeText } from './times.js';

describe('times with their zone, or durations', () => {
  it.each([
    ['2026-12-01T08:00Z', { kind: 'at', ms: Date.UTC(2026, 11, 1, 8) }],
    ['2026-12-01 08:00+01:00', { kind: 'at', ms: Date.UTC(2026, 11, 1, 7) }],
    ['2026-12-01T08:00:30-0530', { kind: 'at', ms: Date.UTC(2026, 11, 1, 13, 30, 30) }],
    ['2026-12-01T08:00:30.250z', { kind: 'at', ms: Date.UTC(2026, 11, 1, 8, 0, 30, 250) }],
    ['2024-02-29T00:00Z', { kind: 'at', ms: Date.UTC(2024, 1, 29) }],
    ['8h', { kind: 'after', ms: 8 * 3_600_000 }],
    ['90', { kind: 'after', ms: 90_000 }],
  ])('reads %s', (text, bound) => {
    expect(parseTimeBound(text)).toEqual(bound);
  });

  it.each(['2026-12-01T08:00', '2026-02-30T08:00Z', '2026-12-01', '2026-12-01T25:00Z', 'tomorrow', '0s', ''])(
    'does not guess at %s',
    (text) => {
      expect(parseTimeBound(text)).toBeUndefined();
    },
  );

  it('agrees with the calendar of the platform', () => {
    const any = fc.integer({ min: 0, max: Date.UTC(2400, 0, 1) });
    fc.assert(
      fc.property(any, (ms) => {
        const text = new Date(ms).toISOString();
        expect(timeBoundToInput({ kind: 'at', ms })).toBe(text);
        expect(parseTimeBound(text)).toEqual({ kind: 'at', ms });
        expect(timeText(ms)).toBe(`${text.slice(0, 19).replace('T', ' ')} UTC`);
      }),
      { numRuns: 2000 },
    );
  });

  it('writes what it reads back, and resolves a duration from a moment', () => {
    for (const text of ['2026-12-01T08:00:00.000Z', '90s', '8h']) {
      const bound = parseTimeBound(text);
      expect(bound === undefined ? null : timeBoundToInput(bound)).toBe(text);
    }
    expect(resolveTimeBound({ kind: 'after', ms: 500 }, 1000)).toBe(1500);
    expect(resolveTimeBound({ kind: 'at', ms: 500 }, 1000)).toBe(500);
    expect(resolveTimeBound(null, 1000)).toBeNull();
  });
});

describe('times in a sentence', () => {
  const show = (ms: number) => `<${ms}>`;

  it('each in the words of who shows it, wherever it stands', () => {
    const [from, to] = [Date.UTC(2026, 11, 1, 8), Date.UTC(1999, 1, 28, 23, 59, 59)];
    expect(showTimes(`From ${timeText(from)}, to ${timeText(to)}.`, show)).toBe(
      `From <${from}>, to <${to}>.`,
    );
  });

  it.each(['It has no time.', 'A job called UTC.', 'At 2026-13-01 08:00:00 UTC.', 'At 2026-12-01 08:00 UTC'])(
    'what is none stays as it is: %s',
    (sentence) => {
      expect(showTimes(sentence, show)).toBe(sentence);
    },
  );
});
