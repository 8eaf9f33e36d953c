/** Whether somebody may be asked on the way to a machine, and who waits for the end of a try made by hand. */
import type { SshFailure } from './ssh-failure.js';

export class LoginTries {
  /** What was refused an answer is not asked again until somebody tries by hand. */
  mayAsk = true;
  private last: SshFailure | null = null;
  private waiting: { again: boolean; readonly done: (failure: SshFailure | null) => void }[] = [];

  /**
   * `underWay`: a try is, which began before and may be unable to ask: its failure says nothing of now, and is followed by another try.
   * Null: connected.
   */
  byHand(underWay: boolean): Promise<SshFailure | null> {
    this.mayAsk = true;
    return new Promise((done) => this.waiting.push({ again: underWay, done }));
  }

  /** It would be asked, were somebody there. */
  get waitsForListener(): boolean {
    return this.mayAsk && this.last?.unanswered === 'nobody';
  }

  connected(): void {
    this.mayAsk = true;
    this.last = null;
    this.settle(null);
  }

  /** True: another try is to follow at once. */
  failed(failure: SshFailure): boolean {
    this.last = failure;
    if (failure.unanswered === 'refused') {
      this.mayAsk = false;
      // Whoever tries was there, and was asked.
      this.settle(failure);
      return false;
    }
    const early = this.waiting.filter(({ again }) => again);
    const theirs = this.waiting.filter(({ again }) => !again);
    this.waiting = early;
    for (const each of early) each.again = false;
    for (const { done } of theirs) done(failure);
    return early.length > 0;
  }

  /** Nobody connects any more. */
  close(name: string): void {
    const message = `${name} is let go of.`;
    this.settle({ kind: 'cut', message, advice: 'Add it anew to connect to it.' });
  }

  private settle(failure: SshFailure | null): void {
    for (const { done } of this.waiting.splice(0)) done(failure);
  }
}
