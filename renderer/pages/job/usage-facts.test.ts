import { describe, expect, it } from 'vitest';
import { foreignCards, usageFacts } from './usage-facts.js';

const usage = {
  cpuSeconds: 3723,
  memoryBytes: 2 * 1024 ** 3,
  diskReadBytes: 5 * 1024 ** 3,
  diskWrittenBytes: 300 * 1024 ** 2,
  gpuPercent: 87.4,
  gpuMemoryBytes: 71 * 1024 ** 3,
  energyJoules: 5_400_000,
  devicesUsed: ['GPU-a', 'GPU-b'],
};

describe('what an attempt used', () => {
  it('is said in words, each figure on its own', () => {
    expect(usageFacts(usage)).toEqual([
      '2 GiB in use when last measured',
      '1h 02m of processor time',
      '5 GiB read from disk',
      '300 MiB written',
      'GPU 87% busy on average',
      'up to 71 GiB of GPU memory',
      '1.5 kWh drawn by its GPUs',
    ]);
    expect(usageFacts({ ...usage, energyJoules: 90_000 }).at(-1)).toBe('25 Wh drawn by its GPUs');
  });

  it('says nothing of what was not measured', () => {
    expect(usageFacts(undefined)).toEqual([]);
    const none = Object.fromEntries(Object.keys(usage).map((name) => [name, null]));
    expect(usageFacts({ ...usage, ...none, devicesUsed: [] })).toEqual([]);
  });

  it('names cards it computed on without having been given them', () => {
    expect(foreignCards(usage, ['GPU-a'])).toEqual(['GPU-b']);
    expect(foreignCards(undefined, [])).toEqual([]);
  });
});
