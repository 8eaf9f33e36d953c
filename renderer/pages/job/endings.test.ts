import { describe, expect, it } from 'vitest';
import { fakeSummary, fakeTasks } from '../../../test/harness/fake-data.js';
import { adviceFor, endingText, failedAttempt, saysEnding, signalOfExitCode } from './endings.js';

describe('endingText', () => {
  it.each<[number | null, string | null, string | null]>([
    [0, null, 'exit code 0'],
    [3, null, 'exit code 3'],
    [null, 'SIGKILL', 'signal SIGKILL'],
    [137, null, 'exit code 137 or signal SIGKILL'],
    [143, 'SIGTERM', 'exit code 143 or signal SIGTERM'],
    [124, 'SIGTERM', 'exit code 124, ended by SIGTERM'],
    [200, null, 'exit code 200'],
    [null, null, null],
  ])('%s and %s', (exitCode, signal, text) => {
    expect(endingText({ exitCode, signal })).toBe(text);
  });

  it('knows signals by the exit code a shell gives them', () => {
    expect([128, 129, 139, 193, 1].map(signalOfExitCode)).toEqual([null, 'SIGHUP', 'SIGSEGV', null, null]);
  });
});

describe('saysEnding', () => {
  const both = 'sh ended with exit code 139, or by the signal SIGSEGV (a crash): the two look the same here.';
  it.each<[string, number | null, string | null, boolean]>([
    [both, 139, null, true],
    [both, 139, 'SIGSEGV', true],
    [both, 13, null, false],
    ['sh ended with exit code 3.', 3, null, true],
    ['The time limit of 1h is over.', 124, 'SIGTERM', false],
    ['sh was ended by the signal SIGKILL.', null, 'SIGKILL', true],
    ['sh ended with exit code 139.', 139, null, false],
  ])('%s, of %s and %s: %s', (message, exitCode, signal, says) => {
    expect(saysEnding(message, { exitCode, signal })).toBe(says);
  });
});

describe('failedAttempt', () => {
  it('is the last attempt of the first failed task', () => {
    const tasks = fakeTasks(
      fakeSummary({
        id: '/anna/a',
        state: 'FAILED',
        numTasks: 4,
        taskCounts: { SUCCEEDED: 1, FAILED: 2, KILLED: 1 },
      }),
    );
    const found = failedAttempt(tasks);
    expect(found?.task.index).toBe(1);
    expect(found?.attempt?.number).toBe(1);
  });

  it('is nothing for a job of which nothing failed', () => {
    expect(failedAttempt(fakeTasks(fakeSummary({ id: '/anna/a', state: 'SUCCEEDED' })))).toBe(null);
  });
});

describe('adviceFor', () => {
  const attempt = fakeTasks(fakeSummary({ id: '/anna/a', state: 'FAILED' }))[0]?.attempts.at(-1) ?? null;

  it('names the memory that was seen', () => {
    expect(adviceFor({ code: 'MEMORY_LIMIT', message: '' }, attempt)).toEqual({
      text: 'Ask for more memory and run it again; the highest seen was 1.8 GiB.',
      action: 'edit',
    });
  });

  it('proposes another run where the command is not to blame, and nothing where the user stopped it', () => {
    expect(adviceFor({ code: 'WORKER_LOST', message: '' }, attempt)?.action).toBe('run-again');
    expect(adviceFor({ code: 'STOPPED_BY_USER', message: '' }, attempt)).toBe(null);
  });

  it('sends nobody to a log in which there is nothing', () => {
    const cause = { code: 'EXIT_CODE', message: '' } as const;
    expect(adviceFor(cause, attempt)?.text).toBe('The end of the log usually names the cause.');
    expect(adviceFor(cause, attempt, true)?.text).toBe(
      'Run it with more output, such as a verbose flag, or sh -x for a script.',
    );
    for (const signal of ['SIGSEGV', 'SIGABRT']) {
      const killed = attempt === null ? null : { ...attempt, exitCode: null, signal };
      expect(adviceFor(cause, killed)?.text).toMatch(/log/);
      expect(adviceFor(cause, killed, true)).toEqual({
        text: expect.stringMatching(/^(?!.*log).*PYTHONFAULTHANDLER=1/),
        action: 'edit',
      });
    }
  });

  it('does not call a plain kill out of memory', () => {
    if (attempt === null) throw new Error('no attempt');
    const text = adviceFor(
      { code: 'SIGNALED', message: '' },
      { ...attempt, exitCode: null, signal: 'SIGKILL' },
    )?.text;
    expect(text).toContain('Something outside killed it');
  });
});
