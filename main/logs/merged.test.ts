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
const base = { read, marks, cursor: null, tail: false, maxBytes: 1000, ended: true };
const text = (result: MergedRead) =>
  result.chunks
    .map(({ stream, dataBase64 }) => `${stream}:${Buffer.from(dataBase64, 'base64').toString()}`)
    .join('|');

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
      whole += result.chunks.map((chunk) => Buffer.from(chunk.dataBase64, 'base64').toString()).join('');
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
  expect((await mergedRead({ ...base, ended: false })).complete).toBe(false);
  expect((await mergedRead({ ...base, maxBytes: 5 })).complete).toBe(false);
});

test('a cursor beyond a file that became shorter goes back to its end', async () => {
  const result = await mergedRead({ ...base, cursor: { out: 99, err: 99 } });
  expect(result).toMatchObject({ chunks: [], cursor: { out: 9, err: 6 }, complete: true });
});
