import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventually } from '../../../../test/harness/eventually.js';
import { FarConnection } from './far-connection.js';
import { farFrame, farMark } from './far-words.js';

let folder: string;
let connection: FarConnection;
const heard: string[] = [];
const lost: string[] = [];
const tries = () => {
  const file = path.join(folder, 'tries');
  return existsSync(file) ? readFileSync(file, 'utf8').length : 0;
};

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-far-'));
  writeFileSync(path.join(folder, 'hello'), Buffer.concat([farMark, farFrame(['hello'])]));
  // A login shell that says nothing until `speaks` is there; its hand ends when `leaves` is.
  const script = [
    '#!/bin/sh',
    'test "$1" = -G && exit 0',
    `cd ${folder} && printf x >>tries`,
    'until test -e speaks; do sleep 0.02; done; cat hello',
    'until test -e leaves; do sleep 0.02; done',
  ];
  writeFileSync(path.join(folder, 'client'), script.join('\n'), { mode: 0o755 });
  heard.length = lost.length = 0;
  connection = new FarConnection({
    address: { user: null, host: 'ws-2', port: null },
    home: folder,
    client: { program: path.join(folder, 'client') },
    nowMs: () => Date.now(),
    monotonicMs: () => Date.now(),
    onWord: ({ kind }) => void heard.push(kind),
    onContact: () => undefined,
    onLost: ({ message }) => void lost.push(message),
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await connection.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Time passes when the test says so: what starts slowly is not late. */
function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
}

/** A try that gets no word, and is given up after so long. */
async function silentFor(ms: number): Promise<void> {
  const [before, begun] = [lost.length, tries()];
  connection.now();
  await eventually(tries).toBe(begun + 1);
  vi.advanceTimersByTime(ms - 5000);
  await new Promise<void>((resolve) => void setImmediate(resolve));
  await new Promise<void>((resolve) => void setImmediate(resolve));
  expect(lost).toHaveLength(before);
  vi.advanceTimersByTime(5000);
  await eventually(() => lost.length).toBe(before + 1);
  expect(lost.at(-1)).toBe(`ws-2 gave no answer within ${ms / 1000} s.`);
}

test('a login shell that is slow the first time is heard out; one that was quick is given up sooner, but not for good', async () => {
  holdTimers();
  await silentFor(60_000);
  writeFileSync(path.join(folder, 'speaks'), '');
  connection.now();
  await eventually(() => heard).toContain('hello');
  writeFileSync(path.join(folder, 'leaves'), '');
  await eventually(() => lost.length).toBe(2);
  for (const file of ['speaks', 'leaves']) rmSync(path.join(folder, file));
  for (const ms of [20_000, 20_000, 20_000, 60_000]) await silentFor(ms);
});
