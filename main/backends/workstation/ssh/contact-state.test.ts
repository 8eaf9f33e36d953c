import { describe, expect, test } from 'vitest';
import { ContactState, usualLimits } from './contact-state.js';
import type { SshFailure } from './ssh-failure.js';

const silent: SshFailure = { kind: 'silent', message: 'Nothing answers.', advice: 'Is it on?' };
const login: SshFailure = { kind: 'login', message: 'No.', advice: 'Use a key.' };

/** Looks once a second from `from` to `to`; the first second it is lost at. */
function lostAt(state: ContactState, from: number, to: number): number | null {
  for (let at = from; at <= to; at += 1000) if (state.isLost(at)) return at;
  return null;
}

describe('contact with a machine', () => {
  test('is lost only after enough failures and enough time', () => {
    const state = new ContactState(usualLimits, 0, 0);
    state.heard(1000, 1000);
    expect(lostAt(state, 1000, 200_000)).toBeNull();
    state.heard(200_000, 200_000);
    state.failed(silent, 200_000);
    state.failed(silent, 201_000);
    expect(lostAt(state, 201_000, 300_000)).toBeNull();
    state.failed(silent, 300_000);
    expect(state.isLost(301_000)).toBe(true);
    state.heard(302_000, 302_000);
    expect(state.isLost(303_000)).toBe(false);
    for (let count = 0; count < 3; count += 1) state.failed(silent, 303_000);
    expect(lostAt(state, 303_000, 400_000)).toBe(352_000);
  });

  test('a controller that stood still counts anew', () => {
    const state = new ContactState(usualLimits, 0, 0);
    state.heard(0, 0);
    for (let count = 0; count < 5; count += 1) state.failed(silent, 0);
    state.isLost(0);
    expect(state.isLost(3_600_000)).toBe(false);
    expect(lostAt(state, 3_601_000, 3_700_000)).toBeNull();
    for (let count = 0; count < 3; count += 1) state.failed(silent, 0);
    expect(state.isLost(3_701_000)).toBe(true);
  });

  test('says off where nobody answers and unreachable where somebody does', () => {
    const fresh = new ContactState(usualLimits, 5, 0);
    expect(fresh.view()).toMatchObject({ state: 'CONNECTING', sinceMs: 5, message: null });
    fresh.failed(silent, 10);
    expect(fresh.view()).toMatchObject({ state: 'OFF', sinceMs: 10, message: 'Nothing answers. Is it on?' });
    fresh.failed(login, 20);
    expect(fresh.view()).toMatchObject({ state: 'UNREACHABLE', sinceMs: 20 });
    fresh.heard(30, 30);
    expect(fresh.view()).toMatchObject({ state: 'CONNECTED', sinceMs: 30, lastContactMs: 30, message: null });
    fresh.failed(silent, 40);
    expect(fresh.view().state).toBe('UNREACHABLE');
    fresh.failed(silent, 50);
    fresh.failed(silent, 60);
    expect(fresh.view()).toMatchObject({ state: 'OFF', sinceMs: 60, lastContactMs: 30 });
  });

  test('waits for an answer where its login asks for one, and counts as lost by the same rule', () => {
    const state = new ContactState(usualLimits, 0, 0);
    state.heard(0, 0);
    state.failed({ ...login, unanswered: 'nobody' }, 10);
    expect(state.view()).toMatchObject({ state: 'ANSWER_NEEDED', sinceMs: 10, message: 'No. Use a key.' });
    state.failed({ ...login, unanswered: 'refused' }, 20);
    // Tried without a question from there on.
    state.failed(login, 30, false);
    expect(state.view()).toMatchObject({ state: 'ANSWER_NEEDED', sinceMs: 10 });
    expect(lostAt(state, 1000, 100_000)).toBe(50_000);
    state.failed(silent, 40, false);
    expect(state.view()).toMatchObject({ state: 'OFF', sinceMs: 40 });
    state.failed(login, 50, true);
    expect(state.view()).toMatchObject({ state: 'UNREACHABLE', sinceMs: 50 });
  });

  test('keeps what it was, newest first, each once in a row and no more than the last twenty', () => {
    const state = new ContactState(usualLimits, 0, 0);
    expect(state.view().log).toBeUndefined();
    state.heard(1, 1);
    state.heard(2, 2);
    state.failed(login, 3);
    state.failed(login, 4);
    expect(state.view().log).toEqual([
      { atMs: 3, state: 'UNREACHABLE', message: 'No. Use a key.' },
      { atMs: 1, state: 'CONNECTED', message: null },
    ]);
    for (let at = 10; at < 60; at += 2) {
      state.heard(at, at);
      state.failed(login, at + 1);
    }
    expect(state.view().log).toHaveLength(20);
    expect(state.view().log?.[0]).toMatchObject({ atMs: 59, state: 'UNREACHABLE' });
  });

  test('tries less and less often, up to a minute, and soon when asked', () => {
    const state = new ContactState(usualLimits, 0, 0);
    const waits = Array.from({ length: 9 }, () => state.nextRetryMs(0.5));
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(state.nextRetryMs(1)).toBe(60_000);
    state.hurry();
    expect(state.nextRetryMs(0)).toBeCloseTo(800);
    expect(state.nextRetryMs(1)).toBeCloseTo(2400);
  });
});
