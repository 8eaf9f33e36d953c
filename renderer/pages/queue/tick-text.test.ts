import { expect, test } from 'vitest';
import { isClearOfNow } from './tick-text.js';

test.each([
  [100, null, true],
  [100, 40, true],
  [100, 95, false],
  [100, 120, false],
  [100, 134, false],
  [100, 170, true],
])('a label of five letters at %i, now at %s: shown %s', (left, now, shown) => {
  expect(isClearOfNow(left, '12:30', now)).toBe(shown);
});
