import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { hangingFolder, hangingObstacle } from '../../../test/harness/hanging-folder.js';
import { folderHere } from './folder-here.js';

const root = mkdtempSync(path.join(os.tmpdir(), 'iris-folder-here-'));
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

const inside = (name: string) => path.join(root, name);

test('a folder is there, whatever its name; a file and what does not exist are none', async () => {
  for (const name of ['plain', '-e', 'with "quotes" and $HOME', 'ünï']) {
    mkdirSync(inside(name));
    expect(await folderHere(inside(name))).toBe(true);
  }
  writeFileSync(inside('file'), '');
  expect(await folderHere(inside('file'))).toBe(false);
  expect(await folderHere(inside('nothing'))).toBe(false);
  expect(await folderHere('/')).toBe(true);
});

test('one that may not be entered is none; root may enter all', async () => {
  mkdirSync(inside('closed'));
  chmodSync(inside('closed'), 0o600);
  expect(await folderHere(inside('closed'))).toBe(process.getuid?.() === 0);
});

test.skipIf(hangingObstacle !== null)(
  'one that hangs keeps nobody else from their files, and is not known',
  async () => {
    mkdirSync(inside('hangs'));
    const hanging = await hangingFolder(inside('hangs'));
    const looks = Promise.all([1, 2, 3, 4, 5].map(() => folderHere(inside('hangs'))));
    expect(await folderHere(root)).toBe(true);
    await hanging.release();
    expect((await looks).every((found) => found !== true)).toBe(true);
  },
);
