import { expect, test } from 'vitest';
import { LoginTries } from './login-tries.js';
import type { SshFailure } from './ssh-failure.js';

const failure = (message: string, more: Partial<SshFailure> = {}): SshFailure => ({
  kind: 'silent',
  message,
  advice: 'It is tried again.',
  ...more,
});

/** What has become of it by now. */
function watched(end: Promise<SshFailure | null>): { readonly seen: () => Promise<unknown> } {
  let found: unknown = 'waits';
  void end.then((told) => (found = told?.message ?? 'connected'));
  return { seen: () => Promise.resolve().then(() => found) };
}

test('a try that was under way when somebody tries by hand is followed by theirs, whatever ended it', async () => {
  const tries = new LoginTries();
  const end = watched(tries.byHand(true));
  expect(tries.failed(failure('The cable was out.'))).toBe(true);
  expect(await end.seen()).toBe('waits');
  tries.connected();
  expect(await end.seen()).toBe('connected');
});

test('the try made for somebody is the last, and tells why; who came during it has another', async () => {
  const tries = new LoginTries();
  const first = watched(tries.byHand(false));
  const second = watched(tries.byHand(true));
  expect(tries.failed(failure('The first.'))).toBe(true);
  expect([await first.seen(), await second.seen()]).toEqual(['The first.', 'waits']);
  expect(tries.failed(failure('The second.'))).toBe(false);
  expect(await second.seen()).toBe('The second.');
});

test('what was answered wrongly is not asked again by itself', async () => {
  const tries = new LoginTries();
  const end = watched(tries.byHand(true));
  expect(tries.failed(failure('Cancelled.', { kind: 'login', unanswered: 'refused' }))).toBe(false);
  expect([await end.seen(), tries.mayAsk]).toEqual(['Cancelled.', false]);
});
