import { expect, test } from 'vitest';
import { freshText } from './fresh-text.js';
import { randomHex } from './random-hex.js';

test('suffixes are six characters and go up, also within a millisecond and after a clock was set back', () => {
  let nowMs = 1_800_000_000_000;
  const { suffix } = freshText(
    randomHex,
    () => nowMs,
    () => 0,
  );
  const made = [suffix(), suffix()];
  nowMs += 5;
  made.push(suffix());
  nowMs -= 1000;
  made.push(suffix());
  expect(made).toEqual(made.toSorted());
  expect(new Set(made).size).toBe(4);
  for (const each of made) expect(each).toMatch(/^[0-9a-z]{6}$/);
});

test('suffixes go on behind those of the last submission, which a start before this one may have made ahead of the clock', () => {
  const before = freshText(
    randomHex,
    () => 1_800_000_000_000,
    () => 0,
  );
  const made = [before.suffix(), before.suffix(), before.suffix()];
  const after = freshText(
    randomHex,
    () => 1_800_000_000_000,
    () => 1_800_000_000_002,
  );
  made.push(after.suffix());
  expect(made).toEqual(made.toSorted());
  expect(new Set(made).size).toBe(4);
});

test('a suffix is six characters when the milliseconds begin anew', () => {
  const { suffix } = freshText(
    randomHex,
    () => 36 ** 6 * 1000,
    () => 0,
  );
  expect([suffix(), suffix()]).toEqual(['000000', '000001']);
});

test('uids are 16 hex digits, no two alike, those of later times behind those of earlier ones', () => {
  let nowMs = 1_800_000_000_000;
  const { uid } = freshText(
    randomHex,
    () => nowMs,
    () => 0,
  );
  const early = Array.from({ length: 100 }, uid);
  nowMs += 16;
  const late = Array.from({ length: 100 }, uid);
  for (const each of [...early, ...late]) expect(each).toMatch(/^[0-9a-f]{16}$/);
  expect(new Set([...early, ...late]).size).toBe(200);
  expect([...early, ...late].toSorted().slice(0, 100)).toEqual(early.toSorted());
});
