import { expect, test } from 'vitest';
import { firstTogether } from './first-frames.js';

function frames() {
  const seen: string[] = [];
  const turns: (() => void)[] = [];
  const { receive, flush } = firstTogether(
    (text) => seen.push(text),
    (run) => turns.push(run),
    () => seen.push('begins'),
  );
  return { seen, turns, receive, flush, turn: () => turns.shift()?.() };
}

test('what comes turn after turn is taken in together, in order, with the first turn that brings nothing', () => {
  const { seen, turns, receive, turn } = frames();
  receive('1');
  receive('2');
  turn();
  receive('3');
  turn();
  expect(seen).toEqual([]);
  turn();
  expect(seen).toEqual(['begins', '1', '2', '3']);
  expect(turns).toEqual([]);
});

test('what comes later is taken in as it comes', () => {
  const { seen, turns, receive, turn } = frames();
  receive('1');
  turn();
  receive('2');
  expect(seen).toEqual(['begins', '1', '2']);
  expect(turns).toEqual([]);
});

test('a controller that goes on telling is not waited for', () => {
  const { seen, turns, receive, turn } = frames();
  receive('0');
  for (let count = 1; turns.length > 0 && count < 1000; count += 1) {
    receive(String(count));
    turn();
  }
  expect(turns).toEqual([]);
  expect(seen.slice(0, 3)).toEqual(['begins', '0', '1']);
});

test('where nothing is drawn the first is taken in at once', () => {
  const seen: string[] = [];
  const { receive } = firstTogether(
    (text) => seen.push(text),
    null,
    () => seen.push('begins'),
  );
  receive('1');
  receive('2');
  expect(seen).toEqual(['begins', '1', '2']);
});

test('what waits at the end of the connection is taken in then, and once', () => {
  const { seen, receive, flush, turn } = frames();
  receive('refused');
  flush();
  expect(seen).toEqual(['begins', 'refused']);
  turn();
  flush();
  expect(seen).toEqual(['begins', 'refused']);
});

test('a connection that ends before anything came begins nothing', () => {
  const { seen, flush } = frames();
  flush();
  expect(seen).toEqual([]);
});
