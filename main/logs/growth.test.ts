/** Marks of where both streams were seen together. Timers are played, the events of the file system are real. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LogGrowth, readMarks } from './growth.js';

const uid = 'a1';
let folder: string;
let nowMs: number;
let grew: string[];
let faults: string[];
let growth: LogGrowth;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-growth-'));
  nowMs = 1000;
  grew = [];
  faults = [];
  growth = new LogGrowth({
    nowMs: () => nowMs,
    onGrew: (_, out, err, heard) => grew.push(`${out} ${err}${heard === null ? '' : ` ${heard.out}`}`),
    onFault: (_, error) => faults.push(String(error)),
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  growth.close();
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const write = (stream: 'out' | 'err', text: string) => {
  appendFileSync(path.join(folder, stream), text);
};
const places = () => growth.marks(uid, folder).map(({ out, err }) => `${out} ${err}`);
const file = () => path.join(folder, 'marks');

/** The stream grows and is looked at. A flush of the marks waits all the while, so a second timer is the look. */
async function grow(stream: 'out' | 'err', text: string): Promise<void> {
  write(stream, text);
  for (const deadline = performance.now() + 15_000; vi.getTimerCount() < 2;) {
    if (performance.now() > deadline) throw new Error('no event came');
    await new Promise((resolve) => setImmediate(resolve));
  }
  await vi.advanceTimersByTimeAsync(100);
}

describe('marks', () => {
  test('are noted where both streams were seen, kept in a file, and read again by the next host', async () => {
    write('out', 'one\n');
    growth.track(uid, folder);
    nowMs += 5;
    await grow('err', 'two\n');
    nowMs += 5;
    await grow('out', 'three\n');
    expect(places()).toEqual(['4 0', '4 4', '10 4']);
    growth.ended(uid);
    expect(growth.isTracked(uid)).toBe(false);
    expect(readFileSync(file(), 'utf8')).toBe('1000 4 0\n1005 4 4\n1010 10 4\n');
    expect(readMarks(folder)).toEqual([
      { atMs: 1000, out: 4, err: 0 },
      { atMs: 1005, out: 4, err: 4 },
      { atMs: 1010, out: 10, err: 4 },
    ]);
    const next = new LogGrowth({
      nowMs: () => nowMs,
      onGrew: () => undefined,
      onFault: () => undefined,
    });
    next.track(uid, folder);
    write('err', 'four\n');
    next.ended(uid);
    expect(readFileSync(file(), 'utf8')).toBe('1000 4 0\n1005 4 4\n1010 10 4\n1010 10 9\n');
  });

  test('of one stream that grows alone: one in ten seconds is enough', async () => {
    write('out', '1');
    growth.track(uid, folder);
    await grow('out', '2');
    await grow('out', '3');
    await grow('out', '4');
    expect(places()).toEqual(['1 0', '4 0']);
    nowMs += 10_000;
    await grow('out', '5');
    expect(places()).toEqual(['1 0', '4 0', '5 0']);
    // What is in the file stays: from there on a new one is noted.
    await vi.advanceTimersByTimeAsync(1000);
    expect(readMarks(folder).map(({ out }) => out)).toEqual([1, 4, 5]);
  });

  test('are none where nothing grew, and nothing was written', () => {
    write('out', '');
    growth.track(uid, folder);
    growth.ended(uid);
    expect(growth.marks(uid, folder)).toEqual([]);
    expect(() => readFileSync(file())).toThrow('ENOENT');
  });

  test('above ten thousand every second goes, in order, the first and the last place in time stay near', () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `${index} ${index + 1} ${index}\n`);
    writeFileSync(file(), lines.join(''));
    write('out', 'x'.repeat(10_001));
    write('err', 'x'.repeat(10_000));
    nowMs = 20_000;
    growth.track(uid, folder);
    growth.ended(uid);
    const kept = readMarks(folder);
    expect(kept).toHaveLength(5001);
    expect(kept[0]).toEqual({ atMs: 0, out: 1, err: 0 });
    expect(kept[1]).toEqual({ atMs: 2, out: 3, err: 2 });
    expect(kept.at(-1)).toEqual({ atMs: 20_000, out: 10_001, err: 10_000 });
    expect(kept.every((mark, index) => index === 0 || mark.out > (kept[index - 1]?.out ?? 0))).toBe(true);
    expect(faults).toEqual([]);
  });

  test('cut by a crash or going back are passed over', () => {
    writeFileSync(file(), '1 5 5\n2 9 5\n3 7 5\n4 x 5\n5 12 6\n6 13');
    expect(readMarks(folder)).toEqual([
      { atMs: 1, out: 5, err: 5 },
      { atMs: 2, out: 9, err: 5 },
      { atMs: 5, out: 12, err: 6 },
    ]);
  });

  test('that cannot be written are told of and harm nothing', () => {
    write('out', '1');
    growth.track(uid, folder);
    rmSync(folder, { recursive: true });
    expect(() => {
      growth.ended(uid);
    }).not.toThrow();
    expect(faults.join()).toContain('ENOENT');
  });
});

test('growth is told of only while somebody listens', async () => {
  write('out', '1');
  growth.track(uid, folder);
  await grow('out', '2');
  expect(grew).toEqual([]);
  growth.listen(uid, true);
  await grow('err', '3');
  expect(grew).toEqual(['2 1']);
  growth.listen(uid, false);
  await grow('err', '4');
  expect(grew).toEqual(['2 1']);
});

describe('what is heard of a line', () => {
  const heard = (out: string) => ({ out, err: '' });

  test('is told with the sizes as it changes and when it is no more, whenever it was heard first', () => {
    write('out', 'one\n');
    growth.listen(uid, true);
    growth.heard(uid, heard('1%'));
    expect(grew).toEqual([]);
    growth.track(uid, folder);
    expect(grew).toEqual(['4 0 1%']);
    growth.heard(uid, heard('2%'));
    growth.heard(uid, null);
    expect(grew.slice(1)).toEqual(['4 0 2%', '4 0']);
  });

  test('is told to whoever asks later', async () => {
    growth.track(uid, folder);
    growth.heard(uid, heard('1%'));
    expect(grew).toEqual([]);
    growth.listen(uid, true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(grew).toEqual(['0 0 1%']);
  });

  test('is nothing to those who do not listen, or of what has ended', async () => {
    growth.track(uid, folder);
    growth.listen(uid, true);
    growth.listen(uid, false);
    growth.heard(uid, heard('1%'));
    growth.listen(uid, true);
    growth.ended(uid);
    await new Promise((resolve) => setImmediate(resolve));
    expect(grew).toEqual([]);
  });
});
