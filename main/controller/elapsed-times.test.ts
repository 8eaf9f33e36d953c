import { expect, test } from 'vitest';
import type { Machine } from '../../core/model/entities.js';
import { drainKey } from '../../core/model/machine-change.js';
import { ElapsedTimes } from './elapsed-times.js';

const row: Omit<Machine, 'drainDeadlineMs'> = {
  id: 'ws-2',
  address: 'ssh://ws-2',
  identity: null,
  scheduling: 'DRAINING',
  attributes: {},
  taints: [],
  wakeAddress: null,
  addedAtMs: 0,
  addedBy: 'owner',
};

test('the deadline of a drain comes by the monotonic clock, from the moment it was first seen', () => {
  let [nowMs, monotonicMs] = [1_000_000, 0];
  const times = new ElapsedTimes({ nowMs: () => nowMs, monotonicMs: () => monotonicMs });
  const note = (drainDeadlineMs: number | null) => {
    const machine: Machine = { ...row, drainDeadlineMs };
    times.note({ jobs: [], attempts: [], machines: [{ id: row.id, machine }] });
  };
  const deadlineMs = nowMs + 60_000;
  const left = () => times.of(drainKey(row.id, deadlineMs), deadlineMs);
  note(deadlineMs);
  // Somebody sets the clock on by an hour.
  nowMs += 3_600_000;
  note(deadlineMs);
  expect(left()).toBeLessThan(0);
  monotonicMs += 60_000;
  expect(left()).toBeGreaterThanOrEqual(0);
  // A controller that starts now has only the wall clock to go by: the deadline stands.
  const next = new ElapsedTimes({ nowMs: () => deadlineMs - 5000, monotonicMs: () => monotonicMs });
  next.note({
    jobs: [],
    attempts: [],
    machines: [{ id: row.id, machine: { ...row, drainDeadlineMs: deadlineMs } }],
  });
  expect(next.of(drainKey(row.id, deadlineMs), deadlineMs)).toBeLessThan(0);
  monotonicMs += 5000;
  expect(next.of(drainKey(row.id, deadlineMs), deadlineMs)).toBeGreaterThanOrEqual(0);
});
