import { describe, expect, it } from 'vitest';
import type { JobSpec } from '../contract/job-request.js';
import { parseJobRequest } from '../contract/job-request.js';
import type { Attempt, Job, Task } from './entities.js';
import { commandLineOf, maxCommandLineLength, summarizeJob, toTaskView } from './summary.js';

function spec(command: string[], gpu?: string): JobSpec {
  const parsed = parseJobRequest({ command, workingDirectory: '/w', ...(gpu === undefined ? {} : { gpu }) });
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return parsed.value;
}

const job: Job = {
  id: '/ann/j',
  user: 'ann',
  submittedBy: 'ann',
  parentId: null,
  rootId: '/ann/j',
  depth: 1,
  name: 'j',
  state: 'RUNNING',
  band: 'BATCH',
  submittedAtMs: 1,
  rootSubmittedAtMs: 1,
  startedAtMs: 2,
  finishedAtMs: null,
  schedulingDeadlineMs: null,
  cause: null,
  exitCode: null,
  numTasks: 3,
  retryOf: '/ann/i',
  held: false,
  rank: 0,
  spec: spec(['run', 'a b'], 'H100x2'),
};

function task(index: number, part: Partial<Task> = {}): Task {
  return {
    id: `/ann/j/${index}`,
    jobId: '/ann/j',
    index,
    state: 'PENDING',
    final: false,
    band: 'BATCH',
    submittedAtMs: 1,
    startedAtMs: null,
    finishedAtMs: null,
    exitCode: null,
    cause: null,
    waiting: null,
    currentAttempt: -1,
    insertion: index,
    failureCount: 0,
    preemptionCount: 0,
    claim: null,
    ...part,
  };
}

function attempt(index: number, number: number, workerId: string): Attempt {
  return {
    uid: `${index}-${number}`,
    taskId: `/ann/j/${index}`,
    jobId: '/ann/j',
    number,
    state: 'RUNNING',
    backendId: 'local',
    workerId,
    createdAtMs: 1,
    startedAtMs: null,
    finishedAtMs: null,
    durationMs: null,
    exitCode: null,
    signal: null,
    cause: null,
    warnings: [],
    devices: ['GPU-1'],
    cpuMillicores: 100,
    memoryBytes: 1,
    ports: {},
    peakMemoryBytes: null,
    pid: null,
    checkpointAtMs: null,
    noticeAtMs: null,
    evictableBy: null,
  };
}

describe('the line of a job', () => {
  it('sums its tasks and names where they are', () => {
    const waiting = { code: 'WAITS_FOR_CAPACITY', message: 'first' } as const;
    const tasks = [
      task(2, { waiting: { code: 'WAITS_HELD', message: 'later' } }),
      task(1, { waiting, failureCount: 1, preemptionCount: 2 }),
      task(0, {
        state: 'RUNNING',
        currentAttempt: 1,
        failureCount: 1,
        waiting: { code: 'WAITS_HELD', message: 'no more' },
      }),
    ];
    const attempts = [attempt(0, 0, 'gone'), attempt(0, 1, 'here'), attempt(1, 0, 'never')];
    expect(summarizeJob(job, tasks, attempts, 4)).toEqual({
      id: '/ann/j',
      name: 'j',
      user: 'ann',
      parentId: null,
      rootId: '/ann/j',
      depth: 1,
      state: 'RUNNING',
      band: 'BATCH',
      submittedAtMs: 1,
      startedAtMs: 2,
      finishedAtMs: null,
      numTasks: 3,
      taskCounts: { PENDING: 2, RUNNING: 1 },
      childCount: 4,
      failureCount: 2,
      preemptionCount: 2,
      gpuCount: 6,
      exitCode: null,
      cause: null,
      waiting,
      workers: ['here'],
      commandLine: "run 'a b'",
      retryOf: '/ann/i',
      held: false,
    });
  });

  it('names four workers at most, in name order', () => {
    const tasks = [0, 1, 2, 3, 4].map((index) => task(index, { state: 'RUNNING', currentAttempt: 0 }));
    const attempts = ['e', 'b', 'd', 'b', 'a'].map((name, index) => attempt(index, 0, name));
    expect(summarizeJob(job, tasks, attempts, 0).workers).toEqual(['a', 'b', 'd', 'e']);
    const more = [...attempts.slice(0, 3), attempt(3, 0, 'c'), attempt(4, 0, 'a')];
    expect(summarizeJob(job, tasks, more, 0).workers).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('the view of a task', () => {
  it('holds its last twenty attempts, oldest first', () => {
    const attempts = Array.from({ length: 23 }, (_, number) => attempt(0, 22 - number, ''));
    const view = toTaskView(task(0), attempts);
    expect(view.attempts.map((item) => item.number)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 3),
    );
    expect(view.attempts[0]).toMatchObject({ workerId: null, devices: ['GPU-1'] });
  });
});

describe('the command line', () => {
  it.each([
    [['/bin/true'], '/bin/true'],
    [['sh', '-c', 'echo "hi"; exit 3'], `sh -c 'echo "hi"; exit 3'`],
    [['echo', "it's", ''], `echo 'it'\\''s' ''`],
    [['printf', 'a\n\tb\u0000c'], "printf 'a b c'"],
    [['echo', 'half \ud83d pair', '👍'], "echo 'half \uFFFD pair' '👍'"],
  ])('of %j is %s', (command, line) => {
    expect(commandLineOf(command)).toBe(line);
  });

  it('is cut at 200 characters and never in the middle of one', () => {
    expect(commandLineOf(['x'.repeat(200)])).toBe('x'.repeat(200));
    expect(commandLineOf(['x'.repeat(201)])).toBe(`${'x'.repeat(199)}…`);
    const pairs = commandLineOf([`a${'👍'.repeat(200)}`]);
    expect(pairs.length).toBeLessThanOrEqual(maxCommandLineLength);
    expect(pairs).toBe(`'a${'👍'.repeat(98)}…`);
    expect(commandLineOf(Array.from({ length: 10_000 }, () => 'word'))).toHaveLength(200);
  });
});
