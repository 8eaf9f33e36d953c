/** Names and modes of the data folder. */
import { execFileSync, spawnSync } from 'node:child_process';
import fs, { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openConnection } from '../../main/cli/connection.js';
import { runHeadless } from '../../main/headless-host.js';
import { makeFolder, prepareHome, resolveHome } from '../../main/home.js';
import { builtModule } from '../../main/modules.js';
import { connectSocket } from '../../main/server/socket-client.js';
import { foreignSocketFolder } from '../../main/server/socket-folder.js';
import { acquireOwnerLock } from '../../main/store/owner-lock.js';

const fixed = { machineId: '0123456789abcdef', homeFolder: '/home/ada', env: {} };

test.each([
  ['linux', {}, '/home/ada/.local/share/iris-desktop'],
  ['linux', { XDG_DATA_HOME: '/data' }, '/data/iris-desktop'],
  ['linux', { XDG_DATA_HOME: 'relative' }, '/home/ada/.local/share/iris-desktop'],
  ['darwin', {}, '/home/ada/Library/Application Support/Iris Desktop'],
] as const)('default on %s with %o', (platform, env, root) => {
  expect(resolveHome({ ...fixed, platform, env }).root).toBe(root);
});

test('--home wins over IRIS_DESKTOP_HOME, and the folder names the machine', () => {
  const env = { IRIS_DESKTOP_HOME: '/from/env' };
  expect(resolveHome({ ...fixed, platform: 'linux', env }).root).toBe('/from/env');
  const home = resolveHome({ ...fixed, platform: 'linux', env, flag: '/from/flag' });
  expect(home.folder).toBe('/from/flag/machine-0123456789ab');
  expect(home.database).toBe('/from/flag/machine-0123456789ab/iris.db');
});

test('a socket path the system would cut goes to a short folder of ours, the same each time', () => {
  const long = `/tmp/${'x'.repeat(90)}`;
  const home = resolveHome({ ...fixed, platform: 'linux', flag: long });
  expect(Buffer.byteLength(home.socket)).toBeLessThanOrEqual(100);
  expect(home.socket.startsWith('/tmp/iris-desktop-')).toBe(true);
  expect(resolveHome({ ...fixed, platform: 'linux', flag: long }).socket).toBe(home.socket);
  expect(resolveHome({ ...fixed, platform: 'linux', flag: `${long}y` }).socket).not.toBe(home.socket);
});

test('folders are for their owner only', ({ onTestFinished }) => {
  const root = mkdtempSync(path.join(os.tmpdir(), 'iris-home-'));
  onTestFinished(() => {
    rmSync(root, { recursive: true });
  });
  const home = resolveHome({ flag: root });
  prepareHome(home);
  expect([home.folder, home.attempts, home.logs].map((folder) => statSync(folder).mode & 0o777)).toEqual([
    0o700, 0o700, 0o700,
  ]);
});

test('a folder that cannot be made is refused with its path', () => {
  expect(() => prepareHome(resolveHome({ flag: '/dev/null/x' }))).toThrow(/\/dev\/null\/x/);
});

function temporary(): string {
  const root = mkdtempSync(path.join(os.tmpdir(), 'iris-home-'));
  onTestFinished(() => {
    rmSync(root, { recursive: true });
  });
  return root;
}

// As automatic mounts have it: the parent is there, and making a folder in it says that something is not.
test.skipIf(process.platform !== 'linux')(
  'a folder in a place that lets none be made is refused, and not tried for ever',
  () => {
    // The command itself: what never ends cannot be left in the process of a test.
    const words = [builtModule('cli'), '--home', '/proc/iris', 'job', 'run', '--', 'true'];
    const run = spawnSync(process.execPath, words, {
      encoding: 'utf8',
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    expect(run.signal).toBeNull();
    expect(run.status).toBe(125);
    expect(run.stderr).toMatch(/The data folder \/proc\/iris\/machine-\w+ cannot be used: ENOENT/);
  },
);

test('a folder that a broken link stands for is refused with what it leads to', () => {
  const link = path.join(temporary(), 'link');
  symlinkSync('/nowhere/at/all', link);
  expect(() => prepareHome(resolveHome({ flag: link }))).toThrow(/ENOENT.*link/);
});

// A parent that nobody can write to may be all the system speaks of.
test('a folder that is there will do, whatever the system says of making it', () => {
  const mkdir = vi.spyOn(fs, 'mkdirSync').mockImplementation((folder) => {
    throw Object.assign(new Error(`EROFS: read-only file system, mkdir ${String(folder)}`), {
      code: 'EROFS',
    });
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    mkdir.mockRestore();
    syncBuiltinESMExports();
  });
  makeFolder(os.tmpdir());
  expect(() => {
    makeFolder(path.join(os.tmpdir(), 'iris-none', 'x'));
  }).toThrow(/EROFS/);
});

test('parents are made too, for their owner only', () => {
  const root = path.join(temporary(), 'a', 'b');
  prepareHome(resolveHome({ flag: root }));
  expect([root, path.dirname(root)].map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700]);
});

test.each([
  ['--home=~/x', { flag: '~/x' }, '/home/ada/x'],
  ['IRIS_DESKTOP_HOME=~', { env: { IRIS_DESKTOP_HOME: '~' } }, '/home/ada'],
  ['another name that begins so', { flag: '/a/~x' }, '/a/~x'],
])('the home folder is put in where no shell does: %s', (_what, input, root) => {
  expect(resolveHome({ ...fixed, platform: 'linux', ...input }).root).toBe(root);
});

test('a long folder has one socket, whatever the caller has in the environment and by whatever link it is named', () => {
  const root = temporary();
  const long = path.join(root, 'x'.repeat(90));
  mkdirSync(long);
  symlinkSync(long, path.join(root, 'y'.repeat(95)));
  const socketOf = (flag: string, env = {}) => resolveHome({ ...fixed, platform: 'linux', flag, env }).socket;
  expect(socketOf(long, { XDG_RUNTIME_DIR: '/run/user/7' })).toBe(socketOf(long));
  expect(socketOf(path.join(root, 'y'.repeat(95)))).toBe(socketOf(long));
  // A link may also be what makes the name short, or long.
  symlinkSync(long, path.join(root, 'z'));
  expect(socketOf(path.join(root, 'z'))).toBe(socketOf(long));
  const short = path.join(root, 'short');
  symlinkSync(short, path.join(root, 'w'.repeat(90)));
  mkdirSync(short);
  expect(socketOf(path.join(root, 'w'.repeat(90)))).toBe(
    path.join(realpathSync(short), 'machine-0123456789ab', 'iris.sock'),
  );
  // Before it is made and after.
  const inner = path.join(root, 'y'.repeat(95), 'new');
  const before = socketOf(inner);
  mkdirSync(inner);
  expect(socketOf(inner)).toBe(before);
});

test('nobody speaks to a listener in a folder that somebody else has made', async () => {
  const folder = path.join(temporary(), 'iris');
  mkdirSync(folder);
  const socket = path.join(folder, 'iris.sock');
  let heard = 0;
  const server = net.createServer((client) => {
    heard += 1;
    client.destroy();
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => {
    server.close();
  });
  // Whoever runs this test made the folder, and seems to be another user.
  const own = process.getuid?.() ?? 0;
  vi.spyOn(process, 'getuid').mockReturnValue(own + 1);
  const refused = { refusal: { code: 'FOLDER_UNUSABLE' } };
  await expect(openConnection(socket)).rejects.toMatchObject(refused);
  await expect(
    connectSocket(
      socket,
      () => undefined,
      () => undefined,
    ),
  ).rejects.toMatchObject(refused);
  expect(heard).toBe(0);
});

test('root speaks to the host of another user, but not where anybody could have made its folder', () => {
  const parent = temporary();
  const folder = path.join(parent, 'iris');
  mkdirSync(folder);
  const asked = (asks: 'connects' | 'listens') => foreignSocketFolder(folder, asks, 0);
  // As root everything here is root's own.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync('chown', ['65534', folder]);
  expect(asked('connects')).toBeNull();
  expect(asked('listens')).toMatchObject({
    code: 'FOLDER_UNUSABLE',
    message: `The socket folder ${folder} belongs to somebody else: name another data folder with --home.`,
  });
  chmodSync(parent, 0o1777);
  expect(asked('connects')?.code).toBe('FOLDER_UNUSABLE');
  expect(asked('connects')?.message).toContain('have an administrator look at it and remove it');
});

test('a host that finds another in the folder says so by its code', async () => {
  const home = resolveHome({ flag: temporary() });
  prepareHome(home);
  const owner = { bootId: 'b', pid: 7, startTime: '1', host: 'headless', version: '9.9.9' } as const;
  const lock = acquireOwnerLock(home.folder, owner);
  try {
    const failed = vi.fn();
    expect(await runHeadless({ home: home.root, failed })).toBe(125);
    const message = expect.stringContaining(
      'is in use by the headless host with process id 7 (version 9.9.9)',
    );
    expect(failed.mock.calls).toEqual([[{ code: 'FOLDER_OWNED', message, fields: [] }]]);
  } finally {
    lock.release();
  }
});
