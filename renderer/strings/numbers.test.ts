import { expect, it } from 'vitest';
import { formatCores, formatCount, made } from './numbers.js';

const english = new Intl.NumberFormat('en-US');
const oneDigit = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

it.each([0, 7, 999, 1000, 12_345, 999_999, 1_000_000, Number.MAX_SAFE_INTEGER, 1234.5678])(
  'the count %d is written as English has it',
  (value) => {
    expect(formatCount(value)).toBe(english.format(value));
  },
);

it('processors are written to a tenth, as English has it', () => {
  for (let millicores = 0; millicores < 30_000; millicores += 1)
    expect(formatCores(millicores)).toBe(oneDigit.format(millicores / 1000));
  expect(formatCores(1_024_500)).toBe('1,024.5');
});

it('what is made when first asked for is made once, whatever it is', () => {
  let count = 0;
  const value = made(() => {
    count += 1;
    return null;
  });
  expect(count).toBe(0);
  expect([value(), value()]).toEqual([null, null]);
  expect(count).toBe(1);
});
