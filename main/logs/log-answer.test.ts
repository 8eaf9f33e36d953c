import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { LogAnswer, LogFrameText, LogRooms } from './log-answer.js';

const lengths = [0, 1, 2, 3, 4, 48 * 1024, 48 * 1024 + 1, 100_000];

function answerOf(data: readonly Uint8Array[], onRelease?: () => void): LogAnswer<unknown> {
  const chunks = data.map((_, index) => ({ stream: index % 2 === 0 ? 'out' : 'err', offset: index }));
  const value = { chunks: chunks.map((chunk) => ({ ...chunk, dataBase64: '' })), cursor: { out: 7, err: 8 } };
  return new LogAnswer(value, data, onRelease);
}

function expected(data: readonly Uint8Array[]): unknown {
  const { chunks, cursor } = answerOf(data).value as { chunks: object[]; cursor: object };
  const full = chunks.map((chunk, index) => ({
    ...chunk,
    dataBase64: Buffer.from(data[index] ?? []).toString('base64'),
  }));
  return { kind: 'result', id: 5, value: { chunks: full, cursor } };
}

describe('the text of an answer with bytes of a log', () => {
  it.each([4, 5, 7, 64, 1000, 65_536, 1_000_000])('is the same in pieces of %i bytes', (pieceBytes) => {
    const data = lengths.map((length) => randomBytes(length));
    const text = new LogFrameText({ kind: 'log', id: 5, answer: answerOf(data) });
    const { left } = text;
    const pieces: Buffer[] = [];
    for (;;) {
      const piece = Buffer.alloc(pieceBytes);
      const filled = text.fill(piece);
      if (filled === 0) break;
      pieces.push(piece.subarray(0, filled));
    }
    const whole = Buffer.concat(pieces);
    expect(whole.length).toBe(left);
    expect(text.left).toBe(0);
    expect(whole.indexOf('\n')).toBe(whole.length - 1);
    expect(JSON.parse(whole.toString())).toEqual(expected(data));
  });

  it('is an answer without bytes too', () => {
    const text = new LogFrameText({ kind: 'log', id: 5, answer: answerOf([]) });
    expect(JSON.parse(Buffer.from(text.rest()).toString())).toEqual(expected([]));
  });

  it('goes on from where it was left, from a part of a longer buffer', () => {
    const data = [Buffer.from('xxhellox').subarray(2, 7), Buffer.from('you')];
    const text = new LogFrameText({ kind: 'log', id: 5, answer: answerOf(data) });
    const piece = Buffer.alloc(70);
    const filled = text.fill(piece);
    const rest = text.rest();
    expect(JSON.parse(piece.subarray(0, filled).toString() + Buffer.from(rest).toString())).toEqual(
      expected(data),
    );
  });

  it('gives its bytes back once, when the last have been written', () => {
    let released = 0;
    const answer = answerOf([randomBytes(30)], () => (released += 1));
    const text = new LogFrameText({ kind: 'log', id: 5, answer });
    text.fill(Buffer.alloc(100));
    expect(released).toBe(0);
    text.rest();
    expect(released).toBe(1);
    answer.release();
    expect(released).toBe(1);
  });
});

describe('rooms for log bytes', () => {
  it('are used again, and no more of them are kept than told', () => {
    const rooms = new LogRooms(16, 1);
    const [first, second] = [rooms.take(), rooms.take()];
    expect(first).not.toBe(second);
    rooms.give(first);
    rooms.give(second);
    expect(rooms.take()).toBe(first);
    expect(rooms.take()).not.toBe(second);
  });
});
