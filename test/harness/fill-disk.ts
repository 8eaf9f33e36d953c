/** A small disk of a test without a free block. */
import { closeSync, openSync, statfsSync, writeSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';

/** Takes every free block of that file system, by a file `filler` in this folder. */
export function fillDisk(folder: string): void {
  const file = openSync(path.join(folder, 'filler'), 'a');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096, 'x'));
  } catch {
    // Full now, which is what was wanted.
  } finally {
    closeSync(file);
  }
  expect(statfsSync(folder).bavail).toBe(0);
}
