import { expect, test } from 'vitest';
import { halfLifeToText, textToHalfLife } from './half-life.js';

test.each([
  ['7d', 7 * 86_400_000, '7d'],
  [' 36H ', 36 * 3_600_000, '36h'],
  ['1h', 3_600_000, '1h'],
  ['3650d', 3650 * 86_400_000, '3650d'],
  ['off', null, 'off'],
])('%s is read and written', (text, halfLifeMs, written) => {
  const read = textToHalfLife(text);
  expect(read).toEqual({ ok: true, value: halfLifeMs });
  expect(halfLifeToText(halfLifeMs)).toBe(written);
});

test.each(['59m', '3651d', '0', '', 'soon', '-7d'])('%j is refused with what would be right', (text) => {
  const read = textToHalfLife(text);
  expect(read.ok).toBe(false);
  if (read.ok) return;
  expect(read.refusal).toMatchObject({
    code: 'INVALID_ARGUMENT',
    fields: [{ field: 'half-life', value: text, expected: 'a duration from 1h to 3650d such as 7d, or off' }],
  });
});
