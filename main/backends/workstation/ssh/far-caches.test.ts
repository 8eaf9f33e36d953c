/** The caches of another machine, looked at and emptied by its hand, without SSH between. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hangingFolder, hangingObstacle } from '../../../../test/harness/hanging-folder.js';
import { LocalHand } from '../../../../test/harness/local-hand.js';
import { FarFiles } from './far-files.js';

describe('the caches there', () => {
  let home: string;
  let hand: LocalHand;
  let files: FarFiles;
  const there = (...names: string[]) => path.join(home, 'caches', ...names);
  const never = new AbortController().signal;

  beforeEach(async () => {
    home = mkdtempSync(path.join(os.tmpdir(), 'iris-far-caches-'));
    mkdirSync(there('uv'), { recursive: true });
    writeFileSync(there('uv', 'kept'), Buffer.alloc(100_000, 1));
    hand = await LocalHand.open({ home, claims: 'none', controller: 'f'.repeat(16) });
    files = new FarFiles('ws-2');
    files.connected((...texts) => {
      hand.send(...texts);
      void hand.word('caches', (word) => word.text(0) === texts[1]).then((word) => files.word(word));
    });
  });
  afterEach(async () => {
    await hand.close();
    rmSync(home, { recursive: true });
  });

  test('are measured, moved aside and removed by the same script', async () => {
    const looked = await files.runCachesScript(10, ['look', there(), 'uv', 'hf'], never);
    expect(looked).toMatchObject({
      kind: 'done',
      text: expect.stringMatching(/^cache uv all 1\d\d\ncache hf none\n/),
    });
    const emptied = await files.runCachesScript(10, ['empty', there(), '1', 'uv'], never);
    expect(emptied).toEqual({ kind: 'done', text: 'moved uv\nemptied\n' });
    expect(readdirSync(there())).toEqual(['.emptied-1']);
    expect(await files.runCachesScript(10, ['remove', there(), 'busy'], never)).toEqual({
      kind: 'done',
      text: 'removed\n',
    });
    expect(readdirSync(there())).toEqual([]);
  });

  test.skipIf(hangingObstacle !== null)(
    'on a disk that hangs are given up, and what waits for that is told',
    async () => {
      mkdirSync(there('hf', 'hub'), { recursive: true });
      const hanging = await hangingFolder(there('hf', 'hub'), [], true);
      try {
        const late = await files.runCachesScript(1, ['look', there(), 'uv', 'hf'], never);
        expect(late).toMatchObject({ kind: 'late', text: expect.stringMatching(/^cache uv all/) });
        const next = await files.runCachesScript(1, ['look', there(), 'uv'], never);
        expect(next).toMatchObject({ kind: 'failed', message: expect.stringContaining('still hangs') });
      } finally {
        await hanging.release();
      }
      const last = () => files.runCachesScript(10, ['look', there(), 'uv'], never);
      await expect.poll(async () => (await last()).kind).toBe('done');
    },
  );

  test('of a machine that is not connected are not known', async () => {
    files.connected(() => undefined);
    const asked = files.runCachesScript(10, ['look', there(), 'uv'], never);
    files.disconnected();
    const lost = { kind: 'failed', message: 'ws-2 is not connected' };
    expect(await asked).toEqual(lost);
    expect(await files.runCachesScript(10, ['look', there(), 'uv'], never)).toEqual(lost);
  });
});
