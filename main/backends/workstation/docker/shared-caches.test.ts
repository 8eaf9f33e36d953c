/** The caches of one machine: measured and emptied by the script itself, and only while no container has them. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeEngine } from '../../../../test/harness/fake-engine.js';
import { hangingFolder, hangingObstacle } from '../../../../test/harness/hanging-folder.js';
import { cacheNames } from '../../../../core/contract/caches.js';
import { readCaches, runCachesScriptHere, type ScriptEnd } from './caches-script.js';
import { Engine } from './engine.js';
import { SharedCaches, type SharedCachesOptions } from './shared-caches.js';

const owner = '0123456789abcdef';
const kib = 1024;
let folder: string;
let caches: string;
let engine: FakeEngine;
const closers: (() => unknown)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-caches-'));
  caches = path.join(folder, 'caches');
  engine = await FakeEngine.start();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
});

function put(file: string, bytes: number): void {
  const whole = path.join(caches, file);
  mkdirSync(path.dirname(whole), { recursive: true });
  writeFileSync(whole, Buffer.alloc(bytes, 1));
}

function opened(more: Partial<SharedCachesOptions> = {}): SharedCaches {
  const asked = new Engine({
    find: () => ({ ok: true, endpoint: { kind: 'socket', path: engine.socket }, from: 'the test' }),
    onState: () => undefined,
  });
  const nothing = () => undefined;
  const shared = new SharedCaches({
    engine: asked,
    workerId: 'ws-1',
    owner,
    folder: caches,
    run: runCachesScriptHere,
    live: () => [],
    nowMs: () => 1000,
    log: { info: nothing, warn: nothing, error: nothing },
    changed: nothing,
    ...more,
  });
  closers.push(() => {
    shared.close();
    asked.close();
  });
  return shared;
}

const stubbed = (...ends: ScriptEnd[]) => {
  const asked: string[][] = [];
  const run: SharedCachesOptions['run'] = (_, args) => {
    asked.push([...args]);
    return Promise.resolve(ends.shift() ?? { kind: 'done', text: 'removed\n' });
  };
  return { asked, run };
};

const noted = (shared: SharedCaches) =>
  Object.fromEntries(shared.view().caches.map(({ name, bytes, note }) => [name, note ?? bytes]));
const removed = (shared: SharedCaches) => expect.poll(() => shared.view().removing).toBe(false);
const left = () => readdirSync(caches).sort();
const refusedWith = (code: string, text: string): unknown =>
  expect.objectContaining({
    refusal: expect.objectContaining({ code, message: expect.stringContaining(text) }),
  });

describe('measuring', () => {
  test('tells nothing before it is asked for, then each with its time', async () => {
    put('uv/wheels/a', 300 * kib);
    put('hf/models/b', 100 * kib);
    const shared = opened({ nowMs: () => 7000 });
    expect(shared.view()).toMatchObject({ state: 'UNKNOWN', measuredAtMs: null, folder: caches });
    const asked = shared.measure();
    expect(shared.view().state).toBe('MEASURING');
    expect(await asked).toMatchObject({ state: 'MEASURED', measuredAtMs: 7000, message: null, left: null });
    const [uv, hf, cargo] = shared.view().caches;
    expect(uv?.bytes).toBeGreaterThanOrEqual(300 * kib);
    expect(uv?.bytes).toBeLessThan(340 * kib);
    expect(hf?.bytes).toBeLessThan(140 * kib);
    expect(cargo).toEqual({ name: 'cargo', bytes: 0, note: null });
  });

  test('is one look for all who ask meanwhile', async () => {
    const { asked, run } = stubbed({ kind: 'done', text: 'looked\n' });
    const shared = opened({ run });
    await Promise.all([shared.measure(), shared.measure()]);
    expect(asked).toEqual([['look', caches, ...cacheNames]]);
  });

  test('follows no link, of one or of all', async () => {
    put('uv/a', kib);
    mkdirSync(path.join(folder, 'elsewhere'));
    symlinkSync(path.join(folder, 'elsewhere'), path.join(caches, 'hf'));
    const shared = opened();
    await shared.measure();
    expect(noted(shared)['hf']).toContain('It is a symbolic link');
    symlinkSync(caches, path.join(folder, 'linked'));
    const all = opened({ folder: path.join(folder, 'linked') });
    expect(await all.measure()).toMatchObject({ state: 'FAILED', measuredAtMs: null });
    expect(all.view().message).toContain(`${folder}/linked is a symbolic link`);
  });

  test('of a machine where nothing was kept yet finds nothing', async () => {
    const shared = opened();
    await shared.measure();
    expect(noted(shared)).toEqual({ uv: 0, hf: 0, cargo: 0, cache: 0 });
  });

  test('says which could not be measured in time, and which not whole', async () => {
    const { run } = stubbed({ kind: 'late', text: 'cache uv part 12\ncache hf all 4\ncache cargo al' });
    const shared = opened({ run });
    expect(await shared.measure()).toMatchObject({ state: 'MEASURED' });
    expect(shared.view().caches[0]).toMatchObject({ bytes: 12 * kib, note: expect.stringContaining('more') });
    expect(noted(shared)).toMatchObject({
      hf: 4 * kib,
      cargo: 'It was not measured in the time there was for it.',
    });
  });

  test.each<[string, ScriptEnd, string]>([
    ['none in time', { kind: 'late', text: '' }, 'within 120 s'],
    ['no machine', { kind: 'failed', message: 'ws-1 is not connected' }, 'ws-1 is not connected.'],
    ['an early end', { kind: 'done', text: 'cache uv all 4\n' }, 'ended early'],
  ])('of %s fails and says so, with what was found before', async (_, end, why) => {
    const { run } = stubbed({ kind: 'done', text: 'cache uv all 8\nlooked\n' }, end);
    const shared = opened({ run });
    await shared.measure();
    await shared.measure();
    expect(shared.view()).toMatchObject({ state: 'FAILED', measuredAtMs: 1000 });
    expect(shared.view().message).toContain(why);
    expect(shared.view().caches[0]?.bytes).toBe(8 * kib);
  });

  test.skipIf(hangingObstacle !== null)('of a disk that does not answer ends all the same', async () => {
    mkdirSync(path.join(caches, 'hf/hub'), { recursive: true });
    put('uv/a', kib);
    const hanging = await hangingFolder(path.join(caches, 'hf/hub'), [], true);
    try {
      const shared = opened({ lookSeconds: 0.5 });
      await shared.measure();
      expect(shared.view().state).toBe('MEASURED');
      expect(noted(shared)['hf']).toContain('not measured in the time');
      // Another one would hang beside it.
      expect((await shared.measure()).message).toContain('an earlier look at them still hangs');
    } finally {
      await hanging.release();
    }
    await expect.poll(async () => (await opened().measure()).state).toBe('MEASURED');
  });
});

describe('emptying', () => {
  test('moves aside what is named and removes it, whatever rights it has, and makes nothing anew', async () => {
    put('uv/read-only/a', 20 * kib);
    chmodSync(path.join(caches, 'uv/read-only'), 0o500);
    put('hf/b', kib);
    const shared = opened();
    await shared.measure();
    expect(await shared.empty(['uv', 'cargo'])).toEqual(['uv']);
    expect(noted(shared)['uv']).toBe(0);
    await removed(shared);
    expect(left()).toEqual(['hf']);
    expect(shared.view().left).toBeNull();
  });

  test('leaves what a link leads to, and removes a link inside as the link it is', async () => {
    const elsewhere = path.join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(path.join(elsewhere, 'kept'), 'kept');
    put('uv/a', kib);
    symlinkSync(elsewhere, path.join(caches, 'uv', 'inside'));
    symlinkSync(elsewhere, path.join(caches, 'hf'));
    const shared = opened();
    expect(await shared.empty(['uv', 'hf'])).toEqual(['uv']);
    await removed(shared);
    expect(left()).toEqual(['hf']);
    expect(noted(shared)['hf']).toContain('symbolic link');
    expect(readFileSync(path.join(elsewhere, 'kept'), 'utf8')).toBe('kept');
    await expect(shared.empty(['hf'])).rejects.toEqual(
      refusedWith('FAILED_PRECONDITION', 'hf: It is a symbolic link'),
    );
    symlinkSync(caches, path.join(folder, 'linked'));
    const all = opened({ folder: path.join(folder, 'linked') });
    await expect(all.empty(['uv'])).rejects.toEqual(refusedWith('FAILED_PRECONDITION', 'is a symbolic link'));
  });

  test.skipIf(hangingObstacle !== null)('leaves a disk that is mounted in the place of one', async () => {
    mkdirSync(path.join(caches, 'hf'), { recursive: true });
    const mounted = await hangingFolder(path.join(caches, 'hf'));
    try {
      // Looking at it hangs, so the move is not come to; either way nothing of it is touched.
      const shared = opened();
      put('uv/a', kib);
      expect(await shared.empty(['uv'])).toEqual(['uv']);
      await removed(shared);
      expect(left()).toEqual(['hf']);
    } finally {
      await mounted.release();
    }
  });

  test('what an interrupted removal has left goes when the host begins; half moved, once nothing runs', async () => {
    put('.emptied-1/uv/a', kib);
    put('.emptying-2/uv/a', kib);
    let live = ['/ann/train/0'];
    const shared = opened({ live: () => live });
    shared.begin();
    await removed(shared);
    expect(left()).toEqual(['.emptying-2']);
    expect(shared.view().left?.message).toContain('while no container runs there');
    await shared.measure();
    await removed(shared);
    expect(left()).toEqual(['.emptying-2']);
    live = [];
    await shared.measure();
    await removed(shared);
    expect(left()).toEqual([]);
    expect(shared.view().left).toBeNull();
  });

  test('says of what it cannot remove how much that is and what to do', async () => {
    const { run } = stubbed(
      { kind: 'done', text: 'moved uv\nemptied\n' },
      { kind: 'done', text: `left 2048 ${caches}/.emptied-rs\nremoved\n` },
    );
    const shared = opened({ run });
    await shared.empty(['uv']);
    await removed(shared);
    expect(shared.view().left).toEqual({
      bytes: 2048 * kib,
      message: `2 MiB of what was emptied could not be removed: it belongs to other users, as what root makes in a container does. To remove it there: sudo rm -rf ${caches}/.emptied-rs`,
    });
  });

  test.each<[string, ScriptEnd, string, string]>([
    ['a disk that hangs', { kind: 'late', text: '' }, 'UNREACHABLE', 'does not answer'],
    [
      'no machine',
      { kind: 'failed', message: 'ws-1 is not connected' },
      'UNREACHABLE',
      'ws-1 is not connected.',
    ],
    [
      'a full disk',
      { kind: 'done', text: 'failed mkdir: No space left\n' },
      'FAILED_PRECONDITION',
      'No space left',
    ],
    [
      'another one’s folder',
      { kind: 'done', text: 'kept uv mv: cannot move: Permission denied\nemptied\n' },
      'FAILED_PRECONDITION',
      'uv: It could not be moved aside: mv: cannot move: Permission denied.',
    ],
  ])('of %s is refused, and what starts next waits for nothing', async (_, end, code, why) => {
    const shared = opened({ run: stubbed(end).run });
    await expect(shared.empty(['uv'])).rejects.toEqual(refusedWith(code, why));
    await shared.whenStill();
  });
});

describe('while containers have them', () => {
  const mine = { 'iris.managed': owner, 'iris.task': '/ann/train/0' };

  test.each(['created', 'running'] as const)('one of ours that is %s keeps them', async (status) => {
    put('uv/a', kib);
    engine.put('iris-1', mine).status = status;
    await expect(opened().empty(['uv'])).rejects.toEqual(
      refusedWith('FAILED_PRECONDITION', '/ann/train/0 runs in a container on ws-1'),
    );
    expect(left()).toEqual(['uv']);
  });

  test('one that somebody began by hand keeps them too', async () => {
    put('uv/a', kib);
    const row = (source: string) => [
      { Id: 'f00', Names: ['/by-hand'], State: 'running', Labels: null, Mounts: [{ Source: source }] },
    ];
    let source = path.join(caches, 'uv');
    engine.instead.set('GET list', (_, response) => response.end(JSON.stringify(row(source))));
    const shared = opened();
    await expect(shared.empty(['hf'])).rejects.toEqual(refusedWith('FAILED_PRECONDITION', 'by-hand runs'));
    source = `${caches}-of-another`;
    expect(await shared.empty(['uv'])).toEqual(['uv']);
    await removed(shared);
  });

  test('one that has ended, or is another’s, does not', async () => {
    put('uv/a', kib);
    engine.put('iris-1', mine).status = 'exited';
    engine.put('other', { 'iris.managed': 'another' }).status = 'running';
    const shared = opened();
    expect(await shared.empty(['uv'])).toEqual(['uv']);
    await removed(shared);
  });

  test('without an answer of the Engine nobody knows, and nothing is emptied', async () => {
    put('uv/a', kib);
    engine.instead.set('GET list', (_, response) => response.destroy());
    await expect(opened().empty(['uv'])).rejects.toEqual(refusedWith('UNREACHABLE', 'cannot be told'));
    expect(left()).toEqual(['uv']);
  });
});

test('of what is printed only whole lines count, and such as are known', () => {
  const text =
    'sh: noise\ncache uv all 8\ncache nobody all 9\nleft 4 /a b/.emptied-1\nkept hf mv: busy\nmoved car';
  expect(readCaches(text)).toEqual({
    whole: false,
    folder: 'there',
    failed: null,
    found: new Map([['uv', { how: 'all', bytes: 8 * kib }]]),
    moved: [],
    kept: new Map([['hf', 'mv: busy']]),
    left: [{ path: '/a b/.emptied-1', bytes: 4 * kib }],
  });
});
