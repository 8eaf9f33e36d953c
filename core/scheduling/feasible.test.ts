import { describe, expect, test } from 'vitest';
import { specOf } from '../model/test-world.js';
import { infeasibleFields, resolveGpu, type WorkerTotals } from './feasible.js';
import { matchesVariant, resolveGpuRequest } from './gpu-models.js';

function machine(id: string, cores: number, gib: number, ...variants: string[]): WorkerTotals {
  return {
    id,
    cpuMillicores: cores * 1000,
    memoryBytes: gib * 2 ** 30,
    gpus: variants.map((variant, index) => ({ uuid: `${id}-${index}`, index, variant })),
    gpuNote: variants.length === 0 ? 'nvidia-smi is not installed' : null,
  };
}

const desk = machine('desk', 8, 16);
const lab = machine('lab', 16, 64, 'rtx-4090', 'rtx-4090', 'h100');
const fields = (request: Parameters<typeof specOf>[0], ...workers: WorkerTotals[]) =>
  infeasibleFields(specOf(request), workers);

describe('what no machine could ever run', () => {
  test('fits some machine: nothing to say', () => {
    expect(fields({ cpu: 16, memory: '64GiB', gpu: 'h100' }, desk, lab)).toEqual([]);
    expect(fields({}, desk)).toEqual([]);
  });

  test('no machine is known yet: nothing is said', () => {
    expect(fields({ cpu: 999 })).toEqual([]);
  });

  test('processors', () => {
    expect(fields({ cpu: 999 }, desk)).toEqual([
      { field: 'cpu', value: '999 CPU cores', expected: '8 CPU cores on this machine' },
    ]);
    expect(fields({ cpu: 17 }, desk, lab)).toEqual([
      { field: 'cpu', value: '17 CPU cores', expected: '16 CPU cores on the largest machine' },
    ]);
  });

  test('memory and GPUs together', () => {
    expect(fields({ memory: '128GiB', gpu: 1 }, desk)).toEqual([
      { field: 'memory', value: '128 GiB', expected: '16 GiB on this machine' },
      { field: 'gpu', value: '1 GPU', expected: 'no GPU: nvidia-smi is not installed' },
    ]);
  });

  test('a model there is not: those there are', () => {
    expect(fields({ gpu: 'a100x2' }, lab)).toEqual([
      { field: 'gpu', value: '2 a100 GPUs', expected: '1 h100, 2 rtx-4090' },
    ]);
  });

  test('more cards of a model than one machine has', () => {
    expect(fields({ gpu: '4090x3' }, lab)).toEqual([
      { field: 'gpu', value: '3 rtx-4090 GPUs', expected: '1 h100, 2 rtx-4090' },
    ]);
  });

  test('a form that matches several models: all of them', () => {
    const both = machine('both', 8, 16, 'a100-40gb', 'a100-80gb');
    expect(fields({ gpu: 'a100' }, both)).toEqual([
      { field: 'gpu', value: 'a100', expected: 'more than one model by that name: a100-40gb, a100-80gb' },
    ]);
  });

  test('each thing somewhere, never together', () => {
    const [only, ...rest] = fields({ cpu: 32, gpu: 1 }, machine('big', 64, 64), lab);
    expect(rest).toEqual([]);
    expect(only?.value).toBe('32 CPU cores, 954 MiB, 1 GPU');
    expect(only?.expected).toContain('big has 64 CPU cores, 64 GiB, no GPU; lab has 16 CPU cores');
  });
});

describe('GPU models', () => {
  test.each([
    ['4090', 'rtx-4090', true],
    ['rtx 4090', 'rtx-4090', true],
    ['RTX-4090', 'rtx-4090', true],
    ['rtx', 'rtx-4090', true],
    ['a100', 'a100-80gb', true],
    ['409', 'rtx-4090', false],
    ['rtx-4080', 'rtx-4090', false],
    ['', 'rtx-4090', false],
  ])('%j of %s: %s', (asked, variant, matches) => {
    expect(matchesVariant(asked, variant)).toBe(matches);
  });

  test('an exact name wins over longer ones that contain it', () => {
    expect(resolveGpuRequest({ gpuCount: 1, gpuVariant: 'a100' }, ['a100', 'a100-80gb'])).toEqual({
      kind: 'resolved',
      count: 1,
      variant: 'a100',
    });
  });

  test('a number above 16 is a model where there is one, else a number', () => {
    expect(resolveGpuRequest({ gpuCount: 4090, gpuVariant: null }, ['rtx-4090'])).toMatchObject({
      count: 1,
      variant: 'rtx-4090',
    });
    expect(resolveGpuRequest({ gpuCount: 4090, gpuVariant: null }, ['h100'])).toMatchObject({
      count: 4090,
      variant: null,
    });
    expect(resolveGpuRequest({ gpuCount: 16, gpuVariant: null }, ['16'])).toMatchObject({
      count: 16,
      variant: null,
    });
  });

  test("a request is put in the machines' own words, and left alone where that is not clear", () => {
    expect(resolveGpu(specOf({ gpu: '4090' }), [lab])).toMatchObject({ gpuCount: 1, gpuVariant: 'rtx-4090' });
    expect(resolveGpu(specOf({ gpu: 'a100x2' }), [lab])).toMatchObject({ gpuCount: 2, gpuVariant: 'a100' });
    const plain = specOf({ gpu: 2 });
    expect(resolveGpu(plain, [lab])).toBe(plain);
  });
});
