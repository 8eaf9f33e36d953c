import { expect, test } from 'vitest';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import { fakeGpu } from '../../../../test/harness/fake-lab.js';
import { FarWord } from './far-words.js';
import { RemoteAttempts } from './remote-attempts.js';

const word = (kind: string, ...texts: string[]) =>
  new FarWord(
    kind,
    texts.map((text) => Buffer.from(text)),
  );
const place = { folder: '/a', supervisor: '/a/s', umask: 0o022, searchPath: undefined, unbuffered: false };

function attemptsOf(note: (...what: unknown[]) => void = () => undefined) {
  const sent: (readonly unknown[])[] = [];
  const attempts = new RemoteAttempts({
    log: { info: note, warn: note, error: note },
    nowMs: () => 0,
    monotonicMs: () => 0,
    gpus: () => [],
    cards: () => [],
    lookAtCards: () => Promise.resolve(),
    clockSkewMs: () => 0,
    onObservations: () => undefined,
    onGrew: () => undefined,
    onSettled: () => undefined,
  });
  const connect = () => {
    sent.length = 0;
    attempts.connected({ place, send: (...texts) => void sent.push(texts) });
    attempts.word(word('strays-gone', '0'));
  };
  return { attempts, sent, connect };
}

test('what keeps a machine from taking tasks is said: an attempt nobody wants, and what is left of it', () => {
  const said: unknown[][] = [];
  const { attempts, sent } = attemptsOf((...what) => void said.push(what));
  attempts.reconcile([]);
  attempts.connected({ place, send: (...texts) => void sent.push(texts) });
  expect(sent).toEqual([['strays']]);
  attempts.word(word('stuck', 'ab12', '4001 (python, state D)'));
  expect(attempts.isSettled()).toBe(false);
  expect(said).toEqual([
    [
      'What is left of an attempt nobody wants any more does not end, so its machine takes no tasks',
      { uid: 'ab12', processes: '4001 (python, state D)' },
    ],
  ]);
  attempts.close();
});

const card = fakeGpu('GPU-1', 0);

test.each<[string, (attempts: RemoteAttempts, uid: string) => void, readonly string[]]>([
  [
    'a lost card',
    (attempts) => attempts.cardsRead({ gpus: [card], processes: [], note: null, lost: new Set([card.uuid]) }),
    ['TERM', '2000', ''],
  ],
  [
    'too much memory',
    (attempts, uid) => {
      for (let count = 0; count < 3; count += 1) attempts.word(word('memory', uid, '2000000000'));
    },
    ['KILL', '0', ''],
  ],
])('the end of an attempt for %s is told again over the next connection', (_, happen, end) => {
  const { attempts, sent, connect } = attemptsOf();
  const launch = launchOf({ command: ['true'], gpu: '1', memory: '1GB' }, { devices: [card.uuid] });
  connect();
  attempts.reconcile([{ kind: 'run', launch }]);
  attempts.word(word('strays-gone', '0'));
  attempts.word(word('started', launch.uid, '4001', '1'));
  happen(attempts, launch.uid);
  expect(sent.at(-1)).toEqual(['stop', launch.uid, ...end]);
  // Cut off before it was taken in.
  attempts.disconnected();
  connect();
  expect(sent.slice(0, 2).map(([kind]) => kind)).toEqual(['keep', 'stop']);
  expect(sent[1]).toEqual(['stop', launch.uid, ...end]);
  attempts.close();
});
