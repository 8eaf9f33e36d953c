import { describe, expect, it } from 'vitest';
import { lineWindow, reserveLines } from './line-window.js';

const place = { count: 1000, top: 3000, height: 300, rowHeight: 30, forward: true };

describe('lineWindow', () => {
  it('has the lines in view, and most of the reserve where the list is moving to', () => {
    const down = lineWindow(place);
    expect(down).toEqual({ first: 97, last: 123, size: 27, firstInView: 100, lastInView: 110 });
    expect(lineWindow({ ...place, forward: false })).toEqual({ ...down, first: 87, last: 113 });
  });

  it('is as long at both ends of the list, and all of a short one', () => {
    expect(lineWindow({ ...place, top: 0 })).toMatchObject({ first: 0, last: 26 });
    const atEnd = lineWindow({ ...place, top: 29_700 });
    expect(atEnd).toMatchObject({ first: 973, last: 999, firstInView: 990, lastInView: 999 });
    expect(lineWindow({ ...place, count: 4, top: 0 })).toMatchObject({ first: 0, last: 3, lastInView: 3 });
    expect(lineWindow({ ...place, count: 0, top: 0 })).toMatchObject({ first: 0, last: -1, lastInView: -1 });
  });

  it('has every line in view wherever it stands', () => {
    for (let top = 0; top < 29_700; top += 7) {
      for (const forward of [true, false]) {
        const { first, last, firstInView, lastInView } = lineWindow({ ...place, top, forward });
        expect(first).toBeLessThanOrEqual(firstInView);
        expect(last).toBeGreaterThanOrEqual(lastInView);
        expect(lastInView).toBeGreaterThanOrEqual(Math.min(999, Math.ceil((top + 300) / 30) - 1));
      }
    }
  });
});

describe('reserveLines', () => {
  it('tells those first that come into view first', () => {
    const down = reserveLines(lineWindow(place), true);
    expect(down.slice(0, 2)).toEqual([111, 112]);
    expect(down.slice(-3)).toEqual([99, 98, 97]);
    const up = reserveLines(lineWindow({ ...place, forward: false }), false);
    expect(up.slice(0, 2)).toEqual([99, 98]);
    expect(up.slice(-3)).toEqual([111, 112, 113]);
  });
});
