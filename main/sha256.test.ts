import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { sha256 } from './sha256.js';

it('is what Node says, for every length around the ends of a block and for any letters', () => {
  const texts = Array.from({ length: 200 }, (_, length) => 'a€b'.repeat(length).slice(0, length));
  for (const text of [...texts, '/home/ö/🙂', 'x'.repeat(10_000)])
    expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
});
