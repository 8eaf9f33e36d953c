import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { diskUseOf, parseDiskUse, parseUnits, parseUsage } from './process-usage.js';

/** As the kernel writes it. */
function auxv(...pairs: readonly (readonly [number, number])[]): Uint8Array {
  return new Uint8Array(BigUint64Array.from(pairs.flat().map(BigInt)).buffer);
}

const stat =
  '4001 (python (a) b) S 4000 4001 3999 0 -1 4194304 900 20 0 0 250 50 30 20 20 0 8 0 777 9000000 1000 184 1 1 0 0 0';

test('memory and processor time are counted in the units of the system: pages of 64 KiB on some', () => {
  const usual = parseUnits(auxv([33, 99], [16, 1], [6, 4096], [17, 100], [0, 0]));
  expect(parseUsage(stat, usual)).toEqual({
    parent: 4000,
    session: 3999,
    cpuSeconds: 3.5,
    memoryBytes: 1000 * 4096,
  });
  const large = parseUnits(auxv([6, 65_536], [17, 250], [0, 0]));
  expect(parseUsage(stat, large)).toMatchObject({ cpuSeconds: 1.4, memoryBytes: 1000 * 65_536 });
  expect(parseUnits(auxv([3, 64], [0, 0]))).toEqual({ pageBytes: 4096, ticksPerSecond: 100 });
  expect(parseUnits(new Uint8Array(7))).toEqual({ pageBytes: 4096, ticksPerSecond: 100 });
});

test.skipIf(process.platform !== 'linux')(
  'what a process has by its pages is what the system says it has',
  () => {
    const status = readFileSync('/proc/self/status', 'latin1');
    const resident = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
    const told = parseUsage(readFileSync('/proc/self/stat', 'latin1'))?.memoryBytes ?? 0;
    expect(Math.abs(told - resident) / resident).toBeLessThan(0.2);
  },
);

test('what was read from and written to disks is told, less what never got there', () => {
  const io = 'rchar: 900\nwchar: 800\nsyscr: 7\nsyscw: 6\nread_bytes: 4096\nwrite_bytes: 12288\n';
  expect(parseDiskUse(`${io}cancelled_write_bytes: 8192\n`)).toEqual({ readBytes: 4096, writtenBytes: 4096 });
  expect(parseDiskUse(`${io}cancelled_write_bytes: 16384\n`)?.writtenBytes).toBe(0);
  expect(parseDiskUse(io)?.writtenBytes).toBe(12_288);
  expect(parseDiskUse('read_bytes: -\n')).toBeNull();
});

test.skipIf(!existsSync('/proc/self/io'))(
  'what an ended child has written counts with who waited for it, and of nobody there nothing is told',
  () => {
    // On a disk: what lies in memory is not written to one.
    const folder = mkdtempSync(path.join(import.meta.dirname, '.disk-use-'));
    try {
      const before = diskUseOf([process.pid]).writtenBytes ?? 0;
      const script = `dd if=/dev/zero of='${folder}/f' bs=1048576 count=4 conv=fsync 2>/dev/null`;
      expect(spawnSync('sh', ['-c', script]).status).toBe(0);
      const after = diskUseOf([process.pid]).writtenBytes ?? 0;
      expect(after - before).toBeGreaterThanOrEqual(4 * 1024 ** 2);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    expect(diskUseOf([2 ** 22 + 1])).toEqual({ readBytes: null, writtenBytes: null });
  },
);
