import { expect, test } from 'vitest';
import { confine } from './confinement.js';

const see = (target: string) =>
  confine({
    spec: {
      workingDirectory: '/home/ann',
      mounts: [{ source: '/data', target, readOnly: false }],
      containerProfile: 'DEFAULT',
    },
    realPath: (path) => Promise.resolve(path),
    ownFolders: ['/home/ann/.local/share/iris-desktop'],
    engineSockets: ['/run/docker.sock'],
  });

test.each([
  '/etc',
  '/etc/',
  '/./etc',
  '//etc',
  '/etc/.',
  '/usr//',
  '/iris/work',
  '/./iris',
  '//proc/x',
  '/dev/./shm',
])('a folder cannot be seen as %s, however that is written', async (target) => {
  const refused = await see(target);
  expect(refused).toMatchObject({ ok: false, cause: { code: 'FOLDER_NOT_PERMITTED' } });
});

test('any other target is taken as the Engine takes it, and our own data is covered', async () => {
  expect(await see('//data/./set/')).toEqual({
    ok: true,
    binds: [
      { source: '/home/ann', target: '/home/ann', readOnly: false },
      { source: '/data', target: '/data/set', readOnly: false },
    ],
    hidden: ['/home/ann/.local/share/iris-desktop'],
  });
});

test('sockets that lie outside of our data are covered where their folder is seen, and are not to be seen themselves', async () => {
  const sockets = ['/tmp/iris-1000-ab', '/tmp/iris-desktop-1000-cd'];
  const from = (source: string) =>
    confine({
      spec: {
        workingDirectory: '/home/ann/run',
        mounts: [{ source, target: '/scratch', readOnly: false }],
        containerProfile: 'DEFAULT',
      },
      realPath: (path) => Promise.resolve(path),
      ownFolders: ['/home/ann/.local/share/iris-desktop', ...sockets],
      engineSockets: [],
    });
  expect(await from('/tmp')).toMatchObject({
    ok: true,
    hidden: ['/scratch/iris-1000-ab', '/scratch/iris-desktop-1000-cd'],
  });
  const refused = await from('/tmp/iris-1000-ab');
  expect(refused).toMatchObject({ ok: false, cause: { code: 'FOLDER_NOT_PERMITTED' } });
  expect(refused.ok ? '' : refused.cause.message).toContain('(/tmp/iris-1000-ab)');
});
