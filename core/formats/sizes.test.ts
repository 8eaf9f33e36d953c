import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatSize, parseSize, sizeToInput } from './sizes.js';

describe('parseSize', () => {
  test.each([
    ['0', 0],
    ['1024', 1024],
    ['1024B', 1024],
    ['512M', 512_000_000],
    ['64MB', 64_000_000],
    ['8G', 8_000_000_000],
    ['8GB', 8_000_000_000],
    ['8Gi', 8_589_934_592],
    ['8GiB', 8_589_934_592],
    ['8gib', 8_589_934_592],
    ['1k', 1000],
    ['1Ki', 1024],
    ['2T', 2_000_000_000_000],
    ['1PiB', 1_125_899_906_842_624],
    ['1.5 g', 1_500_000_000],
    [' 8 GB ', 8_000_000_000],
    ['0.5KiB', 512],
  ])('%j is %i bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  test.each([
    '',
    ' ',
    'G',
    '-1G',
    '+1G',
    '8 X',
    '8GBs',
    '8 G B',
    '1e3',
    '.5G',
    '8,5G',
    'Infinity',
    '99999P',
    '1_000',
  ])('%j is no size', (text) => {
    expect(parseSize(text)).toBeUndefined();
  });
});

describe('formatSize', () => {
  test.each([
    [0, '0 B'],
    [-5, '0 B'],
    [1023, '1023 B'],
    [1024, '1 KiB'],
    [1536, '1.5 KiB'],
    [63_963_136, '61 MiB'],
    [1_610_612_736, '1.5 GiB'],
    [1_000_000_000, '954 MiB'],
    [16 * 2 ** 30, '16 GiB'],
    [2 ** 50, '1 PiB'],
    [100 * 2 ** 30, '100 GiB'],
    [1000 * 2 ** 30, '1000 GiB'],
  ])('%i reads as %s', (bytes, text) => {
    expect(formatSize(bytes)).toBe(text);
  });
});

describe('sizeToInput', () => {
  test.each([
    [64_000_000, '64M'],
    [8 * 2 ** 30, '8GiB'],
    [1_000_000_000, '1G'],
    [123_456, '123456'],
    [1000, '1K'],
    [0, '0'],
  ])('%i is written %s', (bytes, text) => {
    expect(sizeToInput(bytes)).toBe(text);
  });

  test('what is written is read back to the same number', () => {
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), (bytes) => {
        expect(parseSize(sizeToInput(bytes))).toBe(bytes);
      }),
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 999 }),
        fc.integer({ min: 0, max: 4 }),
        fc.boolean(),
        (n, power, binary) => {
          const bytes = n * (binary ? 1024 : 1000) ** power;
          expect(parseSize(sizeToInput(bytes))).toBe(bytes);
        },
      ),
    );
  });
});
