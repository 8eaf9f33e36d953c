import { expect, test } from 'vitest';
import type { AttemptUsage } from '../../core/contract/usage.js';
import { usageText } from './usage-text.js';

const nothing: AttemptUsage = {
  cpuSeconds: null,
  memoryBytes: null,
  diskReadBytes: null,
  diskWrittenBytes: null,
  gpuPercent: null,
  gpuMemoryBytes: null,
  energyJoules: null,
  devicesUsed: [],
};

test('what was measured, and cards it used without having them', () => {
  const usage = {
    cpuSeconds: 12.5,
    memoryBytes: 1024,
    diskReadBytes: 3 * 1024 ** 3,
    diskWrittenBytes: 0,
    gpuPercent: 85,
    gpuMemoryBytes: 2 * 1024 ** 3,
    energyJoules: 7200,
    devicesUsed: ['GPU-1', 'GPU-2'],
  };
  expect(usageText(usage, ['GPU-1'])).toBe(
    'Used 12.5 s of CPU; 3 GiB read from disk; 0 B written; GPU 85 %, 2 GiB of memory, 2.00 Wh; also computed on GPU-2, which it was not given.',
  );
  expect(usageText({ ...nothing, energyJoules: 30 }, [])).toBe('Used GPU 30 J.');
  expect(usageText(nothing, [])).toBe('');
});
