import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { resolveHome } from '../home.js';
import { connectOrStart } from './host-link.js';

test('where nobody can listen the controller’s thread is made at once, not after a try to connect', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'iris-link-'));
  try {
    let made = false;
    process.once('worker', () => (made = true));
    const starting = connectOrStart({
      home: resolveHome({ flag: folder, env: {} }),
      appVersion: '0',
      runtime: 'test',
      workerModule: new URL('data:text/javascript,'),
    }).catch(() => null);
    await new Promise((resolve) => process.nextTick(resolve));
    expect(made).toBe(true);
    // That thread ends without a word.
    expect(await starting).toBeNull();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
