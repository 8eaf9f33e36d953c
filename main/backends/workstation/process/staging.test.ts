import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { refuseByFault } from './attempt-start.js';
import { stageFiles, stagingFault } from './staging.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-staging-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const staged = (...names: string[]) =>
  stageFiles(
    folder,
    names.map((name) => ({ path: name, contentBase64: Buffer.from('content').toString('base64') })),
  );

test('a file that finds no room is no fault of the task, and nothing of it is left', () => {
  symlinkSync('/dev/full', path.join(folder, 'big'));
  const done = staged('small', 'big');
  expect(done).toMatchObject({ ok: false, fault: { cause: { code: 'LOG_STORAGE_FULL' }, blameless: true } });
  expect(done.ok || refuseByFault('a1', done.fault)).toMatchObject({ fault: false, exitCode: null });
  expect(existsSync(path.join(folder, 'big'))).toBe(false);
  expect(readFileSync(path.join(folder, 'small'), 'utf8')).toBe('content');
});

test.each([
  ['one file where another needs a folder', ['a', 'a/b']],
  ['a folder where a file is to be', ['a/b', 'a']],
  ['a name that no disk takes', ['x'.repeat(300)]],
  ['a way out of the folder', ['../x']],
])('%s is a fault of the task', (_, names) => {
  const done = staged(...names);
  expect(done.ok || refuseByFault('a1', done.fault)).toMatchObject({
    fault: true,
    cause: { code: 'STAGING_FAILED' },
  });
});

test('what else goes wrong with a disk is no fault of the task', () => {
  for (const code of ['EROFS', 'EIO', 'EMFILE', 'ENOENT', undefined])
    expect(stagingFault(code, 'why')).toEqual({
      cause: { code: 'START_FAILED', message: 'why' },
      exitCode: null,
      blameless: true,
    });
});
