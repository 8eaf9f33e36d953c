/** Names and modes of the data folder. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { prepareHome, resolveHome } from '../../main/home.js';

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
