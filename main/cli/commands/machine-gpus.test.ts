import { expect, test } from 'vitest';
import { plainGpu, type GpuView } from '../../../core/contract/gpus.js';
import { gpuLines } from './machine-gpus.js';

const bare: GpuView = {
  ...plainGpu,
  processes: [],
  claimedBy: [],
  uuid: 'GPU-1',
  index: 0,
  name: 'NVIDIA H100 80GB HBM3',
  variant: 'h100',
};

test('all there is of a card', () => {
  const gpu: GpuView = {
    ...bare,
    state: 'SICK',
    stateReason: 'It has to be reset.',
    heldBy: 'a1',
    claimedBy: ['ann', 'ben'],
    busId: '00000000:19:00.0',
    utilizationPercent: 0,
    memoryUsedBytes: 1024 ** 3,
    memoryTotalBytes: 80 * 1024 ** 3,
    temperatureCelsius: 27,
    powerWatts: 72,
    powerLimitWatts: 700,
    clockMhz: 345,
    memoryClockMhz: 2619,
    eccUncorrected: 2,
    numaNode: 1,
    nvlinkTo: ['GPU-2'],
    processes: [
      { pid: 7, user: 'ann', name: 'python', usedBytes: 1024 ** 3, computes: true, attemptUid: 'a1' },
      { pid: 8, user: null, name: 'Xorg', usedBytes: null, computes: false, attemptUid: null },
    ],
  };
  expect(gpuLines([gpu]).split('\n')).toEqual([
    '',
    'GPU 0          NVIDIA H100 80GB HBM3 (h100)',
    'State          SICK: It has to be reset.',
    'Held by        attempt a1',
    'Claimed by     ann, ben',
    'UUID           GPU-1',
    'Bus            00000000:19:00.0',
    'Use            0 %',
    'Memory         1 GiB used of 80 GiB',
    'Temperature    27 C',
    'Power          72 W of 700 W',
    'Clocks         345 MHz, memory 2619 MHz',
    'Memory errors  2 not corrected',
    'Beside         memory node 1, NVLink to GPU-2',
    'Process        7 python, ann, 1 GiB, computes, attempt a1',
    'Process        8 Xorg, owner not seen, memory unknown, draws the desktop',
    '',
  ]);
});

test('all who share a card', () => {
  const text = gpuLines([{ ...bare, heldBy: 'a1', sharedWith: ['b2'] }]);
  expect(text).toContain('Held by        attempt a1, attempt b2, which share it\n');
});

test('the job that has a card, not its attempt alone', () => {
  const text = gpuLines([{ ...bare, heldBy: 'a1' }], new Map([['a1', '/ann/train']]));
  expect(text).toContain('Held by        /ann/train (attempt a1)\n');
});

test('what is not known is said, never left out or shown as nothing', () => {
  const text = gpuLines([{ ...bare, note: 'unknown: utilization [N/A]', sharesHostMemory: true }]);
  expect(text).toContain('Use            unknown\n');
  expect(text).toContain("Memory         unknown used of unknown, the machine's own\n");
  expect(text).toContain('Memory errors  not counted here\n');
  expect(text).toContain('Beside         not readable here\n');
  expect(text).toContain('Note           unknown: utilization [N/A]\n');
  expect(text).not.toMatch(/null|undefined/);
  expect(gpuLines([])).toBe('');
});
