import { expect, test } from 'vitest';
import { mergedRead, type MergedRead } from './merged.js';

const files = { out: Buffer.from('o1\no2\no3\n'), err: Buffer.from('e1\ne2\n') };
const read = (stream: 'out' | 'err', offset: number, maxBytes: number) =>
  Promise.resolve({ data: files[stream].subarray(offset, offset + maxBytes), size: files[stream].length });
const marks = [
  { atMs: 1, out: 3, err: 0 },
  { atMs: 2, out: 3, err: 3 },
  { atMs: 3, out: 6, err: 6 },
];
const base = { read, marks, cursor: null, tail: false, sinceMs: null, maxBytes: 1000, endedAtMs: 4 };
const text = (result: MergedRead) =>
  result.chunks.map(({ stream, data }) => `${stream}:${Buffer.from(data).toString()}`).join('|');

test('follows the marks, out before err between two', async () => {
  const result = await mergedRead(base);
  expect(text(result)).toBe('out:o1\n|err:e1\n|out:o2\n|err:e2\n|out:o3\n');
  expect(result).toMatchObject({ cursor: { out: 9, err: 6 }, outSize: 9, errSize: 6, complete: true });
});

test('in pieces of any size it is the same, byte for byte', async () => {
  for (let maxBytes = 1; maxBytes <= 16; maxBytes += 1) {
    let cursor: MergedRead['cursor'] | null = null;
    let whole = '';
    for (let complete = false; !complete;) {
      const result: MergedRead = await mergedRead({ ...base, cursor, maxBytes });
      whole += result.chunks.map((chunk) => Buffer.from(chunk.data).toString()).join('');
      ({ cursor, complete } = result);
    }
    expect(whole).toBe('o1\ne1\no2\ne2\no3\n');
  }
});

test('a tail is the last whole lines', async () => {
  expect(text(await mergedRead({ ...base, tail: true, maxBytes: 7 }))).toBe('err:e2\n|out:o3\n');
  expect(text(await mergedRead({ ...base, tail: true, maxBytes: 1000 }))).toBe(text(await mergedRead(base)));
});

test('is not complete while the attempt lives, nor before its end', async () => {
  expect((await mergedRead({ ...base, endedAtMs: null })).complete).toBe(false);
  expect((await mergedRead({ ...base, maxBytes: 5 })).complete).toBe(false);
});

test('a cursor beyond a file that became shorter goes back to its end', async () => {
  const result = await mergedRead({ ...base, cursor: { out: 99, err: 99 } });
  expect(result).toMatchObject({ chunks: [], cursor: { out: 9, err: 6 }, complete: true });
});

test.each([
  [0, 'out:o1\n|err:e1\n|out:o2\n|err:e2\n|out:o3\n'],
  [1, 'err:e1\n|out:o2\n|err:e2\n|out:o3\n'],
  [2, 'out:o2\n|err:e2\n|out:o3\n'],
  // At the last mark, and between it and the end: what followed the mark.
  [3, 'out:o3\n'],
  [4, 'out:o3\n'],
  [5, ''],
])('since %i ms: what was written after the last mark before it', async (sinceMs, expected) => {
  const result = await mergedRead({ ...base, sinceMs });
  expect(text(result)).toBe(expected);
  expect(result).toMatchObject({ cursor: { out: 9, err: 6 }, complete: true });
});

test('since a time at which a line was half written: the whole line', async () => {
  const cut = [
    { atMs: 1, out: 3, err: 0 },
    { atMs: 2, out: 4, err: 2 },
  ];
  const result = await mergedRead({ ...base, marks: cut, sinceMs: 2 });
  expect(text(result)).toBe('out:o|err:e1|out:2\no3\n|err:\ne2\n');
});

test('since a time of a log without marks: all of it while it may be as young, nothing of one that ended before', async () => {
  const all = 'out:o1\no2\no3\n|err:e1\ne2\n';
  expect(text(await mergedRead({ ...base, marks: [], sinceMs: 3 }))).toBe(all);
  expect(text(await mergedRead({ ...base, marks: [], sinceMs: 9, endedAtMs: null }))).toBe(all);
  expect(text(await mergedRead({ ...base, marks: [], sinceMs: 5 }))).toBe('');
});

test('a cursor wins over a time', async () => {
  const result = await mergedRead({ ...base, sinceMs: 5, cursor: { out: 6, err: 6 } });
  expect(text(result)).toBe('out:o3\n');
});
