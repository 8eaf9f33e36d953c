/** Folders on which nothing can be kept: refused at the start, with the folder, the cause and what to do. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startHost } from '../../main/controller/host.js';
import { resolveHome } from '../../main/home.js';
import { over, refusalOf, shell, submit } from '../harness/host-jobs.js';
import { makeHomeRoot, startHostProcess } from '../harness/host-process.js';

let root: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ root, remove } = await makeHomeRoot());
});
afterEach(() => remove());

/** A start that must fail: exit code and what it said. */
async function refusedStart(): Promise<{ readonly code: number | null; readonly text: string }> {
  const entry = path.resolve(import.meta.dirname, '../../out/main/headless.js');
  const child = spawn(process.execPath, [entry, '--home', root], { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text };
}

/** One host's life with one job on the folder, so that everything is there. */
async function used(): Promise<void> {
  const host = await startHostProcess(root);
  const client = await host.connect();
  await over(client, await submit(client, shell('true')));
  client.close();
  await host.shutdown();
}

function missing(): string | null {
  if (process.platform !== 'linux') return 'mounts are made as on Linux';
  if (process.getuid?.() !== 0) return 'mounting needs root';
  return null;
}

const reason = missing();
if (reason !== null && process.env['CI'] === 'true') throw new Error(reason);

describe.skipIf(reason !== null)(
  `at the start of a host${reason === null ? '' : ` (left out: ${reason})`}`,
  () => {
    const mounted: string[] = [];
    const mount = (...args: readonly string[]) => execFileSync('mount', args);
    afterEach(() => {
      for (const point of mounted.splice(0).reverse()) execFileSync('umount', [point]);
    });

    const small = () => {
      mount('-t', 'tmpfs', '-o', 'size=8m,mode=0700', 'tmpfs', root);
      mounted.push(root);
    };
    /** A permission would not bind root; a mount does. */
    const readOnly = (target: string) => {
      mount('--bind', target, target);
      mounted.push(target);
      mount('-o', 'remount,ro,bind', target);
    };
    const filler = () => path.join(root, 'filler');
    const fill = () => {
      const file = openSync(filler(), 'a');
      try {
        for (;;) writeSync(file, Buffer.alloc(4096, 'x'));
      } catch {
        // Full now, which is what was wanted.
      } finally {
        closeSync(file);
      }
    };

    test.each([
      ['new', () => Promise.resolve()],
      ['used before', used],
    ])('a read-only folder, %s', async (_name, prepare) => {
      await prepare();
      readOnly(root);
      const { code, text } = await refusedStart();
      expect(code).toBe(125);
      expect(text).toContain(`The data folder ${resolveHome({ flag: root }).folder} cannot be used: EROFS`);
      expect(text).toContain('Name another one with --home or IRIS_DESKTOP_HOME.');
      expect(text).not.toMatch(/\n\s+at /);
    });

    test('a read-only database in a folder that is none', async () => {
      await used();
      const { database } = resolveHome({ flag: root });
      readOnly(database);
      const { code, text } = await refusedStart();
      expect(code).toBe(125);
      expect(text).toContain(`The database ${database} cannot be created or opened: EROFS`);
      expect(text).toContain('Check its permissions and how the disk is mounted');
      expect(text).toContain('--home');
    });

    test.each([
      ['new', () => Promise.resolve()],
      ['used before', used],
    ])('a full disk, the folder %s; once there is room the same start succeeds', async (_name, prepare) => {
      small();
      await prepare();
      fill();
      const { code, text } = await refusedStart();
      expect(code).toBe(125);
      expect(text).toContain(root);
      expect(text).toMatch(/ENOSPC|SQLITE_FULL|SQLITE_IOERR/);
      expect(text).toMatch(/[Ff]ree some space there/);
      expect(text).not.toMatch(/\n\s+at /);
      rmSync(filler());
      await used();
    });
  },
);

test('a folder on a network file system is refused with a local one proposed, before anything is made in it', async () => {
  const home = resolveHome({ flag: path.join(root, 'not yet there') });
  const asked: string[] = [];
  const refused = await refusalOf(
    startHost({
      home,
      hostKind: 'headless',
      appVersion: '0.0.0-test',
      runtime: 'a test',
      networkFileSystem: (target) => {
        asked.push(target);
        return 'NFS';
      },
    }),
  );
  expect(asked).toEqual([home.root]);
  expect(refused.code).toBe('FOLDER_UNUSABLE');
  expect(refused.message).toContain(`The data folder ${home.root} is on a network file system (NFS)`);
  expect(refused.message).toMatch(
    /Name a local one, such as \/var\/tmp\/iris-desktop-\S+, with --home or IRIS_DESKTOP_HOME\./,
  );
  expect(() => execFileSync('ls', [home.root], { stdio: 'ignore' })).toThrow();
});
