import { expect, test } from 'vitest';
import { shownStateOf } from './shown-state.js';

test.each([
  ['PENDING', { PENDING: 2 }, 'PENDING'],
  ['RUNNING', { PENDING: 1, RUNNING: 1 }, 'RUNNING'],
  ['RUNNING', { PENDING: 1, ASSIGNED: 1, BUILDING: 1 }, 'BUILDING'],
  ['RUNNING', { ASSIGNED: 1, FAILED: 1 }, 'ASSIGNED'],
  // Evicted, or its machine is gone.
  ['RUNNING', { PENDING: 1, SUCCEEDED: 3 }, 'PENDING'],
  ['RUNNING', {}, 'RUNNING'],
  ['KILLED', { PENDING: 1 }, 'KILLED'],
] as const)('a job that is %s with tasks %j is shown as %s', (state, taskCounts, shown) => {
  expect(shownStateOf({ state, taskCounts })).toBe(shown);
});
