import { afterEach, expect, test } from 'vitest';
import { eventually } from '../../../../test/harness/eventually.js';
import type { StartItem } from './launcher-protocol.js';
import { StartLooks } from './start-looks.js';

let looks: StartLooks;
let answered: string[] = [];
afterEach(() => {
  looks.close();
  answered = [];
});

const item = (uid: string, searchPath: string): StartItem => ({
  uid,
  command: ['no-such-program'],
  folder: '/',
  environment: { PATH: searchPath },
  files: [],
  timeLimitMs: null,
  stopSignal: 'SIGTERM',
  graceMs: 1000,
  limits: null,
});

test('where the system makes no child to look, the start goes on to a launcher', async () => {
  looks = new StartLooks({
    monotonicMs: () => 0,
    patienceMs: 60_000,
    searchPath: undefined,
    mountInfo: () => '36 35 98:0 / / rw shared:1 - nfs4 server:/ rw\n',
    onAnswer: (items) => answered.push(...items.map(({ uid }) => uid)),
    onSilence: () => expect.unreachable(),
  });
  // More words than a program can be given at once.
  const endless = Array.from({ length: 20_000 }, () => `/${'x'.repeat(200)}`).join(':');
  expect(looks.pass([item('b', endless), item('a', '/bin')])).toEqual([]);
  await eventually(() => answered.toSorted()).toEqual(['a', 'b']);
});
