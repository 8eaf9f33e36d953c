/** Answers of a host that is there about what is not: they are told, and waited for only where that makes sense. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { refusal, RefusalError } from '../../core/contract/errors.js';
import { JobLogs } from '../../main/cli/job-logs.js';
import { runProgram } from '../../main/cli/program.js';
import { testContext, type TestContext } from './context.js';
import { FakeHost, type Answers } from './fake-host.js';
import { attempt, detail, summary, task } from './views.js';

const id = '/ada/train-1';
const away = () => {
  throw new RefusalError(
    refusal('UNREACHABLE', 'The machine box is not connected; its logs can be read as soon as it is again.'),
  );
};
const said = (text: string) => ({
  chunks: [{ stream: 'out' as const, offset: 0, dataBase64: Buffer.from(text).toString('base64') }],
  cursor: { out: text.length, err: 0 },
  outSize: text.length,
  errSize: 0,
  complete: true,
});

let host: FakeHost;
let contexts: TestContext[];

beforeEach(() => {
  contexts = [];
});
afterEach(async () => {
  for (const made of contexts) made.context.link.close();
  await host.dispose();
});

async function open(answers: Answers, more: Parameters<typeof testContext>[1] = {}): Promise<TestContext> {
  host = await FakeHost.start(answers);
  const made = testContext(host.home, more);
  contexts.push(made);
  return made;
}

const ended = attempt({ uid: 'a0', state: 'WORKER_FAILED', finishedAtMs: 5 });

it('a log whose machine is away is said to be, and its command ends and does not claim success', async () => {
  const made = await open({
    'job.get': () => detail(summary({ state: 'FAILED' })),
    'task.list': () => ({ total: 1, rows: [task({ attempts: [ended] })] }),
    'log.merged': away,
  });
  expect(await runProgram(made.context, ['job', 'logs', id])).toBe(125);
  expect(made.err()).toContain('the log of attempt a0 cannot be read: The machine box is not connected');
  expect(host.calls.filter(({ method }) => method === 'log.merged')).toHaveLength(1);
});

it('a log that stays away after its attempt has ended keeps nobody from the log of the next', async () => {
  const made = await open({
    'log.merged': ({ attemptUid }) => (attemptUid === 'a0' ? away() : said('from the other machine\n')),
  });
  const failed: string[] = [];
  const logs = new JobLogs({
    link: made.context.link,
    output: made.output,
    prefix: null,
    awayMs: 500,
    failed: (uid) => failed.push(uid),
  });
  const next = attempt({ uid: 'a1', number: 1 });
  logs.update({ summary: summary(), tasks: new Map([[0, task({ attempts: [ended, next] })]]) });
  await logs.drained();
  expect(failed).toEqual(['a0']);
  expect(made.out()).toBe('from the other machine\n');
  expect(made.err().match(/The machine box is not connected/g)).toHaveLength(1);
});

it('a log that is away while its attempt runs is read once it can be, whatever it takes', async () => {
  let isAway = true;
  const made = await open({ 'log.merged': () => (isAway ? away() : said('all of it\n')) });
  const logs = new JobLogs({
    link: made.context.link,
    output: made.output,
    prefix: null,
    awayMs: 0,
    failed: (uid, error) => {
      throw new Error(`${uid}: ${String(error)}`);
    },
  });
  logs.update({ summary: summary(), tasks: new Map([[0, task({ attempts: [attempt()] })]]) });
  await eventually(() => host.calls.length).toBeGreaterThan(2);
  isAway = false;
  await logs.drained();
  expect(made.out()).toBe('all of it\n');
});

it('its last lines are waited for as well before they are followed', async () => {
  let isAway = true;
  const made = await open({
    'job.get': () => detail(summary({ state: 'SUCCEEDED' })),
    'task.list': () => ({ total: 1, rows: [task({ attempts: [attempt()] })] }),
    'log.merged': ({ tail, cursor }) => {
      if (isAway) return away();
      return tail ? said('one\ntwo\n') : { ...said(''), cursor: cursor ?? { out: 0, err: 0 } };
    },
  });
  host.changeJob(summary({ state: 'SUCCEEDED' }), [task({ attempts: [attempt()] })]);
  const code = runProgram(made.context, ['job', 'logs', '-f', '--tail', '1', id]);
  await eventually(() => made.err()).toContain('The machine box is not connected');
  isAway = false;
  await eventually(() => made.out()).toBe('two\n');
  const over = attempt({ state: 'SUCCEEDED', finishedAtMs: 5 });
  host.changeJob(summary({ state: 'SUCCEEDED' }), [task({ state: 'SUCCEEDED', attempts: [over] })]);
  expect(await code).toBe(0);
});

it('a host that stays and says it is not available is believed in the end', async () => {
  const made = await open(
    {
      'machine.list': () => {
        throw new RefusalError(refusal('UNAVAILABLE', 'Reading machineList took longer than 1500 ms.'));
      },
    },
    { leavesWithinMs: 200 },
  );
  await expect(runProgram(made.context, ['machine', 'list'])).rejects.toThrow('took longer than 1500 ms');
});

it('following ends with the reader of what is written, not with the next change of the job', async () => {
  const made = await open(
    {
      'job.get': () => detail(summary()),
      'task.list': () => ({ total: 1, rows: [task({ attempts: [attempt()] })] }),
      'log.merged': ({ cursor }) => ({
        ...said(cursor === null ? 'one\n' : 'more\n'),
        cursor: { out: (cursor?.out ?? 0) + 4, err: 0 },
        complete: false,
      }),
    },
    { outBreaksAfter: 1 },
  );
  host.changeJob(summary(), [task({ attempts: [attempt()] })]);
  expect(await runProgram(made.context, ['job', 'logs', '-f', id])).toBe(141);
  expect(made.out()).toBe('one\n');
});
