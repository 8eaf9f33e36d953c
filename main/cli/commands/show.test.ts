import { expect, test } from 'vitest';
import type { AttemptView, TaskView } from '../../../core/contract/views.js';
import { taskTable } from './show.js';

const attempt: AttemptView = {
  uid: 'a1',
  taskId: '/ann/train/0',
  number: 0,
  state: 'RUNNING',
  workerId: 'ws-2',
  createdAtMs: 1000,
  startedAtMs: 1000,
  finishedAtMs: null,
  durationMs: null,
  exitCode: null,
  signal: null,
  cause: null,
  warnings: [],
  devices: [],
  peakMemoryBytes: null,
  pid: null,
  checkpointAtMs: null,
  noticeAtMs: null,
};
const task: TaskView = {
  id: '/ann/train/0',
  index: 0,
  state: 'RUNNING',
  band: 'INTERACTIVE',
  submittedAtMs: 1000,
  startedAtMs: 1000,
  finishedAtMs: null,
  exitCode: null,
  cause: null,
  waiting: null,
  failureCount: 0,
  preemptionCount: 0,
  attempts: [attempt],
};

test('an attempt that goes on has run until now', () => {
  expect(taskTable([task], 91_000)).toMatch(/RUNNING +- +1m 30s +- +ws-2/);
});

test('what a task said last is a sentence of its own before what it used', () => {
  const cause = {
    code: 'EXIT_CODE',
    message: 'sh ended with exit code 1. It said last: out of memory',
  } as const;
  const usage = {
    cpuSeconds: 1.5,
    memoryBytes: null,
    diskReadBytes: null,
    diskWrittenBytes: null,
    gpuPercent: null,
    gpuMemoryBytes: null,
    energyJoules: null,
    devicesUsed: [],
  };
  const ended: AttemptView = {
    ...attempt,
    state: 'FAILED',
    finishedAtMs: 2000,
    durationMs: 1000,
    cause,
    usage,
  };
  expect(taskTable([{ ...task, attempts: [ended] }], 3000)).toContain('out of memory. Used ');
});

test('a task that waits for its next attempt says why below those it had', () => {
  const waiting = { code: 'WAITS_BACKEND_NOT_READY', message: 'Waits: ws-2 is drained.' } as const;
  const preempted: AttemptView = { ...attempt, state: 'PREEMPTED', finishedAtMs: 2000, durationMs: 1000 };
  const text = taskTable([{ ...task, state: 'PENDING', waiting, attempts: [preempted] }], 3000);
  expect(text.trim().split('\n').at(-1)).toMatch(/^ *0 +- +PENDING .*Waits: ws-2 is drained\.$/);
});
