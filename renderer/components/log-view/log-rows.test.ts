import { describe, expect, it } from 'vitest';
import { placeBefore } from './log-pages.js';
import { rowsOf } from './log-rows.js';
import type { LogPlace } from './log-source.js';

describe('placeBefore', () => {
  it.each<[LogPlace, number, LogPlace]>([
    [{ out: 100, err: 0 }, 1000, { out: 0, err: 0 }],
    [{ out: 3000, err: 0 }, 1000, { out: 2000, err: 0 }],
    [{ out: 3000, err: 1000 }, 1000, { out: 2250, err: 750 }],
  ])('%j less %i is %j', (place, bytes, expected) => {
    expect(placeBefore(place, bytes)).toEqual(expected);
  });
});

describe('rowsOf', () => {
  it.each<[string, number]>([
    ['', 0],
    ['a', 0],
    ['a\n', 1],
    ['\n\n', 2],
    ['a'.repeat(100) + '\n', 1],
    ['a'.repeat(101) + '\n', 2],
    ['a'.repeat(250), 2],
    ['宽'.repeat(51) + '\n', 2],
    ['\x1b[31m' + 'a'.repeat(98) + '\x1b[0m\r\n', 1],
    ['12%\r'.repeat(5000), 0],
  ])('%j', (text, rows) => {
    expect(rowsOf(text, 100)).toBe(rows);
  });
});
