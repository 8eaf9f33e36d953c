import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { refusal, RefusalError } from '../../core/contract/errors.js';
import type { JobSummary } from '../../core/contract/views.js';
import { runProgram } from '../../main/cli/program.js';
import { testContext, type TestContext } from './context.js';
import { FakeHost, type Answers } from './fake-host.js';
import { attempt, detail, summary, task } from './views.js';

let host: FakeHost;
const contexts: TestContext[] = [];

async function start(answers: Answers = {}): Promise<void> {
  host = await FakeHost.start(answers);
}

function open(more: Parameters<typeof testContext>[1] = {}): TestContext {
  const made = testContext(host.home, more);
  contexts.push(made);
  return made;
}

afterEach(async () => {
  for (const made of contexts.splice(0)) made.context.link.close();
  await host.dispose();
});

/** Answers job.list from rows in submission order. */
function listOf(rows: readonly JobSummary[]): NonNullable<Answers['job.list']> {
  return ({ offset, limit, sort }) => {
    const ordered = sort.descending ? [...rows].reverse() : rows;
    return { total: rows.length, rows: ordered.slice(offset, offset + limit) };
  };
}

const many = Array.from({ length: 1203 }, (_, index) =>
  summary({ id: `/ada/job-${index}`, submittedAtMs: 1_700_000_000_000 + index }),
);

describe('job list', () => {
  it('gives programs every job, through all pages, newest first', async () => {
    await start({ 'job.list': listOf(many) });
    const made = open({ json: true });
    expect(await runProgram(made.context, ['job', 'list'])).toBe(0);
    const rows = JSON.parse(made.out()) as JobSummary[];
    expect(rows).toHaveLength(1203);
    expect([rows[0]?.id, rows.at(-1)?.id]).toEqual(['/ada/job-1202', '/ada/job-0']);
    expect(host.calls.filter((call) => call.method === 'job.list').map((call) => call.params)).toMatchObject([
      { offset: 0, filter: { rootsOnly: false } },
      { offset: 500 },
      { offset: 1000 },
    ]);
  });

  it('gives people the newest and says that there are more', async () => {
    await start({ 'job.list': listOf(many) });
    const made = open();
    expect(await runProgram(made.context, ['job', 'list', '--limit', '2'])).toBe(0);
    expect(
      made
        .out()
        .split('\n')
        .slice(1, 3)
        .map((line) => line.split(' ')[0]),
    ).toEqual(['/ada/job-1202', '/ada/job-1201']);
    expect(made.err()).toBe('irisctl: only the newest 2 are shown; --limit 0 shows all.\n');
  });

  it('passes filters on and tests the prefix itself', async () => {
    await start({ 'job.list': listOf(many) });
    const made = open({ json: true });
    await runProgram(made.context, [
      'job',
      'list',
      '--state',
      'failed,killed',
      '--prefix',
      '/ada/job-120',
      '--search',
      'train',
      '--roots',
    ]);
    expect(host.calls.find((call) => call.method === 'job.list')?.params).toMatchObject({
      filter: { states: ['FAILED', 'KILLED'], search: 'train /ada/job-120', rootsOnly: true },
    });
    expect((JSON.parse(made.out()) as JobSummary[]).map((row) => row.id)).toEqual([
      '/ada/job-1202',
      '/ada/job-1201',
      '/ada/job-1200',
      '/ada/job-120',
    ]);
  });
});

describe('job stop and job retry', () => {
  it('take ids, names and standard input, and tell each answer', async () => {
    await start({
      'job.get': ({ jobId }) => detail(summary({ id: `/ada/${jobId}` })),
      'job.stop': ({ jobIds }) => ({
        results: jobIds.map((id) => ({
          id,
          newId: null,
          refusal: id === '/ada/gone' ? refusal('NOT_FOUND', 'There is no job /ada/gone.') : null,
        })),
      }),
    });
    const made = open({ lines: ['/ada/b', 'c'] });
    expect(await runProgram(made.context, ['job', 'kill', '/ada/gone', '--stdin'])).toBe(125);
    expect(made.out()).toBe('stopping /ada/b\nstopping /ada/c\n');
    expect(made.err()).toBe('irisctl: /ada/gone: There is no job /ada/gone.\n');
  });

  it('wait for the last process when asked', async () => {
    await start({
      'job.stop': ({ jobIds }) => ({ results: jobIds.map((id) => ({ id, newId: null, refusal: null })) }),
    });
    const killed = summary({ id: '/ada/a', state: 'KILLED' });
    host.changeJob(killed, [task({ state: 'KILLED', attempts: [attempt({ state: 'KILLED' })] })]);
    const made = open();
    const code = runProgram(made.context, ['job', 'stop', '--wait', '/ada/a']);
    await eventually(() => host.watchers('job')).toBe(1);
    expect(made.out()).toBe('');
    host.changeJob(killed, [
      task({ state: 'KILLED', attempts: [attempt({ state: 'KILLED', finishedAtMs: 7 })] }),
    ]);
    expect(await code).toBe(0);
    expect(made.out()).toBe('stopped /ada/a\n');
  });

  it('print the new ids of a retry', async () => {
    await start({
      'job.retry': ({ jobIds }) => ({
        results: jobIds.map((id) => ({ id, newId: `${id}-2`, refusal: null })),
      }),
    });
    const made = open();
    expect(await runProgram(made.context, ['job', 'retry', '/ada/a', '/ada/b'])).toBe(0);
    expect(made.out()).toBe('/ada/a-2\n/ada/b-2\n');
  });

  it('refuse to do nothing', async () => {
    await start();
    await expect(runProgram(open().context, ['job', 'stop'])).rejects.toThrow('Name at least one job');
  });
});

describe('job show', () => {
  it('shows both facts of a time limit, and what was noticed of an attempt', async () => {
    const limit = { code: 'TIME_LIMIT', message: 'Time was up.' } as const;
    const cut = { code: 'LOG_STORAGE_FULL', message: 'The disk was full.' } as const;
    const part = { state: 'FAILED', exitCode: 124, signal: 'SIGTERM', finishedAtMs: 1 } as const;
    await start({
      'job.get': () => detail(summary({ state: 'FAILED', exitCode: 124, cause: limit })),
      'task.list': () => ({
        total: 1,
        rows: [task({ state: 'FAILED', attempts: [attempt({ ...part, cause: limit, warnings: [cut] })] })],
      }),
    });
    const made = open();
    expect(await runProgram(made.context, ['job', 'show', 'train-1'])).toBe(0);
    expect(made.out()).toMatch(
      /FAILED +124 SIGTERM +- +- +here +Time was up\. Warning: The disk was full\.$/m,
    );
  });

  it('tells the job, its tasks and attempts', async () => {
    await start({
      'job.get': () =>
        detail(
          summary({
            state: 'FAILED',
            exitCode: 3,
            cause: { code: 'EXIT_CODE', message: 'Task 0 ended with exit code 3.' },
          }),
        ),
      'task.list': () => ({
        total: 1,
        rows: [
          task({
            state: 'FAILED',
            attempts: [attempt({ state: 'FAILED', exitCode: 3, durationMs: 1500, finishedAtMs: 1 })],
          }),
        ],
      }),
    });
    const made = open();
    expect(await runProgram(made.context, ['job', 'show', 'train-1'])).toBe(0);
    expect(made.out()).toMatch(/^Job +\/ada\/train-1$/m);
    expect(made.out()).toMatch(/^Reason +Task 0 ended with exit code 3\.$/m);
    expect(made.out()).toMatch(/^ +0 +0 +FAILED +3 +1\.5s +- +here$/m);
    const json = open({ json: true });
    await runProgram(json.context, ['job', 'show', 'train-1']);
    expect(JSON.parse(json.out())).toMatchObject({
      summary: { id: '/ada/train-1', exitCode: 3 },
      tasks: [{ index: 0 }],
    });
  });
});

describe('job logs', () => {
  const logs = new Map([
    ['a0', 'first\n'],
    ['a1', 'one\ntwo\nthree\n'],
    ['b0', 'other\n'],
  ]);
  const answers: Answers = {
    'job.get': () => detail(summary({ state: 'SUCCEEDED', numTasks: 2 })),
    'task.list': () => ({
      total: 2,
      rows: [
        task({
          index: 0,
          attempts: [
            attempt({ uid: 'a0', number: 0, finishedAtMs: 1 }),
            attempt({ uid: 'a1', number: 1, finishedAtMs: 1 }),
          ],
        }),
        task({ index: 1, attempts: [attempt({ uid: 'b0', finishedAtMs: 1 })] }),
      ],
    }),
    'log.merged': ({ attemptUid, cursor }) => {
      const text = logs.get(attemptUid) ?? '';
      const from = cursor?.out ?? 0;
      const chunks =
        from < text.length
          ? [
              {
                stream: 'out' as const,
                offset: from,
                dataBase64: Buffer.from(text.slice(from)).toString('base64'),
              },
            ]
          : [];
      return {
        chunks,
        cursor: { out: text.length, err: 0 },
        outSize: text.length,
        errSize: 0,
        complete: chunks.length === 0,
      };
    },
  };

  it.each([
    [['train-1'], 'one\ntwo\nthree\nother\n'],
    [['train-1', '--task', '1'], 'other\n'],
    [['/ada/train-1/1'], 'other\n'],
    [['/ada/train-1/0:0'], 'first\n'],
    [['train-1', '--task', '0', '--attempt', '0'], 'first\n'],
    [['train-1', '--tail', '1'], 'three\nother\n'],
    [['train-1', '--tail', '2', '--task', '0', '--prefix'], '[0] two\n[0] three\n'],
    [['train-1', '--stream', 'err'], ''],
  ])('%j', async (words, expected) => {
    await start(answers);
    const made = open();
    expect(await runProgram(made.context, ['job', 'logs', ...words])).toBe(0);
    expect(made.out()).toBe(expected);
  });

  it.each([
    [['--since-seconds', '5'], (nowMs: number) => nowMs - 5000],
    [['--since-ms', '1700000000000'], () => 1_700_000_000_000],
  ])('asks with %j for what was written since, once, and goes on from there', async (words, expected) => {
    await start(answers);
    const made = open();
    expect(await runProgram(made.context, ['job', 'logs', '/ada/train-1/1', ...words])).toBe(0);
    const asked = host.calls.filter((call) => call.method === 'log.merged').map((call) => call.params);
    const sinceMs = expected(made.context.nowMs());
    expect(asked).toEqual([
      { attemptUid: 'b0', cursor: null, tail: false, sinceMs, maxBytes: 524_288 },
      { attemptUid: 'b0', cursor: { out: 6, err: 0 }, tail: false, sinceMs: null, maxBytes: 524_288 },
    ]);
  });

  it('gives programs a line each', async () => {
    await start(answers);
    const made = open({ json: true });
    await runProgram(made.context, ['job', 'logs', 'train-1', '--tail', '1']);
    expect(
      made
        .out()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { task: 0, attempt: 1, stream: 'out', text: 'three' },
      { task: 1, attempt: 0, stream: 'out', text: 'other' },
    ]);
  });

  it('names what there is instead of what there is not', async () => {
    await start(answers);
    await expect(runProgram(open().context, ['job', 'logs', 'train-1', '--task', '7'])).rejects.toThrow(
      '/ada/train-1 has no task 7; it has 0 to 1.',
    );
    await expect(runProgram(open().context, ['job', 'logs', 'train-1', '--attempt', '9'])).rejects.toThrow(
      '/ada/train-1 has no attempt 9',
    );
  });
});

describe('job wait', () => {
  it('exits as the job', async () => {
    await start();
    host.changeJob(
      summary({ state: 'FAILED', exitCode: 4, cause: { code: 'EXIT_CODE', message: 'exit code 4.' } }),
      [task({ state: 'FAILED', attempts: [attempt({ state: 'FAILED', exitCode: 4, finishedAtMs: 1 })] })],
    );
    const made = open();
    expect(await runProgram(made.context, ['job', 'wait', '/ada/train-1'])).toBe(4);
    expect(made.out()).toBe('/ada/train-1 FAILED\n');
    expect(made.err()).toBe('irisctl: /ada/train-1 FAILED: exit code 4.\n');
  });

  it('gives up after the time named', async () => {
    await start();
    host.changeJob(summary(), [task()]);
    const made = open();
    expect(await runProgram(made.context, ['job', 'wait', '/ada/train-1', '--timeout', '50ms'])).toBe(124);
    expect(made.err()).toContain('not ended: /ada/train-1');
    await expect(runProgram(open().context, ['job', 'wait', '/ada/a', '--timeout', 'soon'])).rejects.toThrow(
      '--timeout soon: expected a duration',
    );
  });
});

describe('what is typed wrong', () => {
  it.each([
    [['jobs'], /unknown command 'jobs'.*job/],
    [['job', 'lst'], /unknown command 'lst'.*list/],
    [['job', 'list', '--sate', 'x'], /unknown option '--sate'.*--state/],
    [['job', 'list', '--limit', 'many'], /--limit.*many.*whole number/],
    [['job', 'show'], /missing required argument 'ID'/],
    [['job', 'logs', 'a', '--since-seconds', 'x'], /--since-seconds.*x.*whole number/],
    [['job', 'logs', 'a', '--since-seconds', '5', '--tail', '1'], /--tail and --since-seconds cannot/],
    [
      ['job', 'logs', 'a', '--since-seconds', '5', '--since-ms', '1'],
      /--since-seconds and --since-ms cannot/,
    ],
    [[], /a subcommand is missing; irisctl --help lists them/],
    [['job'], /a subcommand is missing; irisctl job --help lists them/],
    [['debug', 'replay', '/dev/null/x'], /\/dev\/null\/x is no record of rounds that can be read: ENOTDIR/],
  ])('%j is refused with what would be right', async (words, message) => {
    await start();
    const failed = runProgram(open().context, words);
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.toBeInstanceOf(RefusalError);
  });

  it('does not hide help', async () => {
    await start();
    const made = open();
    expect(await runProgram(made.context, ['job', '--help'])).toBe(0);
    expect(made.out()).toContain('retry');
    for (const words of [
      ['job', 'help', 'run'],
      ['job', 'run', '--help'],
    ]) {
      const run = open();
      expect(await runProgram(run.context, words)).toBe(0);
      expect(run.out()).toContain('--max-retries N');
    }
  });
});

describe('job explain', () => {
  it('says of a job that does not wait what it does, in words', async () => {
    await start({ 'job.explain': () => ({ explanation: null }) });
    const said = async (state: JobSummary['state']) => {
      host.answers['job.get'] = () => detail(summary({ state }));
      const made = open();
      expect(await runProgram(made.context, ['job', 'explain', '/ada/train-1'])).toBe(0);
      return made.out();
    };
    expect(await said('RUNNING')).toBe('/ada/train-1 does not wait: it runs.\n');
    expect(await said('UNSCHEDULABLE')).toBe('/ada/train-1 does not wait: it could not be scheduled.\n');
    expect(await said('PENDING')).toBe('/ada/train-1 does not wait: it is about to start.\n');
  });
});
