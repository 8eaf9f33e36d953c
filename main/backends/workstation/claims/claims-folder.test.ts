import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claimOf as someClaim } from '../../../../test/harness/claims.js';
import type { Claim } from './claim-file.js';
import { ClaimsFolder, defaultClaimsFolder } from './claims-folder.js';
import { identityOf, surroundingsHere } from './liveness.js';

const card = 'GPU-a0000001-0000-4000-8000-000000000001';
const here = surroundingsHere();
let scratch: string;
let folder: string;
let ann: ClaimsFolder;
let ben: ClaimsFolder;

beforeEach(() => {
  scratch = mkdtempSync(path.join(os.tmpdir(), 'iris-claims-'));
  folder = path.join(scratch, 'claims');
  ann = new ClaimsFolder(folder, 'a'.repeat(16), here);
  ben = new ClaimsFolder(folder, 'b'.repeat(16), here);
  expect(ann.prepare()).toBeNull();
  expect(ben.prepare()).toBeNull();
});
afterEach(() => {
  rmSync(scratch, { recursive: true });
});

const claimOf = (attempt: string, more: Partial<Claim> = {}): Claim =>
  someClaim(attempt, {
    controller: (attempt.startsWith('a') ? 'a' : 'b').repeat(16),
    devices: [card],
    ...more,
  });

/** A process that has ended and been reaped: nobody lives under its number with its start. */
async function deadIdentity(): Promise<Claim['host']> {
  const child = spawn('sleep', ['300']);
  const identity = identityOf(child.pid ?? 0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return identity;
}

test('a folder that everybody may write to, in which nobody can remove what is not his', () => {
  expect(statSync(folder).mode & 0o7777).toBe(0o1777);
  chmodSync(folder, 0o755);
  expect(ann.prepare()).toBe(`${folder} has mode 755; it has to be 1777`);
  const link = path.join(scratch, 'link');
  symlinkSync(folder, link);
  expect(new ClaimsFolder(link, 'a'.repeat(16), here).prepare()).toBe(`${link} is no folder`);
});

test('what dead attempts of another controller left is removed, of the living and of cards nothing', async () => {
  const dead = await deadIdentity();
  const bare = { devices: [], supervisor: null };
  ben.putAttempt(claimOf('b1', { ...bare, host: dead }));
  ben.putAttempt(claimOf('b2', bare));
  ben.putAttempt(claimOf('b3', { ...bare, host: dead, container: true }));
  ben.putAttempt(claimOf('b4', { ...bare, host: dead, supervisor: identityOf(process.pid) }));
  ann.putAttempt(claimOf('a1', { ...bare, host: dead }));
  expect(ben.takeDevice(card, claimOf('b5', { host: dead, supervisor: null }))).toBeNull();
  ann.clear(ann.read());
  expect(readdirSync(folder).sort()).toEqual([
    'attempt-a1',
    'attempt-b2',
    'attempt-b3',
    'attempt-b4',
    `device-${card}-0`,
  ]);
});

test('who is first has the card until he gives it back; everybody can read that', () => {
  expect(ann.takeDevice(card, claimOf('a1'))).toBeNull();
  const [name = ''] = readdirSync(folder);
  expect(name).toBe(`device-${card}-0`);
  expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o644);
  expect(ben.takeDevice(card, claimOf('b1'))).toMatchObject({
    owner: os.userInfo().username,
    claim: { attempt: 'a1' },
  });
  // Again for the same attempt is nothing new.
  expect(ann.takeDevice(card, claimOf('a1'))).toBeNull();
  // Also another attempt of the same controller has to wait.
  expect(ann.takeDevice(card, claimOf('a2'))).toMatchObject({ claim: { attempt: 'a1' } });
  ann.release(claimOf('a1'));
  expect(ben.takeDevice(card, claimOf('b1'))).toBeNull();
  expect(readdirSync(folder)).toEqual([`device-${card}-0`]);
});

test('attempts of one controller share a card, of which others have nothing until the last has left', () => {
  expect(ann.takeDevice(card, claimOf('a1'), true)).toBeNull();
  expect(ann.takeDevice(card, claimOf('a2'), true)).toBeNull();
  expect(ben.takeDevice(card, claimOf('b1'), true)).toMatchObject({ own: false });
  ann.release(claimOf('a1'));
  expect(ben.takeDevice(card, claimOf('b1'), true)).toMatchObject({ claim: { attempt: 'a2' } });
  ann.release(claimOf('a2'));
  expect(ben.takeDevice(card, claimOf('b1'), true)).toBeNull();
  expect(ann.takeDevice(card, claimOf('a3'), true)).toMatchObject({ claim: { attempt: 'b1' } });
});

test('a claim that is renewed holds on', async () => {
  const dead = await deadIdentity();
  ann.takeDevice(card, claimOf('a1'));
  ann.putAttempt(claimOf('a1'));
  // Its controller has ended, its own process lives.
  ann.renew(claimOf('a1', { host: dead, supervisor: identityOf(process.pid) }));
  expect(ben.takeDevice(card, claimOf('b1'))).toMatchObject({ claim: { attempt: 'a1' } });
  ann.renew(claimOf('a1', { host: dead, supervisor: dead }));
  expect(ben.read().every((found) => found.dead)).toBe(true);
  expect(ben.takeDevice(card, claimOf('b1'))).toBeNull();
  expect(
    ben
      .read()
      .filter(({ dead: gone }) => !gone)
      .map(({ claim }) => claim.attempt),
  ).toEqual(['b1']);
});

test('an attempt that is started anew by the next controller has its card by a claim that lives', async () => {
  const dead = await deadIdentity();
  expect(ann.takeDevice(card, claimOf('a1', { host: dead }))).toBeNull();
  expect(ann.takeDevice(card, claimOf('a1'))).toBeNull();
  expect(ben.takeDevice(card, claimOf('b1'))).toMatchObject({ claim: { attempt: 'a1' } });
  // The next one before its attempt is started: what it finds of its own is renewed.
  expect(ann.takeDevice(card, claimOf('a1', { supervisor: identityOf(process.pid) }))).toBeNull();
  expect(ann.read().map(({ claim }) => claim.supervisor?.pid)).toEqual([process.pid]);
});

test('dead is only what is proved to be', async () => {
  const dead = await deadIdentity();
  const judged = (more: Partial<Claim>) => {
    rmSync(path.join(folder, 'attempt-a1'), { force: true });
    ann.putAttempt(claimOf('a1', more));
    return ben.read()[0]?.dead;
  };
  expect(judged({ host: dead })).toBe(true);
  expect(judged({ host: identityOf(process.pid) })).toBe(false);
  // The number is somebody else's by now.
  expect(judged({ host: { pid: process.pid, startTicks: 1 } })).toBe(true);
  expect(judged({ host: identityOf(process.pid), bootId: 'before' })).toBe(true);
  expect(judged({ host: dead, bootId: 'unknown' })).toBe(false);
  expect(judged({ host: dead, pidNamespace: 'pid:[1]' })).toBe(false);
  expect(judged({ host: dead, container: true })).toBe(false);
});

test('what a controller before left is swept away, of others nothing', () => {
  ann.takeDevice(card, claimOf('a1'));
  ann.putAttempt(claimOf('a1'));
  ann.putAttempt(claimOf('a2'));
  ben.putAttempt(claimOf('b1'));
  ann.sweep((attempt) => attempt === 'a2');
  expect(readdirSync(folder).sort()).toEqual(['attempt-a2', 'attempt-b1']);
});

describe('what somebody puts there to do harm', () => {
  const target = () => path.join(folder, `device-${card}-0`);
  const victim = () => path.join(scratch, 'victim');

  beforeEach(() => {
    writeFileSync(victim(), 'mine');
  });
  afterEach(() => {
    expect(readFileSync(victim(), 'utf8')).toBe('mine');
  });

  test.each<[string, () => void]>([
    ['a link to a file', () => symlinkSync(victim(), target())],
    [
      'a link to a proper claim',
      () => {
        writeFileSync(path.join(scratch, 'claim'), JSON.stringify(claimOf('b7')));
        symlinkSync(path.join(scratch, 'claim'), target());
      },
    ],
    ['a link to itself', () => symlinkSync(target(), target())],
    ['a pipe that nobody writes to', () => void execFileSync('mkfifo', [target()])],
    ['a folder', () => mkdirSync(target())],
    ['rubbish', () => writeFileSync(target(), '{"version":1,')],
    [
      'a claim with a name that is a path',
      () => writeFileSync(target(), JSON.stringify({ ...claimOf('b7'), attempt: '../../x' })),
    ],
    [
      'a claim of a card that it does not name',
      () => writeFileSync(target(), JSON.stringify(claimOf('b7', { devices: ['GPU-other'] }))),
    ],
    ['a huge file', () => writeFileSync(target(), 'x'.repeat(5_000_000))],
    ['the last number there is', () => writeFileSync(path.join(folder, `device-${card}-99998`), 'rubbish')],
    ['nothing at all in it', () => writeFileSync(target(), '')],
  ])('%s keeps nobody from the card', (_, put) => {
    put();
    expect(ann.takeDevice(card, claimOf('a1'))).toBeNull();
    expect(ben.takeDevice(card, claimOf('b1'))).toMatchObject({ claim: { attempt: 'a1' } });
    ann.release(claimOf('a1'));
    expect(ben.takeDevice(card, claimOf('b1'))).toBeNull();
  });

  test('a heap of all of it under numbers of any form keeps nobody from the card, and stays what it is', async () => {
    const dead = await deadIdentity();
    let state = 20261130;
    const random = (below: number): number => {
      state = (state * 1664525 + 1013904223) % 2 ** 32;
      return Math.floor((state / 2 ** 32) * below);
    };
    const good = JSON.stringify(claimOf('b7'));
    const shapes: readonly unknown[] = [null, [], 7, 'text', { ...claimOf('b7'), more: 1 }, [claimOf('b7')]];
    const kinds: readonly ((file: string) => void)[] = [
      (file) => writeFileSync(file, 'x'.repeat(1_000_000)),
      (file) => writeFileSync(file, Buffer.alloc(64)),
      (file) => writeFileSync(file, good.slice(0, random(good.length))),
      (file) => writeFileSync(file, good.replace('somebody', 'some\0body')),
      (file) => writeFileSync(file, JSON.stringify(shapes[random(shapes.length)])),
      (file) => writeFileSync(file, JSON.stringify(claimOf('b8', { host: dead, supervisor: dead }))),
      (file) => writeFileSync(file, JSON.stringify(claimOf('b9', { bootId: 'before' }))),
      (file) => writeFileSync(file, JSON.stringify(claimOf('b9', { devices: [] }))),
      (file) => mkdirSync(file),
      (file) => symlinkSync(victim(), file),
      (file) => symlinkSync('/dev/zero', file),
    ];
    const numbers = [
      '0',
      '1',
      '2',
      '3',
      '7',
      '00',
      '01',
      '99997',
      '99998',
      '99999',
      '100000',
      '-1',
      '1.5',
      '',
    ];
    for (let round = 0; round < 60; round += 1) {
      rmSync(folder, { recursive: true });
      expect(ann.prepare()).toBeNull();
      for (const number of numbers)
        if (random(2) === 0) kinds[random(kinds.length)]?.(path.join(folder, `device-${card}-${number}`));
      expect(ann.takeDevice(card, claimOf('a1'))).toBeNull();
      expect(ben.takeDevice(card, claimOf('b1'))).toMatchObject({ claim: { attempt: 'a1' } });
      expect(ann.takeDevice(card, claimOf('a2'))).toMatchObject({ claim: { attempt: 'a1' } });
      const rest = readdirSync(folder).length;
      ann.release(claimOf('a1'));
      expect(readdirSync(folder)).toHaveLength(rest - 1);
      expect(ben.takeDevice(card, claimOf('b1'))).toBeNull();
      expect(ben.read().filter((found) => !found.dead && found.claim.devices.includes(card))).toHaveLength(1);
    }
  });

  test('a link where a new file is written first is not followed', () => {
    symlinkSync(victim(), path.join(folder, `.new-${process.pid}-${'a'.repeat(16)}-attempt-a1`));
    ann.putAttempt(claimOf('a1'));
    expect(ann.read()).toMatchObject([{ claim: { attempt: 'a1' } }]);
  });

  test('a device whose name is a path stays in the folder', () => {
    const name = 'MIG-GPU-1/3/../../../0';
    expect(ann.takeDevice(name, claimOf('a1', { devices: [name] }))).toBeNull();
    expect(readdirSync(scratch).sort()).toEqual(['claims', 'victim']);
    expect(ben.takeDevice(name, claimOf('b1', { devices: [name] }))).toMatchObject({
      claim: { attempt: 'a1' },
    });
  });
});

test('where claims are: the system, another folder, nowhere', () => {
  expect(defaultClaimsFolder({})).toBe('/var/tmp/iris-claims');
  expect(defaultClaimsFolder({ IRIS_DESKTOP_CLAIMS: scratch })).toBe(scratch);
  expect(defaultClaimsFolder({ IRIS_DESKTOP_CLAIMS: 'none' })).toBeNull();
  expect(existsSync(folder)).toBe(true);
});
