/** What a start reads of Node and of libraries, beyond its own code: each is a part of the time until the window can be used. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';

const out = path.join(import.meta.dirname, '..', '..', 'out');

test('the controller starts without what only some Engine or peer needs', () => {
  const code = `
    const before = new Set(process.moduleLoadList);
    require(process.argv[1]);
    console.log(JSON.stringify(process.moduleLoadList.filter((name) => !before.has(name))));`;
  const run = spawnSync(process.execPath, ['-e', code, path.join(out, 'main', 'controller.cjs')], {
    encoding: 'utf8',
  });
  expect({ status: run.status, err: run.stderr }).toEqual({ status: 0, err: '' });
  const read = JSON.parse(run.stdout) as string[];
  expect(read).toContain('NativeModule child_process');
  for (const late of ['http', 'https', 'http2', 'zlib', 'tls', 'perf_hooks'])
    expect(read).not.toContain(`NativeModule ${late}`);
});

test('the desktop does not have all code compiled twice at its start', () => {
  const home = mkdtempSync(path.join(os.tmpdir(), 'iris-start-'));
  try {
    for (const file of ['desktop.cjs', 'controller-worker.cjs']) {
      const code = `
        const { parentPort, workerData } = require('node:worker_threads');
        const flags = [];
        require('node:v8').setFlagsFromString = (flag) => flags.push(flag);
        // The flags come first; nothing more of it shall run here.
        require('node:vm').Script = class { constructor() { throw new Error('enough'); } };
        try { require(workerData.file); } catch (error) { if (error.message !== 'enough') throw error; }
        parentPort.postMessage(flags);`;
      const run = spawnSync(
        process.execPath,
        [
          '-e',
          `new (require('node:worker_threads').Worker)(process.argv[1], {
             eval: true, workerData: { file: process.argv[2], home: { folder: '' } },
           }).once('message', (flags) => { console.log(JSON.stringify(flags)); process.exit(); });`,
          code,
          path.join(out, 'main', file),
        ],
        { encoding: 'utf8', env: { ...process.env, IRIS_DESKTOP_HOME: home } },
      );
      const flags = JSON.parse(run.stdout) as string[];
      expect(flags).toContain('--min-semi-space-size=16');
      expect(flags.filter((flag) => flag.includes('sparkplug'))).toEqual([]);
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test('the first script of the window makes no schemas', () => {
  const assets = path.join(out, 'renderer', 'assets');
  const first = readdirSync(assets).filter((name) => /^index-.*\.js$/.test(name));
  expect(first).toHaveLength(1);
  // The mark zod leaves in whatever holds it, as the other scripts show.
  const holdsZod = (name: string) =>
    readFileSync(path.join(assets, name), 'utf8').includes('__zod_globalConfig');
  expect(first.filter(holdsZod)).toEqual([]);
  expect(readdirSync(assets).filter((name) => name.endsWith('.js') && holdsZod(name))).not.toEqual([]);
});
