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
    dataFolder: '/home/ann/.local/share/iris-desktop',
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
