import { describe, expect, it } from 'vitest';
import type { CauseCode, TaskView } from '../../core/contract/views.js';
import { jobExitCode } from '../../main/cli/exit-codes.js';
import { attempt, summary, task } from './views.js';

const failed = summary({ state: 'FAILED' });

function failedTask(
  index: number,
  exitCode: number | null,
  more: { signal?: string; cause?: CauseCode } = {},
): TaskView {
  const cause = more.cause === undefined ? null : { code: more.cause, message: 'a sentence' };
  return task({
    index,
    state: 'FAILED',
    exitCode,
    cause,
    attempts: [attempt({ state: 'FAILED', exitCode, signal: more.signal ?? null, cause, finishedAtMs: 1 })],
  });
}

describe('the exit code of a job', () => {
  it('is 0 for success, whatever its attempts were', () => {
    expect(jobExitCode(summary({ state: 'SUCCEEDED', exitCode: 0 }), [failedTask(0, 3)])).toBe(0);
  });

  it("is the first failed task's own by index", () => {
    expect(
      jobExitCode(failed, [failedTask(2, 9), failedTask(1, 4), task({ index: 0, state: 'SUCCEEDED' })]),
    ).toBe(4);
  });

  it('is not taken from a task that ended because the job did', () => {
    const killed = task({
      index: 0,
      state: 'KILLED',
      attempts: [attempt({ state: 'KILLED', signal: 'SIGTERM' })],
    });
    expect(jobExitCode(failed, [killed, failedTask(1, 7)])).toBe(7);
  });

  it('is that of the last attempt after retries', () => {
    const retried = task({
      state: 'FAILED',
      attempts: [
        attempt({ number: 0, state: 'FAILED', exitCode: 1 }),
        attempt({ number: 1, state: 'FAILED', exitCode: 5 }),
      ],
    });
    expect(jobExitCode(failed, [retried])).toBe(5);
  });

  it.each([
    ['SIGKILL', 137],
    ['SIGSEGV', 139],
    ['SIGTERM', 143],
  ])('is 128 + n after %s', (signal, code) => {
    expect(jobExitCode(failed, [failedTask(0, null, { signal, cause: 'SIGNALED' })])).toBe(code);
  });

  it.each([
    ['TIME_LIMIT', 124],
    ['PROGRAM_NOT_EXECUTABLE', 126],
    ['PROGRAM_NOT_FOUND', 127],
    ['MEMORY_LIMIT', 137],
    ['FOLDER_MISSING', 125],
    ['SCHEDULING_DEADLINE', 125],
  ] as const)('for %s is %i', (cause, code) => {
    expect(jobExitCode(failed, [failedTask(0, null, { cause })])).toBe(code);
  });

  it('is 124 after a time limit although the process was ended by a signal', () => {
    expect(jobExitCode(failed, [failedTask(0, null, { signal: 'SIGTERM', cause: 'TIME_LIMIT' })])).toBe(124);
  });

  it('is 143 for a job stopped before anything ran', () => {
    expect(jobExitCode(summary({ state: 'KILLED' }), [task({ state: 'KILLED' })])).toBe(143);
  });

  it('is 125 for a job no worker could run', () => {
    expect(jobExitCode(summary({ state: 'UNSCHEDULABLE' }), [task({ state: 'UNSCHEDULABLE' })])).toBe(125);
  });
});
