import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newEntry, type AttemptEntry } from './attempt-entry.js';
import { checkpointFile, CheckpointWatch, writeNotice } from './checkpoints.js';

let folder: string;
let file: string;
let entry: AttemptEntry;
let told: (number | null)[];
let watch: CheckpointWatch;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-checkpoints-'));
  mkdirSync(path.join(folder, 'work'));
  file = checkpointFile(path.join(folder, 'work'));
  entry = newEntry('a', folder, null);
  told = [];
  watch = new CheckpointWatch({
    nowMs: () => 50_000,
    onCheckpoint: ({ checkpointAtMs }) => told.push(checkpointAtMs),
    everyMs: 600_000,
  });
});
afterEach(() => {
  watch.close();
  rmSync(folder, { recursive: true, force: true });
});

function touch(atMs: number): void {
  writeFileSync(file, '');
  utimesSync(file, atMs / 1000, atMs / 1000);
}

test('a checkpoint is told with the time of its file, once', () => {
  touch(40_000);
  watch.add(entry);
  watch.add(entry);
  expect(told).toEqual([40_000]);
});

test('a time to come counts as now, and one set back as nothing', () => {
  touch(99_000);
  watch.add(entry);
  touch(10_000);
  watch.lastLook(entry);
  expect([told, entry.checkpointAtMs]).toEqual([[50_000], 50_000]);
});

test('a link is not followed', () => {
  const target = path.join(folder, 'elsewhere');
  writeFileSync(target, '');
  utimesSync(target, 20, 20);
  symlinkSync(target, file);
  watch.add(entry);
  // The link is of this moment, which lies after the time told here.
  expect(told).toEqual([50_000]);
});

test('the last look tells nobody, and sees only what was added', () => {
  touch(40_000);
  watch.lastLook(entry);
  expect(entry.checkpointAtMs).toBeNull();
  rmSync(file);
  watch.add(entry);
  touch(41_000);
  watch.lastLook(entry);
  expect([told, entry.checkpointAtMs]).toEqual([[], 41_000]);
});

test('a notice is one file with a date and the reason', () => {
  writeNotice(folder, { reason: 'Room for "others".', deadlineMs: 1_000 });
  const work = path.join(folder, 'work');
  expect(readdirSync(work)).toEqual(['preemption.json']);
  expect(JSON.parse(readFileSync(path.join(work, 'preemption.json'), 'utf8'))).toEqual({
    deadline: '1970-01-01T00:00:01.000Z',
    reason: 'Room for "others".',
  });
});
