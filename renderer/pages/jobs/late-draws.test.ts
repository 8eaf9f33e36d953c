// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLateDraws } from './late-draws.js';

const frameMs = 16;
let drawn: number[];
const late = () => createLateDraws<number>((item) => drawn.push(item));
const frames = (count: number) => vi.advanceTimersByTime(count * frameMs);
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['requestAnimationFrame', 'cancelAnimationFrame', 'performance'] });
  drawn = [];
});
afterEach(() => {
  vi.useRealTimers();
});

it('draws a change with the next frame, and once however often it changed', () => {
  const draws = late();
  draws.add(7);
  draws.add(7);
  expect(drawn).toEqual([]);
  frames(3);
  expect(drawn).toEqual([7]);
});

it('draws many changes over four frames', () => {
  const draws = late();
  for (const item of range(40)) draws.add(item);
  frames(1);
  expect(drawn).toEqual(range(10));
  frames(3);
  expect(drawn).toEqual(range(40));
});

it('draws nothing while lines fly by, and all once they rest', () => {
  const draws = late();
  for (const item of range(4)) draws.add(item);
  for (let turn = 0; turn < 10; turn += 1) {
    draws.moved(4);
    frames(1);
  }
  expect(drawn).toEqual([]);
  frames(8);
  expect(drawn).toEqual(range(4));
});

it('draws while the list moves so slowly that it can be read', () => {
  const draws = late();
  draws.add(1);
  draws.moved(1);
  frames(1);
  expect(drawn).toEqual([1]);
});

it('draws in flight only what has waited for a second: what changed and left meanwhile was drawn with its successor', () => {
  const draws = late();
  draws.add(1);
  for (let turn = 0; turn < 70; turn += 1) {
    draws.moved(4);
    if (turn % 10 === 0) {
      draws.add(2);
      draws.drop(2);
      draws.add(2);
    }
    if (turn === 50) expect(drawn).toEqual([]);
    frames(1);
  }
  expect(drawn).toEqual([1]);
  frames(8);
  expect(drawn).toEqual([1, 2]);
});

it('counts lines that come one by one, but fast, as flight', () => {
  const draws = late();
  for (let turn = 0; turn < 20; turn += 1) {
    draws.moved(1);
    frames(1);
  }
  draws.add(1);
  for (let turn = 0; turn < 20; turn += 1) {
    draws.moved(1);
    frames(1);
  }
  expect(drawn).toEqual([]);
});

it('draws nothing that was dropped, and nothing after the end', () => {
  const draws = late();
  draws.add(1);
  draws.add(2);
  draws.drop(1);
  frames(2);
  expect(drawn).toEqual([2]);
  draws.add(3);
  draws.stop();
  frames(2);
  expect(drawn).toEqual([2]);
});
