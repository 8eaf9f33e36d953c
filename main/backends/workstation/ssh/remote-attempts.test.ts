import { expect, test } from 'vitest';
import { FarWord } from './far-words.js';
import { RemoteAttempts } from './remote-attempts.js';

const word = (kind: string, ...texts: string[]) =>
  new FarWord(
    kind,
    texts.map((text) => Buffer.from(text)),
  );

test('what keeps a machine from taking tasks is said: an attempt nobody wants, and what is left of it', () => {
  const said: unknown[][] = [];
  const note = (...what: unknown[]) => void said.push(what);
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
  attempts.reconcile([]);
  const place = { folder: '/a', supervisor: '/a/s', umask: 0o022, searchPath: undefined, unbuffered: false };
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
