/** Set-up on machines that lack something, and after it was cut off. Each script in a process of its own, in a copy of the scripts. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const execute = promisify(execFile);
const scripts = resolve(import.meta.dirname, '..', '..', 'scripts');

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'iris-set-up-'));
  await execute('cp', ['-R', scripts, join(folder, 'scripts')]);
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function runModule(code: string, env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const options = { cwd: folder, env: { ...process.env, IRIS_DESKTOP_CACHE: join(folder, 'cache'), ...env } };
  try {
    const run = await execute(process.execPath, ['--input-type=module', '-e', code], options);
    return { code: 0, out: run.stdout.trim(), err: run.stderr.trim() };
  } catch (error) {
    const { code: ended, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code: ended, out: stdout.trim(), err: stderr.trim() };
  }
}

describe('a Node', () => {
  const prepareUnder = (version: string) =>
    runModule(
      `Object.defineProperty(process.versions, 'node', { value: '${version}' });
       const { prepare } = await import('./scripts/prepare/index.mjs');
       // Nothing is wanted, and nothing is there: it gets as far as the first thing that is due.
       await prepare({ window: false, bundles: [] });`,
    );

  it.each(['18.20.0', '20.18.3', '21.7.0', '22.11.0'])('of version %s is refused', async (version) => {
    expect(await prepareUnder(version)).toEqual({
      code: 125,
      out: '',
      err: `Node 20.19 or 22.12, or newer than these, is needed; this is ${version}.`,
    });
  });

  it.each(['20.19.0', '20.20.2', '22.12.0', '23.0.0', '24.1.0'])('of version %s will do', async (version) => {
    const { code, err } = await prepareUnder(version);
    expect(code).toBe(125);
    expect(err.split('\n').at(-1)).toMatch(
      /^This checkout cannot be prepared: ENOENT: .*package-lock\.json'\.$/,
    );
  });
});

describe('packages of the system for who may not install them', () => {
  async function program(name: string, script: string): Promise<void> {
    await mkdir(join(folder, 'bin'), { recursive: true });
    await writeFile(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, 'bin', name), 0o755);
  }
  const typed = async (libc: string) => {
    await program('apt-get', 'exit 1');
    // Nothing is installed but the C library.
    await program('dpkg-query', `for last; do :; done; test "$last" = libc6 && printf '${libc}'; exit 0`);
    const { err } = await runModule(
      `process.getuid = () => 1000;
       const { prepareDebian } = await import('./scripts/prepare/debian.mjs');
       await prepareDebian(['window', 'display'], () => undefined);`,
      { PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}` },
    );
    return err.split('\n').map((line) => line.trim());
  };
  const ask = 'Packages of the system are missing. Please type:';
  const install = 'sudo apt-get update && sudo apt-get install -y';

  it.each([
    ['2.36-9+deb12u9', 'libgtk-3-0 libnss3 libasound2 libgbm1 libxss1 libatk-bridge2.0-0'],
    ['2.39-0ubuntu8', 'libgtk-3-0t64 libnss3 libasound2t64 libgbm1 libxss1 libatk-bridge2.0-0t64'],
    ['2.41-12', 'libgtk-3-0t64 libnss3 libasound2t64 libgbm1 libxss1 libatk-bridge2.0-0t64'],
  ])('are named where no lists were ever fetched, with glibc %s', async (libc, window) => {
    await program('apt-cache', 'exit 0');
    expect(await typed(libc)).toEqual([ask, `${install} ${window} fonts-dejavu-core xvfb xauth dbus`]);
  });

  it('are named as the lists have them, and what these lack is said', async () => {
    await program('apt-cache', `printf 'libnss3:\\n  Candidate: 2:3\\nxvfb:\\n  Candidate: 2\\n'`);
    const lines = await typed('2.41');
    expect(lines.slice(-1)).toEqual([`${install} libnss3 xvfb`]);
    expect(lines).toContain('This system has no package libgtk-3-0 or libgtk-3-0t64.');
  });
});

describe('a checkout that cannot be written to', () => {
  // Root may write everywhere, so the reason is given by hand.
  const prepareWith = (code: string) =>
    runModule(
      `import fs from 'node:fs';
       import { syncBuiltinESMExports } from 'node:module';
       fs.mkdirSync = (folder) => {
         throw Object.assign(new Error('${code}: reason, mkdir ' + folder), { code: '${code}', syscall: 'mkdir' });
       };
       syncBuiltinESMExports();
       const { prepare } = await import('./scripts/prepare/index.mjs');
       await prepare({ window: false, bundles: [] });`,
    );

  it.each([
    ['EACCES', ' Type the command once as the user whom ROOT belongs to.'],
    ['EROFS', ' Type the command once as the user whom ROOT belongs to.'],
    ['ENOSPC', ' Free some space there and start again.'],
    ['EIO', ''],
  ])('is told with the reason %s, without a stack', async (code, advice) => {
    const place = await realpath(folder);
    const reason = `This checkout cannot be prepared: ${code}: reason, mkdir ${place}/.runtime/prepare.lock.`;
    expect(await prepareWith(code)).toEqual({
      code: 125,
      out: '',
      err: `${reason}${advice.replace('ROOT', place)}`,
    });
  });
});

describe('after a set-up that was cut off', () => {
  it.each(['', '{"kind": "offi', 'null', '{}'])(
    'a note of the runtime that reads %j counts as none',
    async (text) => {
      await mkdir(join(folder, '.runtime'));
      await writeFile(join(folder, '.runtime', 'runtime.json'), text);
      expect(
        await runModule(
          `const { electronDue } = await import('./scripts/prepare/electron.mjs'); console.log(electronDue());`,
        ),
      ).toEqual({ code: 0, out: 'true', err: '' });
    },
  );

  it.each(['', '{"packages": ', '{}'])('packages whose record reads %j are installed again', async (text) => {
    const lock = { name: 'whole', version: '1.0.0', lockfileVersion: 3, packages: { '': {} } };
    for (const name of ['package.json', 'package-lock.json'])
      await writeFile(join(folder, name), JSON.stringify(lock));
    await mkdir(join(folder, 'node_modules'));
    await writeFile(join(folder, 'node_modules', '.package-lock.json'), text);
    const { code, out } = await runModule(
      `const { prepareDependencies } = await import('./scripts/prepare/dependencies.mjs');
       await prepareDependencies(() => undefined);
       console.log('installed');`,
    );
    expect([code, out]).toEqual([0, 'installed']);
  });

  it('what is left for a day is removed, and nothing else', async () => {
    const left = [
      'cache/electron/fetch-12',
      'cache/electron/electron-33.2.1-9461fc54dadc-r1.12',
      'cache/native/better-sqlite3-1.node.12',
      '.runtime/electron.12',
      '.runtime/native-12',
      'out/.next-main-12',
    ];
    const kept = [
      'cache/electron/electron-33.2.1-9461fc54dadc-r1',
      'cache/electron/electron-33.2.1-9461fc54dadc.zip',
      'cache/native/better-sqlite3-1.node',
      '.runtime/electron',
      '.runtime/runtime.json',
      'out/main',
    ];
    const young = ['cache/electron/fetch-13', '.runtime/native-13'];
    const old = new Date(Date.now() - 25 * 3_600_000);
    for (const name of [...left, ...kept, ...young]) {
      await mkdir(join(folder, name, 'inside'), { recursive: true });
      if (!young.includes(name)) await utimes(join(folder, name), old, old);
    }
    // What cannot even be looked at is no reason to stop.
    await symlink('fetch-14', join(folder, 'cache/electron/fetch-14'));
    const { code, err } = await runModule(
      `const { removeLeftovers } = await import('./scripts/lib/leftovers.mjs'); removeLeftovers();`,
    );
    expect([code, err]).toEqual([0, '']);
    const there = await Promise.all(
      ['cache/electron', 'cache/native', '.runtime', 'out'].map(async (place) =>
        (await readdir(join(folder, place))).map((name) => `${place}/${name}`),
      ),
    );
    expect(there.flat().sort()).toEqual([...kept, ...young, 'cache/electron/fetch-14'].sort());
  });
});

describe('a question at a terminal', () => {
  it.each([
    ['Enter', '\r', true],
    ['y', 'Y\r', true],
    ['n', 'n\r', false],
    ['Ctrl-C', '\u0003', false],
    ['Ctrl-D', '\u0004', false],
  ])('takes %s for its answer', async (_, typed, yes) => {
    const ended = await runModule(
      `import { PassThrough } from 'node:stream';
       import { saysYes } from './scripts/prepare/fallback-runtime.mjs';
       const input = new PassThrough();
       const asked = saysYes('Download it?', { input, output: process.stderr });
       input.write(${JSON.stringify(typed)});
       console.log(await asked);`,
    );
    expect(ended).toMatchObject({ code: 0, out: String(yes) });
  });
});
