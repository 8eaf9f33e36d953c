/** What cannot be read says nothing, and keeps nobody from telling how a task ended. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lastLine, lastWords } from './last-words.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-last-words-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the last line is told, and what was said of no room', () => {
  writeFileSync(path.join(folder, 'err'), 'cp: No space left on device\nbye\n');
  expect(lastLine(path.join(folder, 'err'))).toBe('bye');
  expect(lastWords(folder).ofNoRoom).toBe('cp: No space left on device');
});

test('a file that opens and cannot be read says nothing, and the other is read', () => {
  mkdirSync(path.join(folder, 'err'));
  writeFileSync(path.join(folder, 'out'), 'Disk quota exceeded\n');
  expect(lastLine(path.join(folder, 'err'))).toBeNull();
  expect(lastWords(folder).ofNoRoom).toBe('Disk quota exceeded');
});

test.skipIf(process.platform === 'win32')('a pipe in its place is not waited for', () => {
  execFileSync('mkfifo', [path.join(folder, 'err')]);
  expect(lastLine(path.join(folder, 'err'))).toBeNull();
  expect(lastWords(folder).ofNoRoom).toBeNull();
});

test('what failed is said by the last line of its error output, as plain text; with a terminal, by that of its output', () => {
  writeFileSync(
    path.join(folder, 'err'),
    'Traceback:\n  10%|#\r 20%|##\r\x1b]0;title\x07\x1b[1;31mRuntimeError\x1b[0m:\t\u202eout of memory\x07\n\n',
  );
  writeFileSync(path.join(folder, 'out'), 'step 3\n');
  expect(lastWords(folder).last).toBe('RuntimeError: out of memory');
  expect(lastWords(folder, true).last).toBe('step 3');
});
