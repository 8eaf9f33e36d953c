import { expect, test } from 'vitest';
import { FarReads } from './far-reads.js';
import { FarWord } from './far-words.js';

const uid = '0123456789abcdef';

/** A machine with one log's marks; what was asked of it, as offsets. */
function farMarks() {
  const reads = new FarReads('ws-2');
  const asked: number[] = [];
  let text = '';
  reads.connected((...texts) => {
    const [, id = '', , , offset = '', most = ''] = texts.map(String);
    asked.push(Number(offset));
    const data = Buffer.from(text, 'latin1').subarray(Number(offset), Number(offset) + Number(most));
    const answer = [id, String(Buffer.byteLength(text, 'latin1'))].map((each) => Buffer.from(each));
    queueMicrotask(() => reads.word(new FarWord('range', [...answer, data])));
  });
  return { reads, asked, put: (next: string) => (text = next), add: (more: string) => (text += more) };
}

const mark = (at: number) => `${at} ${at * 10} 0\n`;
const marks = (...ats: readonly number[]) => ats.map((at) => ({ atMs: at - 1000, out: at * 10, err: 0 }));

test('marks of a log that is followed are read once, then what came since; written anew they are read anew', async () => {
  const { reads, asked, put, add } = farMarks();
  const read = () => reads.marks(uid, 1000);
  expect(await read()).toEqual([]);
  add(mark(5001) + mark(5002));
  expect(await read()).toEqual(marks(5001, 5002));
  // A line that is being written is read when it is whole.
  add(mark(5003) + '5004 500');
  expect(await read()).toEqual(marks(5001, 5002, 5003));
  add('40 0\n5005 1 0\n');
  expect(await read()).toEqual(marks(5001, 5002, 5003, 5004));
  expect(await read()).toEqual(marks(5001, 5002, 5003, 5004));
  const line = mark(5001).length;
  expect(asked).toEqual([0, 0, line, 2 * line, 3 * line + '5004 50040 0\n'.length]);
  // Thinned.
  put(mark(5002) + mark(5004) + mark(5006));
  expect(await read()).toEqual(marks(5002, 5004, 5006));
  put(mark(6001) + mark(6002) + mark(6003) + mark(6004));
  expect(await read()).toEqual(marks(6001, 6002, 6003, 6004));
});

test('so are those of a few logs, whichever were asked for last', async () => {
  const { reads, asked, put } = farMarks();
  put(mark(5001));
  const uids = Array.from({ length: 9 }, (_, at) => `${uid.slice(1)}${at}`);
  for (const each of uids) await reads.marks(each, 0);
  asked.length = 0;
  await reads.marks(uids[8] ?? '', 0);
  await reads.marks(uids[0] ?? '', 0);
  expect(asked).toEqual([0, 0]);
});
