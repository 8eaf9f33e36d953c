import { expect, it } from 'vitest';
import { createPaced } from './paced.js';

function paced() {
  const timers: { readonly run: () => void; readonly ms: number }[] = [];
  let runs = 0;
  const made = createPaced(
    () => (runs += 1),
    1000,
    (run, ms) => {
      const timer = { run, ms };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
  );
  const pass = () => {
    for (const timer of timers.splice(0)) timer.run();
  };
  return { made, timers, pass, runs: () => runs };
}

it('runs at once, and once more after the pause however often it was asked meanwhile', () => {
  const { made, timers, pass, runs } = paced();
  made.run();
  expect(runs()).toBe(1);
  made.run();
  made.run();
  expect(runs()).toBe(1);
  expect(timers.map(({ ms }) => ms)).toEqual([1000]);
  pass();
  expect(runs()).toBe(2);
  pass();
  expect(runs()).toBe(2);
  made.run();
  expect(runs()).toBe(3);
});

it('runs no more after the end', () => {
  const { made, timers, runs } = paced();
  made.run();
  made.run();
  made.stop();
  expect(timers).toEqual([]);
  made.run();
  expect(runs()).toBe(1);
});
