import { expect, test } from 'vitest';
import { createIdleInbox, type IdleDeadline } from './idle-inbox.js';

const delta = (seq: number) => JSON.stringify({ kind: 'delta', id: 1, seq, value: {} });
const result = JSON.stringify({ kind: 'result', id: 2, value: {} });

function inbox() {
  const taken: string[] = [];
  const asked: ((deadline: IdleDeadline) => void)[] = [];
  const push = createIdleInbox(
    (text) => taken.push(text),
    (run) => asked.push(run),
  );
  const idle = (...leftMs: number[]) =>
    asked.shift()?.({ didTimeout: false, timeRemaining: () => leftMs.shift() ?? 0 });
  const late = () => asked.shift()?.({ didTimeout: true, timeRemaining: () => 0 });
  return { taken, asked, push, idle, late };
}

test('changes wait until the page has time, and what does not fit waits for more', () => {
  const { taken, asked, push, idle } = inbox();
  for (const seq of [1, 2, 3]) push(delta(seq));
  expect(taken).toEqual([]);
  expect(asked).toHaveLength(1);
  idle(10, 8, 4);
  expect(taken).toEqual([delta(1), delta(2)]);
  idle(10);
  expect(taken).toEqual([delta(1), delta(2), delta(3)]);
  expect(asked).toEqual([]);
});

test('a page without time takes them in all the same in the end', () => {
  const { taken, push, late } = inbox();
  push(delta(1));
  push(delta(2));
  late();
  expect(taken).toEqual([delta(1), delta(2)]);
});

test('an answer is taken in at once, behind what came before it', () => {
  const { taken, push, idle } = inbox();
  push(delta(1));
  push(result);
  expect(taken).toEqual([delta(1), result]);
  push(delta(2));
  idle(10);
  expect(taken).toEqual([delta(1), result, delta(2)]);
});

test('where nobody tells of idle time all is taken in as it comes', () => {
  const taken: string[] = [];
  const push = createIdleInbox((text) => taken.push(text), null);
  push(delta(1));
  expect(taken).toEqual([delta(1)]);
});
