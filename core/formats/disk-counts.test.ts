import { expect, test } from 'vitest';
import { DiskMeter, readDiskCounts } from './disk-counts.js';

const text = `   7       0 loop0 10 0 80 1 0 0 0 0 0 1 1 0 0 0 0
 254       0 vda 4000 12 100000 900 5000 30 200000 700 0 800 1600 0 0 0 0
 254       1 vda1 3900 12 99000 890 4900 30 199000 690 0 790 1580 0 0 0 0
 259       0 nvme0n1 5 0 1000 2 6 0 3000 4 0 5 6 0 0 0 0 7 8
`;
const isDisk = (name: string) => name === 'vda' || name === 'nvme0n1';

test('bytes of all disks together, none of their parts', () => {
  expect(readDiskCounts(text, isDisk)).toEqual({ readBytes: 101_000 * 512, writtenBytes: 203_000 * 512 });
  expect(readDiskCounts(text, () => false)).toBeNull();
  expect(readDiskCounts('', isDisk)).toBeNull();
});

test('how fast, from one look to the next', () => {
  const meter = new DiskMeter();
  expect(meter.rates({ readBytes: 1000, writtenBytes: 2000 }, 10_000)).toBeNull();
  expect(meter.rates({ readBytes: 5000, writtenBytes: 2000 }, 12_000)).toEqual({
    readBytesPerSecond: 2000,
    writtenBytesPerSecond: 0,
  });
  // A disk was taken out: what is left has counted less.
  expect(meter.rates({ readBytes: 10, writtenBytes: 10 }, 14_000)).toBeNull();
  expect(meter.rates({ readBytes: 20, writtenBytes: 10 }, 15_000)?.readBytesPerSecond).toBe(10);
  expect(meter.rates(null, 16_000)).toBeNull();
  expect(meter.rates({ readBytes: 20, writtenBytes: 10 }, 17_000)).toBeNull();
});
