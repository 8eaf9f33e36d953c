import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEscapeFilter } from './escape-filter.js';

const filter = (text: string) => createEscapeFilter().push(text);

describe('escape filter', () => {
  it.each<[string, string]>([
    ['plain \t text\r\nnext\b', 'plain \t text\r\nnext\b'],
    [
      '\x1b[1;31mred\x1b[0m \x1b[38;5;9mx\x1b[38:2::1:2:3my',
      '\x1b[1;31mred\x1b[0m \x1b[38;5;9mx\x1b[38:2::1:2:3my',
    ],
    ['\x1b[2K\x1b[A\x1b[3B\x1b[1G', '\x1b[2K\x1b[A\x1b[3B\x1b[1G'],
    // Title, clipboard, link, notification, colour question.
    ['a\x1b]0;title\x07b', 'ab'],
    ['a\x1b]52;c;aGk=\x1b\\b', 'ab'],
    ['\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\', 'text'],
    ['\x9d0;title\x9cb', 'b'],
    ['\x1bPq#0;2\x1b\\b', 'b'],
    ['\x1b_app\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\b', 'b'],
    // Screen, cursor, modes, reports, reset, character sets.
    ['\x1b[2J\x1b[H\x1b[3Ja', 'a'],
    ['\x1b[?1049h\x1b[?25l\x1b[6n\x1b[c\x1b[>0q\x1b[5;5Ha', 'a'],
    ['\x1bc\x1b7\x1b8\x1b(0\x1b#8\x1b=\x1bMa', 'a'],
    ['\x9b31mred', '\x1b[31mred'],
    // Alone.
    ['a\0b\x07c\x0ed\x0fe\x05f\x7fg\x85h', 'abcdefgh'],
    ['page\x0cnext', 'page\nnext'],
    // An unfinished title does not hide the lines after it.
    ['\x1b]0;never ended\nnext line', '\nnext line'],
    ['\x1b]0;a\x1b[31mred', '\x1b[31mred'],
    ['\x1b[31\nm', '\nm'],
    ['\x1b\nb', '\nb'],
    ['\x1b\x1b[31ma', '\x1b[31ma'],
  ])('%j', (text, expected) => {
    expect(filter(text)).toBe(expected);
  });

  it('shows what follows a start of a string that never ends', () => {
    const long = 'x'.repeat(5000);
    expect(filter(`\x1b]0;${long}`)).toBe(`0;${long}`);
  });

  it('keeps an unfinished sequence and loses it on reset', () => {
    const stream = createEscapeFilter();
    expect(stream.push('a\x1b[3')).toBe('a');
    expect(stream.push('1mb')).toBe('\x1b[31mb');
    stream.push('\x1b]0;ti');
    stream.reset();
    expect(stream.push('c')).toBe('c');
  });

  it('gives the same however the text is cut, and nothing that acts alone', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.constantFrom(
        '\x1b',
        '[',
        ']',
        '31m',
        '\x07',
        '\x1b\\',
        '\n',
        '\r',
        '0;',
        '\x9b',
        '\x9d',
        '?25l',
        'A',
        ' ',
      ),
    );
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(40)), (pieces, cuts) => {
        const text = pieces.join('');
        const whole = filter(text);
        const stream = createEscapeFilter();
        let cut = '';
        let at = 0;
        for (const length of cuts) {
          cut += stream.push(text.slice(at, at + length));
          at += length;
        }
        cut += stream.push(text.slice(at));
        expect(cut).toBe(whole);
        expect(whole.replace(/\x1b\[[0-9;:]*[mKABCDEFG]/g, '')).not.toMatch(
          /[\0-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]/,
        );
      }),
      { numRuns: 500 },
    );
  });
});
