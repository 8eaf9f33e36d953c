/** What an ended attempt left is looked for below whoever gets our orphans, for as long as that one lives. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { createOrphans, type Orphans } from './orphans.js';

let orphans: Orphans | null = null;
afterEach(() => orphans?.close());

test.skipIf(process.platform !== 'linux')('once that one has ended, every end is looked into', async () => {
  const reaper = spawn('sleep', ['60'], { stdio: 'ignore' });
  orphans = createOrphans(reaper.pid ?? 0, () => performance.now());
  orphans?.refresh();
  expect(orphans?.has('00000000000000aa', 1_000_000)).toBe(false);
  const over = once(reaper, 'exit');
  reaper.kill('SIGKILL');
  await over;
  orphans?.refresh();
  expect(orphans?.has('00000000000000aa', 1_000_000)).toBe(true);
});
