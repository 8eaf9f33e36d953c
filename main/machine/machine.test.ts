import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { MachineSampler } from './machine.js';

const hasDisks =
  existsSync('/sys/block') &&
  readdirSync('/sys/block').some((name) => existsSync(`/sys/block/${name}/device`));

test.skipIf(!hasDisks)('what its disks write is seen from one sample to the next', () => {
  const sampler = new MachineSampler([]);
  // Around both samples: what is between them is no longer than this, however busy the machine is.
  const beganMs = performance.now();
  expect(sampler.sample().diskRates).toBeNull();
  const folder = mkdtempSync(path.join(import.meta.dirname, '.disk-rates-'));
  try {
    const script = `dd if=/dev/zero of='${folder}/f' bs=1048576 count=8 conv=fsync 2>/dev/null`;
    expect(spawnSync('sh', ['-c', script]).status).toBe(0);
    const rates = sampler.sample().diskRates;
    const seconds = (performance.now() - beganMs) / 1000;
    // Others may write as well, and not every file system writes all of it.
    expect((rates?.writtenBytesPerSecond ?? 0) * seconds).toBeGreaterThan(7 * 1024 ** 2);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
