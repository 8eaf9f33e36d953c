import { expect, test } from 'vitest';
import { specOf } from '../../core/model/test-world.js';
import { cards, worker } from '../../core/scheduling/test-cluster.js';
import { judge } from './feasibility.js';

const machine = worker('w1', {
  gpus: cards(2, (index) => ({ variant: ['a100-40gb', 'a100-80gb'][index] ?? '' })),
});
const refusedFields = (request: Parameters<typeof specOf>[0]) =>
  judge(specOf(request), [machine]).refused.map(({ field }) => field);

test('cards that no machine has are waited for', () => {
  const judged = judge(specOf({ gpu: 'H100x8' }), [machine]);
  expect(judged.refused).toEqual([]);
  expect(judged.missingGpus).toMatchObject({ field: 'gpu', value: '8 h100 GPUs' });
});

test('a model that may be two is refused, as are processors and memory beyond the largest machine', () => {
  expect(refusedFields({ gpu: 'a100' })).toEqual(['gpu']);
  expect(refusedFields({ cpu: 999 })).toEqual(['cpu']);
  expect(refusedFields({ memory: '800TiB', gpu: 'H100' })).toEqual(['memory', 'gpu']);
});

test('what one machine has is neither', () => {
  expect(judge(specOf({ gpu: 'a100-80gb' }), [machine])).toMatchObject({ refused: [], missingGpus: null });
});
