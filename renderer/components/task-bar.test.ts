import { expect, it } from 'vitest';
import { taskBarFill } from './task-bar.js';

it('gives each state its share, what is done first and what waits last', () => {
  expect(taskBarFill({ RUNNING: 1, SUCCEEDED: 2, FAILED: 1, PENDING: 4 }, 8)).toBe(
    'linear-gradient(to right, var(--iris-succeeded) 0% 25%, var(--iris-failed) 25% 37.5%, ' +
      'var(--iris-running) 37.5% 50%, var(--iris-meter) 50%)',
  );
});

it('is one colour where all tasks are in one state', () => {
  expect(taskBarFill({ SUCCEEDED: 3 }, 3)).toBe('var(--iris-succeeded)');
  expect(taskBarFill({ PENDING: 3 }, 3)).toBe('var(--iris-meter)');
});
