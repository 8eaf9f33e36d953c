import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { refusal, RefusalError } from '../../core/contract/errors.js';
import { followAttemptLog } from '../../main/cli/attempt-log.js';
import { runCommand } from '../../main/cli/commands/run.js';
import { openConnection } from '../../main/cli/connection.js';
import { rawSink } from '../../main/cli/task-output.js';
import { testContext, type TestContext } from './context.js';
import { FakeHost, hostStatus, type Answers } from './fake-host.js';
import { attempt, summary, task } from './views.js';

const id = '/ada/train-1';
const uid = '00000000000000aa';
let host: FakeHost;
let contexts: TestContext[] = [];

async function start(answers: Answers = {}): Promise<FakeHost> {
  host = await FakeHost.start({
    'job.submit': () => ({ jobId: id, existed: false, warnings: [] }),
    'job.stop': ({ jobIds }) => ({
      results: jobIds.map((jobId) => ({ id: jobId, newId: null, refusal: null })),
    }),
    ...answers,
  });
  return host;
}

function open(more: Parameters<typeof testContext>[1] = {}): TestContext {
  const made = testContext(host.home, more);
  contexts.push(made);
  return made;
}

afterEach(async () => {
  for (const made of contexts) made.context.link.close();
  contexts = [];
  await host.dispose();
});

/** Answers log.merged from two texts that may grow. */
function logOf(content: { out: Buffer; err: Buffer; complete: boolean }): NonNullable<Answers['log.merged']> {
  return ({ cursor }) => {
    const from = cursor ?? { out: 0, err: 0 };
    const chunks = (['out', 'err'] as const)
      .filter((stream) => from[stream] < content[stream].length)
      .map((stream) => ({
        stream,
        offset: from[stream],
        dataBase64: content[stream].subarray(from[stream]).toString('base64'),
      }));
    return {
      chunks,
      cursor: { out: content.out.length, err: content.err.length },
      outSize: content.out.length,
      errSize: content.err.length,
      complete: content.complete && chunks.length === 0,
    };
  };
}

const ended = (exitCode: number) =>
  [
    summary({
      state: exitCode === 0 ? 'SUCCEEDED' : 'FAILED',
      exitCode,
      cause:
        exitCode === 0 ? null : { code: 'EXIT_CODE', message: `task 0 ended with exit code ${exitCode}.` },
    }),
    [
      task({
        state: exitCode === 0 ? 'SUCCEEDED' : 'FAILED',
        exitCode,
        attempts: [attempt({ state: exitCode === 0 ? 'SUCCEEDED' : 'FAILED', exitCode, finishedAtMs: 5 })],
      }),
    ],
  ] as const;
const running = () => [summary(), [task({ attempts: [attempt()] })]] as const;

describe('job run', () => {
  it('submits the command, keeps the streams apart to the byte and ends as the job does', async () => {
    const out = Buffer.from([0x6f, 0xff, 0x00, 0x0a]);
    await start({ 'log.merged': logOf({ out, err: Buffer.from('err\n'), complete: true }) });
    host.changeJob(ended(3)[0], [...ended(3)[1]]);
    const made = open({ argv: ['job', 'run', '-e', 'KEY', 'secret', 'tool', 'a b'] });
    expect(await runCommand(made.context, ['-e', 'KEY', 'secret', 'tool', 'a b'], null)).toBe(3);
    expect(made.outBytes()).toEqual(out);
    expect(made.err()).toBe(
      `irisctl: job ${id}\nerr\nirisctl: ${id} FAILED: task 0 ended with exit code 3.\n`,
    );
    expect(host.calls.find((call) => call.method === 'job.submit')?.params).toMatchObject({
      request: {
        command: ['tool', 'a b'],
        workingDirectory: '/srv',
        environment: { KEY: 'secret' },
        submitArgv: ['irisctl', 'job', 'run', '-e', 'KEY', '***', 'tool', 'a b'],
      },
    });
  });

  it('follows a log as it grows', async () => {
    const content = { out: Buffer.from('one\n'), err: Buffer.alloc(0), complete: false };
    await start({ 'log.merged': logOf(content) });
    host.log.set(uid, { outSize: 4, errSize: 0, complete: false });
    host.changeJob(running()[0], [...running()[1]]);
    const made = open();
    const code = runCommand(made.context, ['tool'], null);
    await eventually(() => made.out()).toBe('one\n');
    await eventually(() => host.watchers('log')).toBe(1);
    content.out = Buffer.from('one\ntwo\n');
    host.changeLog(uid, { outSize: 8, errSize: 0, complete: false });
    await eventually(() => made.out()).toBe('one\ntwo\n');
    content.complete = true;
    host.changeLog(uid, { outSize: 8, errSize: 0, complete: true });
    host.changeJob(ended(0)[0], [...ended(0)[1]]);
    expect(await code).toBe(0);
    expect(made.out()).toBe('one\ntwo\n');
  });

  it('draws on a terminal what is heard of a line that the log does not have yet', async () => {
    const content = { out: Buffer.from('\r 1%'), err: Buffer.alloc(0), complete: false };
    await start({ 'log.merged': logOf(content) });
    host.log.set(uid, { outSize: 4, errSize: 0, complete: false });
    host.changeJob(running()[0], [...running()[1]]);
    const made = open({ isTerminal: true });
    const code = runCommand(made.context, ['tool'], null);
    await eventually(() => host.watchers('log')).toBe(1);
    host.changeLog(uid, { outSize: 4, errSize: 0, complete: false, heard: { out: '\r 7%', err: '' } });
    await eventually(() => made.out()).toBe('\r 1%\r\u001b[K 7%');
    content.out = Buffer.from('\r 1%\r 7%\n');
    content.complete = true;
    host.changeLog(uid, { outSize: 9, errSize: 0, complete: true });
    host.changeJob(ended(0)[0], [...ended(0)[1]]);
    expect(await code).toBe(0);
    expect(made.out()).toBe('\r 1%\r\u001b[K 7%\r\u001b[K 1%\r 7%\n');
  });

  it('leaves nothing drawn of a line when its log can be followed no more, and nothing of the other stream', async () => {
    const content = { out: Buffer.from('\r 1%'), err: Buffer.alloc(0), complete: false };
    await start({ 'log.merged': logOf(content) });
    host.log.set(uid, { outSize: 4, errSize: 0, complete: false });
    const made = open({ isTerminal: true });
    const { context } = made;
    const sink = rawSink(context.output);
    const reading = followAttemptLog({ link: context.link, uid, sink, follow: true, only: 'out' });
    const failed = expect(reading).rejects.toThrow('no more');
    await eventually(() => host.watchers('log')).toBe(1);
    host.changeLog(uid, { outSize: 4, errSize: 0, complete: false, heard: { out: '\r 7%', err: '\r 9%' } });
    await eventually(() => made.out()).toBe('\r 1%\r\u001b[K 7%');
    host.answers['log.merged'] = () => {
      throw new RefusalError(refusal('NOT_FOUND', 'no more'));
    };
    host.changeLog(uid, { outSize: 5, errSize: 0, complete: false, heard: { out: '\r 7%', err: '' } });
    await failed;
    expect(made.out()).toBe('\r 1%\r\u001b[K 7%\r\u001b[K 1%');
  });

  it('says once what holds up an attempt that is being made ready', async () => {
    await start({ 'log.merged': logOf({ out: Buffer.alloc(0), err: Buffer.alloc(0), complete: true }) });
    const held = (message: string) => {
      const building = attempt({ state: 'BUILDING', warnings: [{ code: 'REGISTRY_UNREACHABLE', message }] });
      host.changeJob(running()[0], [task({ state: 'BUILDING', attempts: [building] })]);
    };
    held('The registry does not answer (2 of 6).');
    const made = open();
    const code = runCommand(made.context, ['tool'], null);
    await eventually(() => made.err()).toContain('irisctl: The registry does not answer (2 of 6).\n');
    held('The registry does not answer (2 of 6).');
    held('The registry does not answer (3 of 6).');
    await eventually(() => made.err()).toContain('(3 of 6)');
    host.changeJob(ended(0)[0], [...ended(0)[1]]);
    expect(await code).toBe(0);
    expect(made.err().match(/2 of 6/g)).toHaveLength(1);
  });

  it('says once why the job waits', async () => {
    await start();
    const waiting = {
      code: 'WAITS_NO_WORKER_FITS' as const,
      message: 'it needs 999 cores; the largest machine has 2.',
    };
    host.changeJob(summary({ state: 'PENDING', waiting }), [task({ state: 'PENDING' })]);
    const made = open();
    const code = runCommand(made.context, ['tool'], null);
    await eventually(() => made.err()).toContain(`${id} waits: it needs 999 cores`);
    host.changeJob(summary({ state: 'PENDING', waiting }), [task({ state: 'PENDING' })]);
    host.changeJob(
      summary({ state: 'UNSCHEDULABLE', cause: { code: 'SCHEDULING_DEADLINE', message: 'too late.' } }),
      [task({ state: 'UNSCHEDULABLE' })],
    );
    expect(await code).toBe(125);
    expect(made.err().match(/waits:/g)).toHaveLength(1);
  });

  it('stops the job on Ctrl-C, sees it end and exits with 130', async () => {
    const content = { out: Buffer.from(''), err: Buffer.alloc(0), complete: false };
    await start({ 'log.merged': logOf(content) });
    host.log.set(uid, { outSize: 0, errSize: 0, complete: false });
    host.changeJob(running()[0], [...running()[1]]);
    const made = open();
    const code = runCommand(made.context, ['tool'], null);
    await eventually(() => host.watchers('log')).toBe(1);
    made.interrupt('SIGINT');
    await eventually(() => host.calls.filter((call) => call.method === 'job.stop')).toHaveLength(1);
    content.out = Buffer.from('bye\n');
    content.complete = true;
    host.changeLog(uid, { outSize: 4, errSize: 0, complete: true });
    host.changeJob(summary({ state: 'KILLED' }), [
      task({ state: 'KILLED', attempts: [attempt({ state: 'KILLED', signal: 'SIGTERM', finishedAtMs: 9 })] }),
    ]);
    expect(await code).toBe(130);
    expect(made.out()).toBe('bye\n');
  });

  it('leaves at once on a second Ctrl-C', async () => {
    await start({ 'log.merged': logOf({ out: Buffer.alloc(0), err: Buffer.alloc(0), complete: false }) });
    host.log.set(uid, { outSize: 0, errSize: 0, complete: false });
    host.changeJob(running()[0], [...running()[1]]);
    const made = open();
    const code = runCommand(made.context, ['tool'], null);
    await eventually(() => host.watchers('job')).toBe(1);
    made.interrupt('SIGINT');
    made.interrupt('SIGINT');
    expect(await code).toBe(130);
  });

  it.each([
    [['--no-terminate-on-exit', 'tool'], 'SIGINT', 130],
    [['tool'], 'SIGHUP', 129],
  ] as const)('leaves the job running for %j and %s', async (words, signal, expected) => {
    await start({ 'log.merged': logOf({ out: Buffer.alloc(0), err: Buffer.alloc(0), complete: false }) });
    host.log.set(uid, { outSize: 0, errSize: 0, complete: false });
    host.changeJob(running()[0], [...running()[1]]);
    const made = open();
    const code = runCommand(made.context, words, null);
    await eventually(() => host.watchers('job')).toBe(1);
    made.interrupt(signal);
    expect(await code).toBe(expected);
    expect(host.calls.some((call) => call.method === 'job.stop')).toBe(false);
    expect(made.err()).toContain(`${id} goes on`);
  });

  it('goes on through a lost connection without stopping the job or repeating a byte', async () => {
    const content = { out: Buffer.from('one\n'), err: Buffer.alloc(0), complete: false };
    await start({ 'log.merged': logOf(content) });
    host.log.set(uid, { outSize: 4, errSize: 0, complete: false });
    host.changeJob(running()[0], [...running()[1]]);
    const made = open();
    const code = runCommand(made.context, ['tool'], null);
    await eventually(() => host.watchers('log')).toBe(1);
    await host.end(refusal('UNAVAILABLE', 'The controller stopped: handed over.'));
    content.out = Buffer.from('one\ntwo\n');
    content.complete = true;
    host.changeJob(ended(0)[0], [...ended(0)[1]]);
    await host.listen();
    expect(await code).toBe(0);
    expect(made.out()).toBe('one\ntwo\n');
    expect(host.calls.filter((call) => call.method === 'job.submit')).toHaveLength(1);
    expect(host.calls.some((call) => call.method === 'job.stop')).toBe(false);
  });

  it('starts another host when one dies without a word', async () => {
    const content = { out: Buffer.alloc(0), err: Buffer.alloc(0), complete: false };
    await start({ 'log.merged': logOf(content) });
    host.log.set(uid, { outSize: 0, errSize: 0, complete: false });
    host.changeJob(running()[0], [...running()[1]]);
    let starts = 0;
    const made = open({
      start: async () => {
        starts += 1;
        content.complete = true;
        host.changeJob(ended(0)[0], [...ended(0)[1]]);
        await host.listen();
        return await openConnection(host.home.socket);
      },
    });
    const code = runCommand(made.context, ['tool'], null);
    await eventually(() => host.watchers('log')).toBe(1);
    await host.end();
    expect(await code).toBe(0);
    expect(starts).toBe(1);
    expect(made.notes).toContain('the host ended without a word; starting another.');
  });

  it('does not replace a host that was shut down, says what it waits for and goes on with the next', async () => {
    const content = { out: Buffer.alloc(0), err: Buffer.alloc(0), complete: false };
    await start({ 'log.merged': logOf(content) });
    host.log.set(uid, { outSize: 0, errSize: 0, complete: false });
    host.changeJob(running()[0], [...running()[1]]);
    let starts = 0;
    const made = open({
      start: () => {
        starts += 1;
        return Promise.reject(new Error('nothing is to be started here'));
      },
    });
    const code = runCommand(made.context, ['tool'], null);
    await eventually(() => host.watchers('log')).toBe(1);
    await host.end(refusal('UNAVAILABLE', 'The controller stopped: irisctl shutdown.'));
    await eventually(() => made.notes.join()).toContain('the host was shut down; jobs go on.');
    expect(starts).toBe(0);
    content.complete = true;
    host.changeJob(ended(0)[0], [...ended(0)[1]]);
    await host.listen();
    expect(await code).toBe(0);
    expect(made.notes).toContain('a host answers again.');
  });

  it('repeats a submission whose answer was lost with the id it had', async () => {
    let tries = 0;
    await start({ 'log.merged': logOf({ out: Buffer.alloc(0), err: Buffer.alloc(0), complete: true }) });
    host.answers['job.submit'] = () => {
      tries += 1;
      if (tries === 1) throw new RefusalError(refusal('UNAVAILABLE', 'The controller is stopping.'));
      return { jobId: id, existed: false, warnings: ['Lingering is off.'] };
    };
    host.changeJob(ended(0)[0], [...ended(0)[1]]);
    const made = open();
    expect(await runCommand(made.context, ['tool'], null)).toBe(0);
    const ids = host.calls
      .filter((call) => call.method === 'job.submit')
      .map((call) => (call.params as { requestId: string }).requestId);
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(ids[1]);
    expect(made.err()).toContain('Lingering is off.');
  });

  it('with --no-wait prints the id and why it waits', async () => {
    await start();
    const waiting = {
      code: 'WAITS_NO_WORKER_FITS' as const,
      message: 'it needs 999 cores; the largest machine has 2.',
    };
    host.changeJob(summary({ state: 'PENDING' }), [task({ state: 'PENDING' })]);
    const made = open();
    const code = runCommand(made.context, ['--cpu', '999', '--no-wait', 'true'], null);
    await eventually(() => host.watchers('job')).toBe(1);
    host.changeJob(summary({ state: 'PENDING', waiting }), [task({ state: 'PENDING' })]);
    expect(await code).toBe(0);
    expect(made.out()).toBe(`${id}\n`);
    expect(made.err()).toBe(`irisctl: ${id} waits: it needs 999 cores; the largest machine has 2.\n`);
  });

  it('with --json gives the end as one object', async () => {
    await start({ 'log.merged': logOf({ out: Buffer.from('log\n'), err: Buffer.alloc(0), complete: true }) });
    host.changeJob(ended(3)[0], [...ended(3)[1]]);
    const made = open({ json: true });
    expect(await runCommand(made.context, ['tool'], null)).toBe(3);
    expect(JSON.parse(made.out())).toMatchObject({ jobId: id, state: 'FAILED', exitCode: 3 });
    expect(made.err()).toContain('log\n');
  });

  it('passes a refusal on', async () => {
    await start({
      'job.submit': () => {
        throw new RefusalError(refusal('INFEASIBLE', 'It needs 999 cores; there are 2.'));
      },
    });
    const made = open();
    await expect(runCommand(made.context, ['tool'], null)).rejects.toMatchObject({
      refusal: { code: 'INFEASIBLE' },
    });
  });

  it('is refused for a cluster that is not there', async () => {
    await start();
    host.answers.hello = () => hostStatus(host.home, { clusterName: 'lab' });
    const made = open({ cluster: 'marin' });
    await expect(runCommand(made.context, ['tool'], null)).rejects.toThrow(
      'There is no cluster named marin here: use --cluster local or --cluster lab, or leave it out.',
    );
    const other = open({ cluster: 'lab' });
    host.changeJob(ended(0)[0], [...ended(0)[1]]);
    host.answers['log.merged'] = logOf({ out: Buffer.alloc(0), err: Buffer.alloc(0), complete: true });
    expect(await runCommand(other.context, ['tool'], null)).toBe(0);
  });

  it('is refused by a host of another version', async () => {
    await start();
    host.answers.hello = () => {
      throw new RefusalError(
        refusal('VERSION_MISMATCH', 'This controller speaks contract version 2, the client version 1.'),
      );
    };
    const made = open();
    await expect(runCommand(made.context, ['tool'], null)).rejects.toMatchObject({
      refusal: { code: 'VERSION_MISMATCH' },
    });
  });
});
