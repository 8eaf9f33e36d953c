/**
 * Whether a machine is in contact, and when it counts as lost. Time is monotonic; a controller that itself stood still (suspended,
 * stopped) starts to count anew, so that it never takes all its machines for lost when it wakes. Pure.
 */
import { contactLogLength, type Contact } from '../../../../core/contract/machines.js';
import { toldOfContact, type SshFailure } from './ssh-failure.js';

export interface ContactLimits {
  /** Lost when both are reached. */
  readonly lossAfterMs: number;
  readonly lossFailures: number;
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
  /** Between two looks of a controller that runs; more is a standstill. */
  readonly standstillMs: number;
}

/** iris-behaviour: a worker is reaped after at least 3 failures and 50 s without contact. */
export const usualLimits: ContactLimits = {
  lossAfterMs: 50_000,
  lossFailures: 3,
  firstRetryMs: 1000,
  longestRetryMs: 60_000,
  standstillMs: 10_000,
};

export class ContactState {
  private connected = false;
  private state: Contact['state'] = 'CONNECTING';
  private sinceMs: number;
  private lastContactMs: number | null = null;
  private message: string | null = null;
  private readonly log: NonNullable<Contact['log']>[number][] = [];
  private failures = 0;
  private lastFailure: SshFailure['kind'] | null = null;
  /** Since when it counts as without contact, monotonic. */
  private quietFromMs: number;
  private lookedMs: number;
  private retryMs: number;

  constructor(
    private readonly limits: ContactLimits,
    atMs: number,
    monotonicMs: number,
  ) {
    this.sinceMs = atMs;
    this.quietFromMs = monotonicMs;
    this.lookedMs = monotonicMs;
    this.retryMs = limits.firstRetryMs;
  }

  view(): Contact {
    return {
      state: this.state,
      sinceMs: this.sinceMs,
      lastContactMs: this.lastContactMs,
      message: this.message,
      ...(this.log.length === 0 ? {} : { log: [...this.log] }),
    };
  }

  /** It said something. */
  heard(atMs: number, monotonicMs: number): void {
    this.connected = true;
    this.lastContactMs = atMs;
    this.quietFromMs = monotonicMs;
    this.failures = 0;
    this.lastFailure = null;
    this.retryMs = this.limits.firstRetryMs;
    this.move('CONNECTED', atMs, null);
  }

  /**
   * A connection ended, or could not be made; `mayAsk`: what it asks for could be answered. True: for another reason than the last time.
   */
  failed(failure: SshFailure, atMs: number, mayAsk = true): boolean {
    const isNews = failure.kind !== this.lastFailure;
    this.lastFailure = failure.kind;
    this.connected = false;
    this.failures += 1;
    const nobody = failure.kind === 'silent' || failure.kind === 'unknown-name' || failure.kind === 'refused';
    const isOff = nobody && (this.lastContactMs === null || this.failures >= this.limits.lossFailures);
    // It is there, and nothing is wrong with it: whether it is heard of again is up to whom it asks.
    const asks = failure.unanswered !== undefined || (!mayAsk && failure.kind === 'login');
    const state = asks ? 'ANSWER_NEEDED' : isOff ? 'OFF' : 'UNREACHABLE';
    this.move(state, atMs, toldOfContact(failure));
    return isNews;
  }

  /** To be called about every second; true: it is lost. */
  isLost(monotonicMs: number): boolean {
    const stoodStill = monotonicMs - this.lookedMs > this.limits.standstillMs;
    this.lookedMs = monotonicMs;
    if (stoodStill) {
      this.quietFromMs = monotonicMs;
      this.failures = 0;
    }
    return (
      !this.connected &&
      this.failures >= this.limits.lossFailures &&
      monotonicMs - this.quietFromMs >= this.limits.lossAfterMs
    );
  }

  /** How long to wait before the next try; `chance` from 0 to 1 spreads machines that went off together. */
  nextRetryMs(chance: number): number {
    const waitMs = this.retryMs * (0.8 + 0.4 * chance);
    this.retryMs = Math.min(this.limits.longestRetryMs, this.retryMs * 2);
    return Math.min(this.limits.longestRetryMs, waitMs);
  }

  /** Somebody asked: the next tries come soon again. */
  hurry(): void {
    this.retryMs = this.limits.firstRetryMs;
  }

  private move(state: Contact['state'], atMs: number, message: string | null): void {
    // The same once more, as of a machine that is off, is no news.
    if (this.state !== state || this.message !== message) {
      this.log.unshift({ atMs, state, message });
      this.log.length = Math.min(this.log.length, contactLogLength);
    }
    if (this.state !== state) this.sinceMs = atMs;
    this.state = state;
    this.message = message;
  }
}
