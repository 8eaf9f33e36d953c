import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCached } from './cached-code.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'iris-code-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const places = () => ({ file: path.join(folder, 'code.cjs'), kept: path.join(folder, 'kept', 'code.bin') });

/** As the build writes it. */
function write(code: string): void {
  writeFileSync(places().file, `//${createHash('sha256').update(code).digest('hex')}\n${code}`);
}

function run(): unknown {
  const { file, kept } = places();
  const code = runCached(file, kept);
  code.keep();
  return code.exported;
}

const keptNow = () => readFileSync(places().kept);

test('code runs as a file of its folder, with and without its compiled form', () => {
  write("exports.name = require('node:path').basename(__filename); exports.twice = (n) => 2 * n;");
  for (let start = 0; start < 2; start += 1) {
    const code = run() as { name: string; twice: (n: number) => number };
    expect(code.name).toBe('code.cjs');
    expect(code.twice(21)).toBe(42);
  }
});

test('a good compiled form is not written again', () => {
  write('exports.value = 1;');
  run();
  const first = keptNow();
  writeFileSync(path.join(folder, 'kept', 'code.bin'), first);
  run();
  expect(keptNow().equals(first)).toBe(true);
});

test('other code of the same length does not run in the form of the first', () => {
  write('exports.value = 1;');
  run();
  const first = keptNow();
  write('exports.value = 2;');
  expect(run()).toEqual({ value: 2 });
  expect(keptNow().equals(first)).toBe(false);
});

test('what is no compiled form is replaced by one', () => {
  write('exports.value = 1;');
  run();
  const { length } = keptNow();
  for (const broken of ['', 'nothing of the kind', `${'0'.repeat(64)}${'x'.repeat(length)}`]) {
    writeFileSync(places().kept, broken);
    expect(run()).toEqual({ value: 1 });
    expect(keptNow().subarray(0, 64).toString('latin1')).toMatch(/^[0-9a-f]{64}$/);
    expect(keptNow().toString('latin1')).not.toBe(broken);
  }
});

test('where nothing can be kept, and without a digest, code runs all the same', () => {
  write('exports.value = 1;');
  writeFileSync(path.join(folder, 'kept'), 'a file where a folder is wanted');
  expect(run()).toEqual({ value: 1 });
  writeFileSync(places().file, 'exports.value = 3;');
  expect(run()).toEqual({ value: 3 });
});
