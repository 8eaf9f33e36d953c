import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NvidiaTool } from './nvidia-tool.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-tool-'));
  vi.stubEnv('PATH', `${folder}/none:${folder}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

test('a tool that is in no folder of the path is absent, and is found once it is installed', async () => {
  const tool = new NvidiaTool({ nowMs: Date.now });
  expect(await tool.run(['-L'])).toEqual({ kind: 'absent' });
  writeFileSync(path.join(folder, 'nvidia-smi'), '#!/bin/sh\necho "cards $1"\n', { mode: 0o755 });
  expect(await tool.run(['-L'])).toEqual({ kind: 'text', text: 'cards -L\n' });
});

test('so is one that is named by a path where nothing is', async () => {
  const tool = new NvidiaTool({ nowMs: Date.now, command: path.join(folder, 'no-tool') });
  expect(await tool.run(['-L'])).toEqual({ kind: 'absent' });
});
