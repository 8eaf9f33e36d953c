import { expect, test } from 'vitest';
import { gpuNames } from './gpu-names.js';

const cards = (...names: string[]) => names.map((name) => ({ name }));

test.each([
  [cards('A'), 'A'],
  [cards('A', 'A', 'A'), 'A'],
  [cards('A', 'B', 'A'), '2 A, 1 B'],
])('names each card once', (gpus, said) => {
  expect(gpuNames(gpus)).toBe(said);
});
