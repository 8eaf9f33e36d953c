/** The copy of the database a day: whole beside work, made when it is due and there is room, and never in the way. */
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { DailyCopy, type DailyCopyOptions } from '../../main/controller/daily-copy.js';
import { copyInThread, copySnapshot } from '../../main/store/copy-snapshot.js';
import type { Store } from '../../main/store/types.js';
import { changes, lifeOfJob, makeFolder, openTestStore, silent, together, type Folder } from './builders.js';
import { compile, type Compiled } from './compile.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const plenty = 1024 ** 4;

let programs: Compiled;
let folder: Folder;
let store: Store;
let nowMs: number;
let said: string[];

beforeAll(async () => {
  programs = await compile({ 'reader-worker': 'main/store/reader-worker.ts' });
});
afterAll(() => {
  programs.remove();
});
beforeEach(() => {
  folder = makeFolder();
  nowMs = Date.now();
  said = [];
  store = openTestStore(folder.database, { nowMs: () => nowMs });
});
afterEach(() => {
  store.close();
  folder.remove();
});

function dailyCopy(more: Partial<DailyCopyOptions> = {}): DailyCopy {
  return new DailyCopy({
    path: folder.database,
    copy: (to, signal) =>
      copyInThread({ path: folder.database, workerFile: programs.file('reader-worker'), signal }, to),
    logger: {
      info: (message) => said.push(message),
      warn: (message) => said.push(message),
      error: (message) => said.push(message),
    },
    nowMs: () => nowMs,
    freeBytes: () => plenty,
    ...more,
  });
}

const copies = () => {
  const there = join(folder.path, 'backups');
  return existsSync(there) ? readdirSync(there).sort() : [];
};

/** Never later than now, as the time of a file may be by a fraction. */
const seconds = () => Math.floor(nowMs / 1000);

/** Something is written, at this time by the file's own clock. */
function write(): void {
  store.commit(changes({ meta: { written: nowMs } }));
  for (const file of [folder.database, `${folder.database}-wal`]) utimesSync(file, seconds(), seconds());
}

/** The last copy was made when the clock here said so. */
async function made(copy: DailyCopy): Promise<number> {
  const before = copies();
  await copy.makeIfDue();
  const fresh = copies().filter((name) => !before.includes(name));
  for (const name of fresh) utimesSync(join(folder.path, 'backups', name), seconds(), seconds());
  return fresh.length;
}

test('holds all that was committed before it, and nothing of what is committed meanwhile', async () => {
  store.commit(together(Array.from({ length: 1500 }, (_, number) => lifeOfJob(`/ann/job-${number}`)).flat()));
  store.checkpoint();
  // More than is copied in one turn.
  expect(statSync(folder.database).size).toBeGreaterThan(3 * 250 * 4096);
  let copied = false;
  const copying = dailyCopy({ copy: (to) => copySnapshot(folder.database, to, silent) })
    .makeIfDue()
    .finally(() => (copied = true));
  const isCopied = () => copied;
  let commits = 0;
  // Between any two turns of the copying.
  while (!isCopied()) {
    store.commit(changes({ meta: { later: (commits += 1) } }));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await copying;
  expect(commits).toBeGreaterThan(3);
  expect(said).toEqual(['Copied the database']);
  const [name = ''] = copies();
  const copy = openTestStore(join(folder.path, 'backups', name));
  expect(copy.integrity()).toEqual([]);
  expect(copy.findJob('/ann/job-1499')?.state).toBe('SUCCEEDED');
  expect(copy.loadLive().meta['later']).toBeUndefined();
  copy.close();
});

test('is made once a day, when something was written since, and the newest three stay', async () => {
  const copy = dailyCopy();
  expect(await made(copy)).toBe(1);
  nowMs += 23 * hourMs;
  write();
  expect(await made(copy)).toBe(0);
  nowMs += hourMs;
  expect(await made(copy)).toBe(1);
  nowMs += 7 * dayMs;
  expect(await made(copy)).toBe(0);
  for (let day = 0; day < 3; day += 1) {
    nowMs += dayMs;
    write();
    expect(await made(copy)).toBe(1);
  }
  const stamps = [2, 1, 0].map((ago) => new Date(nowMs - ago * dayMs).toISOString().replaceAll(':', '-'));
  expect(copies()).toEqual(stamps.map((stamp) => `iris-daily-${stamp}.db`));
});

test('a copy from a clock that was ahead does not hold up the next', async () => {
  const copy = dailyCopy();
  nowMs += 30 * dayMs;
  expect(await made(copy)).toBe(1);
  nowMs -= 30 * dayMs;
  // Written by the clock that is right: by its time nothing came after that copy.
  write();
  expect(await made(copy)).toBe(1);
});

test('copies from a clock that was ahead are the first to go, and the others still one a day', async () => {
  const copy = dailyCopy();
  nowMs += 30 * dayMs;
  for (let day = 0; day < 3; day += 1) {
    nowMs += dayMs;
    write();
    expect(await made(copy)).toBe(1);
  }
  nowMs -= 33 * dayMs;
  for (const kept of [1, 2, 3]) {
    write();
    expect(await made(copy)).toBe(1);
    const ahead = new Date(nowMs + dayMs).toISOString().replaceAll(':', '-');
    expect(copies().filter((name) => name < `iris-daily-${ahead}`)).toHaveLength(kept);
    nowMs += 23 * hourMs;
    write();
    expect(await made(copy)).toBe(0);
    nowMs += hourMs;
  }
  expect(copies()).toHaveLength(3);
});

test.each([
  ['in the midst of it', (length: number) => Math.floor(length / 2)],
  // None of it can be read then, not even that it is a database.
  ['at its beginning', () => 0],
])('of a database damaged %s none is made, so that those from before stay, and it is said', async (_, at) => {
  store.commit(together(Array.from({ length: 300 }, (_, number) => lifeOfJob(`/ann/job-${number}`)).flat()));
  store.checkpoint();
  let told = 0;
  const copy = dailyCopy({ onDamage: () => (told += 1) });
  expect(await made(copy)).toBe(1);
  const [sound = ''] = copies();
  const whole = readFileSync(folder.database);
  const damaged = Buffer.from(whole);
  damaged.fill(0x5a, at(whole.length), at(whole.length) + 4096);
  writeFileSync(folder.database, damaged);
  for (let day = 0; day < 3; day += 1) {
    nowMs += dayMs;
    utimesSync(folder.database, seconds(), seconds());
    expect(await made(copy)).toBe(0);
  }
  expect(copies()).toEqual([sound]);
  expect(copy.damage).toMatch(/is damaged|failed its check/);
  expect(copy.damage).toContain(`The newest sound copy is ${join(folder.path, 'backups', sound)}.`);
  expect([told, said.slice(1)]).toEqual([
    1,
    Array.from({ length: 3 }, () => 'The database could not be copied'),
  ]);
  writeFileSync(folder.database, whole);
  utimesSync(folder.database, seconds(), seconds());
  expect([await made(copy), copy.damage, told]).toEqual([1, null, 2]);
});

test('is not made where it would fill the disk', async () => {
  const bytes = statSync(folder.database).size + statSync(`${folder.database}-wal`).size;
  const copy = dailyCopy({ freeBytes: () => 2 * bytes + 1024 ** 3 - 1 });
  expect(await made(copy)).toBe(0);
  expect(said).toEqual(['No copy of the database is made: the disk has too little room']);
});

test('of one that is broken off nothing stays, and what an ended program left is removed', async () => {
  await made(dailyCopy());
  const [first = ''] = copies();
  const left = first.replace('.db', '-2.db.partial');
  writeFileSync(join(folder.path, 'backups', left), 'half');
  nowMs += dayMs;
  write();
  let begun: () => void = () => undefined;
  const beginning = new Promise<void>((resolve) => (begun = resolve));
  const copy = dailyCopy({
    copy: (to, signal) =>
      new Promise((_resolve, reject) => {
        writeFileSync(to, 'half');
        signal.addEventListener('abort', () => reject(new Error('ended')), { once: true });
        begun();
      }),
  });
  const making = copy.makeIfDue();
  await beginning;
  expect(copies()).toHaveLength(2);
  copy.stop();
  await making;
  expect(copies()).toEqual([first]);
  expect(said).toEqual(['Copied the database']);
});

test('what goes wrong is said, and the next hour tries again', async () => {
  const failing = dailyCopy({
    copy: (to, signal) =>
      copyInThread(
        { path: join(folder.path, 'nowhere.db'), workerFile: programs.file('reader-worker'), signal },
        to,
      ),
  });
  expect(await made(failing)).toBe(0);
  expect(said).toEqual(['The database could not be copied']);
  expect(await made(dailyCopy())).toBe(1);
});

test('a thread that is ended leaves the caller with a refusal, not a copy', async () => {
  const ending = new AbortController();
  const copying = copyInThread(
    { path: folder.database, workerFile: programs.file('reader-worker'), signal: ending.signal },
    join(folder.path, 'copy.db'),
  );
  ending.abort();
  await expect(copying).rejects.toThrow();
});
