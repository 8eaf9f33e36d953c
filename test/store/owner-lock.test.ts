/** One owner a data folder, with real processes. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { RefusalError } from '../../core/contract/errors.js';
import { refusalSchema } from '../../core/contract/error-schemas.js';
import { acquireOwnerLock, readOwner } from '../../main/store/owner-lock.js';
import type { OwnerInfo } from '../../main/store/types.js';
import { makeFolder, type Folder } from './builders.js';
import { compile, type Compiled } from './compile.js';

type Holder = ChildProcessByStdio<Writable, Readable, null>;

const me: OwnerInfo = {
  bootId: 'this-boot',
  pid: process.pid,
  startTime: '99',
  host: 'desktop',
  version: '0.2.0',
};
let programs: Compiled;
let folder: Folder;
let holders: { holder: Holder; ended: Promise<unknown> }[] = [];

beforeAll(async () => {
  programs = await compile({ 'lock-holder': 'test/store/children/lock-holder.ts' });
});
afterAll(() => {
  programs.remove();
});
beforeEach(() => {
  folder = makeFolder();
});
afterEach(async () => {
  for (const { holder, ended } of holders) {
    holder.kill('SIGKILL');
    await ended;
  }
  holders = [];
  folder.remove();
});

/** Another process that tries to take the folder, with what it said. */
async function anotherProcess(): Promise<{ holder: Holder; said: string }> {
  const holder = spawn(process.execPath, [programs.file('lock-holder'), folder.path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  holders.push({ holder, ended: once(holder, 'exit') });
  const [said] = (await once(holder.stdout, 'data')) as [Buffer];
  return { holder, said: said.toString('utf8').trim() };
}

function refusedHere() {
  try {
    acquireOwnerLock(folder.path, me).release();
  } catch (error) {
    if (error instanceof RefusalError) return error.refusal;
    throw error;
  }
  return null;
}

it('refuses a second owner, naming the first', async () => {
  const { holder, said } = await anotherProcess();
  expect(said).toBe('held');
  const refused = refusedHere();
  expect(refused?.code).toBe('FOLDER_OWNED');
  expect(refused?.message).toContain(folder.path);
  expect(refused?.message).toContain(`headless host with process id ${holder.pid}`);
  expect(refused?.message).toContain('version 0.1.0');

  const third = await anotherProcess();
  expect(refusalSchema.parse(JSON.parse(third.said)).code).toBe('FOLDER_OWNED');
});

it('is free again once its owner lets go', async () => {
  const { holder } = await anotherProcess();
  holder.stdin.end();
  await once(holder, 'exit');
  expect(readOwner(folder.path)).toBeNull();
  expect(refusedHere()).toBeNull();
});

it('is free at once when its owner was killed, whatever the owner file says', async () => {
  const { holder } = await anotherProcess();
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  expect(readOwner(folder.path)?.pid).toBe(holder.pid);
  const lock = acquireOwnerLock(folder.path, me);
  expect(readOwner(folder.path)).toEqual(me);
  lock.release();
});

it('is held against its own process, too, and let go once', () => {
  const lock = acquireOwnerLock(folder.path, me);
  expect(refusedHere()?.code).toBe('FOLDER_OWNED');
  expect(refusedHere()?.code).toBe('FOLDER_OWNED');
  lock.release();
  lock.release();
  const again = acquireOwnerLock(folder.path, me);
  expect(refusedHere()?.message).toContain(`desktop host with process id ${process.pid}`);
  again.release();
});

it('stays held in this process against others after a refused try here', async () => {
  const lock = acquireOwnerLock(folder.path, me);
  // Closing a handle on a locked file drops a process's locks on POSIX systems, unless care is taken.
  expect(refusedHere()?.code).toBe('FOLDER_OWNED');
  const { said } = await anotherProcess();
  expect(refusalSchema.parse(JSON.parse(said)).code).toBe('FOLDER_OWNED');
  lock.release();
});

it('is readable by its owner only', () => {
  const lock = acquireOwnerLock(folder.path, me);
  for (const name of ['lock.db', 'owner.json'])
    expect(statSync(join(folder.path, name)).mode & 0o777).toBe(0o600);
  lock.release();
  expect(existsSync(join(folder.path, 'owner.json'))).toBe(false);
});

it('lives with an owner file that cannot be read', async () => {
  await anotherProcess();
  writeFileSync(join(folder.path, 'owner.json'), '{"half');
  expect(readOwner(folder.path)).toBeNull();
  expect(refusedHere()?.message).toContain('in use by another host');
});

it('refuses a folder that is not there', () => {
  folder.remove();
  expect(refusedHere()).toMatchObject({ code: 'FOLDER_UNUSABLE' });
});
