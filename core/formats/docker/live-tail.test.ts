import { describe, expect, test } from 'vitest';
import { LiveTail } from './live-tail.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder().decode(data);

describe('the last line while it is not whole', () => {
  test('is what was heard after what is logged', () => {
    const tail = new LiveTail(true);
    tail.hear(bytes('begun\n 1%'));
    // Its line before may come to the log a moment later: nothing of what follows can be placed yet.
    expect(text(tail.tail())).toBe('');
    tail.log(bytes('begun\n'));
    expect(text(tail.tail())).toBe(' 1%');
    tail.hear(bytes('\r 2%'));
    expect(text(tail.tail())).toBe(' 1%\r 2%');
    tail.hear(bytes('\rdone\n'));
    expect(text(tail.tail())).toBe('');
    tail.log(bytes(' 1%\r 2%\rdone\n'));
    expect(text(tail.tail())).toBe('');
    tail.hear(bytes('next'));
    expect(text(tail.tail())).toBe('next');
  });

  test('goes on behind the pieces that are logged of a long one, whichever is told first', () => {
    const tail = new LiveTail(true);
    const piece = 'x'.repeat(16 * 1024);
    tail.hear(bytes(`${piece}a`));
    expect(tail.tail().length).toBe(16 * 1024 + 1);
    tail.log(bytes(piece));
    expect(text(tail.tail())).toBe('a');
    tail.log(bytes(`a${piece.slice(1)}`));
    expect(text(tail.tail())).toBe('');
    tail.hear(bytes('y'));
    // Logged before it was heard: where it stands is not known before the line ends.
    expect(text(tail.tail())).toBe('');
    tail.hear(bytes('\nz'));
    tail.log(bytes('\n'));
    expect(text(tail.tail())).toBe('z');
  });

  test('has whole letters only, and nothing of a line with bytes that are none', () => {
    const tail = new LiveTail(true);
    const [one = 0, two = 0, three = 0] = bytes('█');
    tail.hear(Uint8Array.from([0x61, one, two]));
    expect(text(tail.tail())).toBe('a');
    tail.hear(Uint8Array.from([three]));
    expect(text(tail.tail())).toBe('a█');
    tail.hear(Uint8Array.from([0xff]));
    expect(text(tail.tail())).toBe('');
    tail.hear(bytes('\nb'));
    tail.log(bytes('as the log has it\n'));
    expect(text(tail.tail())).toBe('b');
  });

  test('of one attached to while it ran is known again behind lines that are heard once', () => {
    const tail = new LiveTail(false);
    // The end of a line, whole ones, and the begin of one.
    tail.hear(bytes('0.41\nepoch 7 loss 0.40\nepoch 8 loss 0.39\nepoch 9 loss 0.38\n 12%'));
    tail.log(bytes('epoch 6 loss 0.41\n'));
    tail.log(bytes('epoch 7 loss 0.40\n'));
    expect(text(tail.tail())).toBe('');
    for (const line of ['epoch 8 loss 0.39\n', 'epoch 9 loss 0.38\n']) tail.log(bytes(line));
    expect(text(tail.tail())).toBe('');
    tail.hear(
      bytes('\r100%\nepoch 10 loss 0.37\nepoch 11 loss 0.36\nepoch 12 loss 0.35\nepoch 13 loss 0.34\nb'),
    );
    tail.log(bytes(' 12%\r100%\n'));
    expect(text(tail.tail())).toBe('');
    for (const number of [10, 11, 12, 13]) tail.log(bytes(`epoch ${number} loss 0.${47 - number}\n`));
    expect(text(tail.tail())).toBe('b');
  });

  test('of one attached to while it ran is known again also when it is logged before it is heard', () => {
    const tail = new LiveTail(false);
    const lines = Array.from({ length: 20 }, (_, index) => `${100 + index}\n`).join('');
    tail.log(bytes(lines));
    tail.hear(bytes(lines.slice(2, 50)));
    expect(text(tail.tail())).toBe('');
    tail.hear(bytes(`${lines.slice(50)}\r 2%`));
    expect(text(tail.tail())).toBe('\r 2%');
  });

  test('of one attached to while it ran is not guessed between lines that are the same', () => {
    const tail = new LiveTail(false);
    const same = 'the same line as before\n';
    tail.hear(bytes(`${same.repeat(8)}1%`));
    for (let line = 0; line < 8; line += 1) tail.log(bytes(same));
    expect(text(tail.tail())).toBe('');
  });

  test('is kept in bounds', () => {
    const tail = new LiveTail(true);
    for (let turn = 0; turn < 1000; turn += 1) tail.hear(new Uint8Array(1000).fill(0x78));
    expect(tail.tail().length).toBe(0);
  });

  test('of one that runs already is known again with the next line or piece of the log', () => {
    const tail = new LiveTail(false);
    const bar = Array.from({ length: 3000 }, (_, index) => `\r${index}%`).join('');
    tail.hear(bytes(bar.slice(9000)));
    expect(text(tail.tail())).toBe('');
    const whole = bar.slice(0, 2 ** 14);
    tail.log(bytes(whole.slice(0, 2 ** 13)));
    expect(text(tail.tail())).toBe('');
    tail.log(bytes(whole.slice(2 ** 13)));
    expect(text(tail.tail())).toBe(bar.slice(2 ** 14));
    tail.hear(bytes('\nnext'));
    tail.log(bytes(`${bar.slice(2 ** 14)}\n`));
    expect(text(tail.tail())).toBe('next');
  });

  test('of one that runs already is told as it is heard, until its place is known', () => {
    const tail = new LiveTail(false);
    const end = () => text(tail.unplacedEnd());
    expect(end()).toBe('');
    tail.hear(bytes('%'));
    expect(end()).toBe('%');
    tail.hear(bytes('\r'));
    expect(end()).toBe('%');
    tail.hear(bytes('\r 41%'));
    expect(end()).toBe('\r 41%');
    tail.hear(bytes('\r 42%\r'));
    expect(end()).toBe('\r 42%');
    // A new line is heard whole, whether it has carriage returns or not.
    tail.hear(bytes('\nepoch'));
    expect(end()).toBe('\repoch');
    tail.hear(bytes('\r 1%'));
    expect(end()).toBe('\r 1%');
    tail.hear(bytes('\n'));
    expect(end()).toBe('');
    const line = `${'x'.repeat(100)}\n`;
    tail.hear(bytes(`${line} 7%`));
    tail.log(bytes(line));
    expect(end()).toBe('');
    expect(text(tail.tail())).toBe(' 7%');
  });

  test('of one that is listened to from its start is never told as anything but certain', () => {
    const tail = new LiveTail(true);
    tail.hear(bytes('\r 41%'));
    expect(tail.unplacedEnd().length).toBe(0);
  });

  test('is not told longer than is shown of it', () => {
    const tail = new LiveTail(false);
    tail.hear(bytes(`\n\r${'x'.repeat(10_000)}end`));
    expect(tail.unplacedEnd().length).toBe(4096);
    expect(text(tail.unplacedEnd()).endsWith('xend')).toBe(true);
  });

  test('is not guessed where the same bytes stand twice', () => {
    const tail = new LiveTail(false);
    tail.hear(bytes('x'.repeat(300)));
    tail.log(bytes('x'.repeat(200)));
    expect(text(tail.tail())).toBe('');
  });
});
