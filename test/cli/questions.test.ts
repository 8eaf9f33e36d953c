/** What SSH asks on the way to a machine, asked at the terminal of whoever added it. */
import { PassThrough } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import type { MachineCheck } from '../../core/contract/machines.js';
import type { Question } from '../../core/contract/questions.js';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import { runProgram } from '../../main/cli/program.js';
import { openTerminal, type Terminal } from '../../main/cli/terminal.js';
import { fakeMachine } from '../harness/fake-data.js';
import { testContext, type TestContext } from './context.js';
import { FakeHost, type Answers } from './fake-host.js';

let host: FakeHost;
let made: TestContext;
const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const question: Question = {
  id: 'q1',
  machine: null,
  address: 'ssh://two',
  kind: 'passphrase',
  subject: '/home/ann/.ssh/id',
  text: "Enter passphrase for key '/home/ann/.ssh/id':",
  mayKeep: true,
  wrongBefore: false,
  expiresAtMs: 0,
};
const unanswered: MachineCheck = {
  step: 'login',
  outcome: 'FAILED',
  message: 'two does not let this user in without a question.',
  advice: 'A key with a passphrase must be in the agent (ssh-add).',
  fingerprint: null,
  code: 'ANSWER_NEEDED',
};

/** Types these, one after the other; null: Ctrl-C. */
function typing(answers: (string | null)[]): { readonly terminal: Terminal; readonly words: string[] } {
  const words: string[] = [];
  const askHidden = (text: string) => {
    words.push(text);
    return Promise.resolve(answers.shift() ?? null);
  };
  return { terminal: { askHidden }, words };
}

async function run(words: readonly string[], answers: Answers, terminal?: Terminal) {
  host = await FakeHost.start(answers);
  made = testContext(host.home, terminal === undefined ? {} : { terminal });
  const { link } = made.context;
  const { dispose } = host;
  ends.push(
    () => link.close(),
    () => dispose.call(host),
  );
  try {
    return { code: await runProgram(made.context, words), err: made.err(), refused: null };
  } catch (error) {
    if (!(error instanceof RefusalError)) throw error;
    return { code: -1, err: made.err(), refused: error.refusal };
  }
}

/** The host asks while it looks, and goes on when it was answered rightly. */
function asking(right: string): Answers {
  let done: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (done = resolve));
  return {
    'machine.add': async () => {
      host.ask(question, 'ssh://two');
      await answered;
      return { machine: fakeMachine(0, { id: 'two' }), checks: [] };
    },
    'question.answer': ({ answer }) => {
      if (answer === right) {
        host.ask(null, 'ssh://two');
        done();
      } else host.ask({ ...question, id: 'q2', wrongBefore: true }, 'ssh://two');
      return {};
    },
  };
}

const given = () =>
  host.calls.filter(({ method }) => method === 'question.answer').map((call) => call.params);

it('the question is asked here, without echo, again when the answer was wrong', async () => {
  const { terminal, words } = typing(['wrong', 'right']);
  const { code, err } = await run(
    ['machine', 'add', 'ssh://two', '--name', 'two'],
    asking('right'),
    terminal,
  );
  expect(code).toBe(0);
  expect(words).toEqual([
    "ssh://two: Enter passphrase for key '/home/ann/.ssh/id': ",
    "ssh://two: Enter passphrase for key '/home/ann/.ssh/id': ",
  ]);
  expect(err).toBe('irisctl: that was not right.\n');
  expect(given()).toEqual([
    { questionId: 'q1', answer: 'wrong', keep: false },
    { questionId: 'q2', answer: 'right', keep: false },
  ]);
});

it('with --keep-answer it is kept', async () => {
  const kept = typing(['right']);
  const words = ['machine', 'add', 'ssh://two', '--name', 'two'];
  await run([...words, '--keep-answer'], asking('right'), kept.terminal);
  expect(given()).toEqual([{ questionId: 'q1', answer: 'right', keep: true }]);
});

it('without a terminal nobody listens, and the refusal has a code and says what to do', async () => {
  const { refused } = await run(['machine', 'add', 'ssh://two', '--name', 'two'], {
    'machine.add': () => {
      expect(host.watchers('questions')).toBe(0);
      return { machine: null, checks: [unanswered] };
    },
  });
  expect(refused).toMatchObject({
    code: 'ANSWER_NEEDED',
    message:
      'ssh://two was not added. two does not let this user in without a question. A key with a passphrase must be in the agent (ssh-add).',
  });
});

it('connects by hand, and says why it could not', async () => {
  const machines = [fakeMachine(0, { id: 'two', address: 'ssh://two' })];
  const { refused } = await run(['machine', 'connect', 'TWO'], {
    'machine.list': () => ({ machines }),
    'machine.connect': () => {
      throw new RefusalError(refusal('UNREACHABLE', 'two is not in contact. Nothing answers at two.'));
    },
  });
  expect(refused?.code).toBe('UNREACHABLE');
  expect(host.calls.find(({ method }) => method === 'machine.connect')?.params).toEqual({ machineId: 'two' });
});

it('a terminal shows nothing of what is typed and takes keys as keys', async () => {
  const modes: boolean[] = [];
  const stream = () => Object.assign(new PassThrough(), { isTTY: true });
  const input = Object.assign(stream(), { setRawMode: (on: boolean) => modes.push(on) });
  const output = stream();
  const terminal = openTerminal(input, output);
  const ask = (keys: string, ended = new AbortController()) => {
    const answer = terminal?.askHidden('Passphrase: ', ended.signal);
    input.write(keys);
    return answer;
  };
  expect(await ask('opem\u007fn sesame\r')).toBe('open sesame');
  expect(await ask('wrong\u0015right\n')).toBe('right');
  expect(await ask('secret\u0003')).toBeNull();
  const ended = new AbortController();
  const waiting = ask('half', ended);
  ended.abort();
  expect(await waiting).toBeNull();
  expect(String(output.read())).toBe('Passphrase: \n'.repeat(4));
  expect(modes).toEqual([true, false, true, false, true, false, true, false]);
  expect(openTerminal(new PassThrough(), output)).toBeNull();
});
