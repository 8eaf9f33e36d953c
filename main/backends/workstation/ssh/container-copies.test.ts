import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../../test/harness/eventually.js';
import { ContainerCopies } from './container-copies.js';

const dayMs = 86_400_000;
const uids = ['running', 'ended', 'written', 'forgotten'].map((_, index) => `${index}`.repeat(16));
const [running = '', ended = '', written = '', forgotten = ''] = uids;

let folder: string;
let monotonicMs: number;
let copies: ContainerCopies;
let known: string[];

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-copies-'));
  monotonicMs = 0;
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  known = [];
  const isKnown = (uid: string) => Promise.resolve(known.includes(uid));
  copies = new ContainerCopies(folder, { log, nowMs: Date.now, monotonicMs: () => monotonicMs, isKnown });
  for (const uid of uids) make(uid);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Of a container that was started and wrote its last word 20 days ago. */
function make(uid: string): void {
  mkdirSync(path.join(folder, uid));
  for (const name of ['out', 'err', '.']) {
    const file = path.join(folder, uid, name);
    if (name !== '.') writeFileSync(file, '');
    const at = (Date.now() - 20 * dayMs) / 1000;
    utimesSync(file, at, at);
  }
}
const there = () => uids.filter((uid) => existsSync(path.join(folder, uid)));

test('the log of a container is kept from its end on, whenever it began', async () => {
  copies.ended(ended);
  writeFileSync(path.join(folder, written, 'out'), 'the last line, yesterday');
  copies.removeOld((uid) => uid === running);
  await eventually(there).toEqual([running, ended, written]);
});

test('however old, it is kept for as long as its job', async () => {
  known = [ended, written];
  copies.removeOld((uid) => uid === running);
  await eventually(there).toEqual([running, ended, written]);
});

test('is looked for again a day later, not before', async () => {
  copies.removeOld(() => true);
  monotonicMs = dayMs - 1;
  copies.removeOld(() => false);
  expect(there()).toEqual(uids);
  monotonicMs = dayMs;
  copies.removeOld((uid) => uid !== forgotten);
  await eventually(there).toEqual([running, ended, written]);
});
