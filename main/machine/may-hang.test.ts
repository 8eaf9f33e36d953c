import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mayHang, mountsOf } from './may-hang.js';

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'iris-hang-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

const line = (point: string, type: string) => `36 35 98:0 / ${point} rw,noatime shared:1 - ${type} from rw\n`;
/** A table with the folder on a disk here, and `net` and `here` in it mounted. */
const table = () =>
  mountsOf(
    `${line('/', 'overlay')}${line(path.join(folder, 'net'), 'nfs4')}${line(path.join(folder, 'here'), 'ext4')}`,
  );
const hangs = (name: string) => mayHang(path.join(folder, name), table());

test('what lies below a mount that needs a server may', () => {
  expect(hangs('net')).toBe(true);
  expect(hangs('net/lies/deep')).toBe(true);
  expect(hangs('network')).toBe(false);
  expect(hangs('here/any')).toBe(false);
  expect(hangs('missing/file')).toBe(false);
  expect(mayHang('/', table())).toBe(false);
});

test('links are followed, also those that go nowhere or round', () => {
  for (const name of ['net', 'here', 'plain']) mkdirSync(path.join(folder, name));
  symlinkSync(path.join(folder, 'net', 'x'), path.join(folder, 'absolute'));
  symlinkSync('../net', path.join(folder, 'plain', 'relative'));
  symlinkSync('../plain/./relative/..', path.join(folder, 'here', 'two'));
  symlinkSync('../here', path.join(folder, 'plain', 'well'));
  symlinkSync('round', path.join(folder, 'round'));
  symlinkSync('/nowhere/at/all', path.join(folder, 'lost'));
  for (const name of ['absolute', 'absolute/y', 'plain/relative', 'here/two']) expect(hangs(name)).toBe(true);
  for (const name of ['plain', 'plain/well', 'round', 'lost']) expect(hangs(name)).toBe(false);
});

test('of several at one place the last counts, and the names of places are read as they are written', () => {
  const text = `${line('/', 'ext4')}${line('/a\\040b', 'ext4')}${line('/a\\040b', 'autofs')}${line('/\\303\\244', 'fuse.sshfs')}`;
  expect(mayHang('/a b/c', mountsOf(text))).toBe(true);
  expect(mayHang('/ä', mountsOf(text))).toBe(true);
});

test('without a table nothing is known, so nothing is said to', () => {
  expect(mayHang(path.join(folder, 'net'), mountsOf(''))).toBe(false);
});
