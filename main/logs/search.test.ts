import { expect, test } from 'vitest';
import { searchLog, type SearchResult } from './search.js';

const over = (content: Buffer) => (offset: number, maxBytes: number) =>
  Promise.resolve({ data: content.subarray(offset, offset + maxBytes), size: content.length });
const find = (content: string | Buffer, text: string, more: object = {}): Promise<SearchResult> =>
  searchLog({ read: over(Buffer.from(content)), text, matchCase: false, offset: 0, limit: 100, ...more });

test('lines that hold the text, with their offsets', async () => {
  expect(await find('Loss 1\nnothing\nloss 2\r\nLOSS', 'loss')).toEqual({
    matches: [
      { offset: 0, line: 'Loss 1' },
      { offset: 15, line: 'loss 2' },
      { offset: 23, line: 'LOSS' },
    ],
    nextOffset: null,
  });
  expect((await find('Loss 1\nloss 2', 'loss', { matchCase: true })).matches).toEqual([
    { offset: 7, line: 'loss 2' },
  ]);
});

test('goes on where the limit stopped it', async () => {
  const first = await find('a1\na2\na3\n', 'a', { limit: 2 });
  expect(first).toEqual({
    matches: [
      { offset: 0, line: 'a1' },
      { offset: 3, line: 'a2' },
    ],
    nextOffset: 6,
  });
  expect(await find('a1\na2\na3\n', 'a', { limit: 2, offset: 6 })).toEqual({
    matches: [{ offset: 6, line: 'a3' }],
    nextOffset: null,
  });
  expect((await find('a1\na2\n', 'a', { limit: 2 })).nextOffset).toBeNull();
});

test('finds matches anywhere in a large log, also across the pieces it reads', async () => {
  const lines = Array.from(
    { length: 200_000 },
    (_, index) => `line ${index} ${index % 50_000 === 7 ? 'needle' : 'straw'}`,
  );
  const result = await find(lines.join('\n'), 'NEEDLE');
  expect(result.matches.map(({ line }) => line)).toEqual(
    [7, 50_007, 100_007, 150_007].map((index) => `line ${index} needle`),
  );
});

test('a line of 10 MB is one match, shown around it', async () => {
  const content = `first\n${'x'.repeat(5_000_000)}needle${'y'.repeat(5_000_000)}\nlast needle\n`;
  const result = await find(content, 'needle');
  expect(result.matches).toHaveLength(2);
  expect(result.matches[0]?.line).toContain('xneedley');
  expect(result.matches[0]?.line.length).toBeLessThan(1100);
  expect(result.matches[1]).toEqual({ offset: 10_000_013, line: 'last needle' });
});

test('bytes that are no text do no harm', async () => {
  const content = Buffer.concat([
    Buffer.from([0xff, 0x00, 0x80, 0x0a]),
    Buffer.from('found\n'),
    Buffer.from([0xc3]),
  ]);
  expect((await find(content, 'found')).matches).toEqual([{ offset: 4, line: 'found' }]);
});
