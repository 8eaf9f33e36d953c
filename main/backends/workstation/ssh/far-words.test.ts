import { describe, expect, test } from 'vitest';
import { farFrame, farMark, FarWords } from './far-words.js';

describe('words of the far hand', () => {
  const stream = Buffer.concat([
    Buffer.from('Welcome to ws-2!\n'),
    farMark,
    farFrame(['hello', 'hostname', 'ws-2', 'clock', '17']),
    farFrame(['range', '7', '3', new Uint8Array([0, 255, 10])]),
    farFrame(['ready', 'Ordner ü']),
  ]);

  test.each([1, 3, 1000])('are the same in pieces of %i bytes, whatever a shell printed before', (size) => {
    const words = new FarWords();
    const said = [];
    for (let at = 0; at < stream.length; at += size) said.push(...words.push(stream.subarray(at, at + size)));
    expect(said.map(({ kind }) => kind)).toEqual(['hello', 'range', 'ready']);
    expect(said[0]?.pairs().get('hostname')).toBe('ws-2');
    expect(said[1]?.number(0)).toBe(7);
    expect([...(said[1]?.bytes(2) ?? [])]).toEqual([0, 255, 10]);
    expect(said[1]?.number(9)).toBeNull();
    expect(said[2]?.text(0)).toBe('Ordner ü');
    expect(words.noise()).toBe('');
  });

  test('what is no far hand is said or refused', () => {
    const words = new FarWords();
    expect(words.push(Buffer.from('This account is currently not available.\n'))).toEqual([]);
    expect(words.noise()).toBe('This account is currently not available.');
    expect(() => words.push(Buffer.alloc(70_000, 'x'))).toThrow('prints too much');
    expect(() => new FarWords().push(Buffer.concat([farMark, Buffer.from([255, 0, 0, 0])]))).toThrow(
      'none of the far hand',
    );
    expect(() =>
      new FarWords().push(Buffer.concat([farMark, Buffer.from([0, 0, 0, 5, 0, 0, 0, 9, 1])])),
    ).toThrow('is cut');
  });
});
