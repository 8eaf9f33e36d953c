/** Whether somebody may be asked on the way to a machine, and who waits for the end of a try made by hand. */
import type { SshFailure } from './ssh-failure.js';

export class LoginTries {
  /** What was refused an answer is not asked again until somebody tries by hand. */
  mayAsk = true;
  private last: SshFailure | null = null;
  private waiting: { again: boolean; readonly done: (failure: SshFailure | null) => void }[] = [];

  /** `underWay`: a try is, which may be unable to ask; its failure is followed by another. Null: connected. */
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
    if (failure.unanswered === 'refused') this.mayAsk = false;
    if (failure.unanswered !== 'nobody' || !this.waiting.some(({ again }) => again)) {
      this.settle(failure);
      return false;
    }
    for (const each of this.waiting) each.again = false;
    return true;
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
