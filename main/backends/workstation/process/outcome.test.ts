import { expect, test } from 'vitest';
import { outcomeOf, supervisorLost, type EndFacts } from './outcome.js';

const facts: EndFacts = {
  code: 137,
  timedOut: false,
  stop: null,
  memory: null,
  timeLimitMs: 60_000,
  fullDisk: null,
  program: 'python3',
  otherwise: supervisorLost,
};
const causeOf = (more: Partial<EndFacts>) => outcomeOf({ ...facts, ...more }).cause?.code;

test('a child that was ended for want of memory hours ago is not what a time limit ended', () => {
  const killed = { limitBytes: 8e9, measured: false };
  expect(causeOf({ memory: killed })).toBe('MEMORY_LIMIT');
  expect(causeOf({ memory: killed, timedOut: true, code: 143 })).toBe('TIME_LIMIT');
  const stop = { reason: 'timeout', signals: new Set(['SIGTERM']) } as const;
  expect(causeOf({ memory: killed, stop, code: 143 })).toBe('TIME_LIMIT');
  // What we ended ourselves because it was over its limit ended by that.
  expect(causeOf({ memory: { ...killed, measured: true }, timedOut: true })).toBe('MEMORY_LIMIT');
  expect(causeOf({ memory: killed, code: 0 })).toBeUndefined();
});
