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
  for (const late of ['crypto', 'http', 'https', 'http2', 'zlib', 'tls', 'perf_hooks', 'v8'])
    expect(read).not.toContain(`NativeModule ${late}`);
});

/** The first lines of a part of the desktop as far as its own code, in a thread, with no Electron. */
function firstLines(file: string, home: string): { flags: string[]; read: string[] } {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const flags = [];
    require('node:v8').setFlagsFromString = (flag) => flags.push(flag);
    require('node:vm').Script = class { constructor() { throw new Error('enough'); } };
    const before = new Set(process.moduleLoadList);
    try { require(workerData.file); } catch (error) { if (error.message !== 'enough') throw error; }
    parentPort.postMessage({ flags, read: process.moduleLoadList.filter((name) => !before.has(name)) });`;
  const run = spawnSync(
    process.execPath,
    [
      '-e',
      `new (require('node:worker_threads').Worker)(process.argv[1], {
         eval: true, workerData: { file: process.argv[2], home: { folder: '' } },
       }).once('message', (seen) => { console.log(JSON.stringify(seen)); process.exit(); });`,
      code,
      path.join(out, 'main', file),
    ],
    { encoding: 'utf8', env: { ...process.env, IRIS_DESKTOP_HOME: home } },
  );
  expect({ status: run.status, err: run.stderr }).toEqual({ status: 0, err: '' });
  return JSON.parse(run.stdout) as { flags: string[]; read: string[] };
}

test('the desktop starts without machine code of everything and without cryptography', () => {
  const home = mkdtempSync(path.join(os.tmpdir(), 'iris-start-'));
  try {
    const entry = firstLines('desktop.cjs', home);
    expect(entry.flags).toContain('--min-semi-space-size=16');
    expect(entry.flags.filter((flag) => flag.includes('sparkplug'))).toEqual([]);
    expect(entry.read).not.toContain('NativeModule crypto');
    // The entry has set them for all threads.
    expect(firstLines('controller-worker.cjs', home).flags).toEqual([]);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test('the controller makes hardly a schema before it is asked for something', () => {
  const code = `
    const define = Object.defineProperty;
    let made = 0;
    Object.defineProperty = (object, key, how) => {
      if (key === '_zod') made += 1;
      return define(object, key, how);
    };
    require(process.argv[1]);
    console.log(made);`;
  const run = spawnSync(process.execPath, ['-e', code, path.join(out, 'main', 'controller.cjs')], {
    encoding: 'utf8',
  });
  // Of several hundred. More than none, or what is counted here is not what zod does.
  expect(Number(run.stdout)).toBeGreaterThan(0);
  expect(Number(run.stdout)).toBeLessThan(20);
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
