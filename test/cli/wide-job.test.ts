/** Jobs of more tasks than the first answer about a job holds. */
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import type { TaskView } from '../../core/contract/views.js';
import { runProgram } from '../../main/cli/program.js';
import { testContext, type TestContext } from './context.js';
import { FakeHost, type Answers } from './fake-host.js';
import { attempt, detail, summary, task } from './views.js';

const numTasks = 1200;
const firstOnes = 500;
const jobId = '/ada/train-1';

let host: FakeHost;
const contexts: TestContext[] = [];

function taskOf(index: number, more: Partial<TaskView> = {}, attemptMore: object = {}): TaskView {
  const id = `${jobId}/${index}`;
  const uid = index.toString(16).padStart(16, '0');
  const ended = { state: 'SUCCEEDED', finishedAtMs: 1_700_000_000_500, exitCode: 0 } as const;
  const attempts = [attempt({ uid, taskId: id, ...ended, ...attemptMore })];
  return task({ id, index, state: 'SUCCEEDED', attempts, ...more });
}

/** `whole`: what a list of tasks says; a first answer has the first of them alone. */
async function start(state: 'SUCCEEDED' | 'FAILED' | 'KILLED', whole: TaskView[], answers: Answers = {}) {
  const job = summary({ state, numTasks, exitCode: state === 'SUCCEEDED' ? 0 : null });
  host = await FakeHost.start({
    'job.get': () => detail(job),
    'task.list': ({ offset, limit }) => ({
      total: whole.length,
      rows: whole.slice(offset, offset + limit),
    }),
    ...answers,
  });
  host.job = { summary: job, tasks: whole.slice(0, firstOnes) };
  return job;
}

function open(): TestContext {
  const made = testContext(host.home, {});
  contexts.push(made);
  return made;
}

afterEach(async () => {
  for (const made of contexts.splice(0)) made.context.link.close();
  await host.dispose();
});

const all = (of = taskOf) => Array.from({ length: numTasks }, (_, index) => of(index));

describe('a job of many tasks', () => {
  it('has the logs of all of them followed', async () => {
    await start('SUCCEEDED', all(), {
      'log.merged': ({ attemptUid }) => ({
        chunks: [
          {
            stream: 'out' as const,
            offset: 0,
            dataBase64: Buffer.from(`${Number.parseInt(attemptUid, 16)}\n`).toString('base64'),
          },
        ],
        cursor: { out: 5, err: 0 },
        complete: true,
        outSize: 5,
        errSize: 0,
      }),
    });
    const made = open();
    expect(await runProgram(made.context, ['job', 'logs', '-f', jobId])).toBe(0);
    const lines = made.out().trimEnd().split('\n').map(Number);
    expect(lines.sort((left, right) => left - right)).toEqual(all().map(({ index }) => index));
  });

  it('ends with the exit code of its first failed task, wherever that is', async () => {
    const failing = { state: 'FAILED', exitCode: 3 } as const;
    await start(
      'FAILED',
      all((index) =>
        index === 1100
          ? taskOf(index, failing, failing)
          : taskOf(index, { state: 'KILLED' }, { state: 'KILLED', exitCode: null, signal: 'SIGTERM' }),
      ),
    );
    const made = open();
    expect(await runProgram(made.context, ['job', 'wait', jobId])).toBe(3);
  });

  it('is stopped only when the last process of its last task is gone, and what was told meanwhile holds', async () => {
    const living = taskOf(
      1100,
      { state: 'RUNNING' },
      { state: 'RUNNING', finishedAtMs: null, exitCode: null },
    );
    const whole = all((index) => (index === 1100 || index === 1101 ? { ...living, index } : taskOf(index)));
    const job = await start('KILLED', whole, {
      'job.stop': () => ({ results: [{ id: jobId, refusal: null, newId: null }] }),
      'task.list': async ({ offset, limit }) => {
        const rows = whole.slice(offset, offset + limit);
        // One of them ends after it was read and before that has come.
        if (offset === 1000) {
          host.changeJob(job, [taskOf(1101)]);
          await new Promise((resolve) => setImmediate(resolve));
        }
        return { total: numTasks, rows };
      },
    });
    const made = open();
    let code: number | null = null;
    const stopped = runProgram(made.context, ['job', 'stop', '--wait', jobId]).then(
      (value) => (code = value),
    );
    await eventually(() => host.calls.filter(({ method }) => method === 'task.list')).toHaveLength(2);
    host.changeJob(job, [taskOf(3)]);
    // An answer to this comes behind all that was told before.
    await made.context.link.persist((connection) => connection.call('status', {}));
    expect(code).toBeNull();
    host.changeJob(job, [taskOf(1100)]);
    expect(await stopped).toBe(0);
  });
});
