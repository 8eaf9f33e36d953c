/** When the next round runs: at once when idle, a millisecond after the last one under load, and at the next deadline. */
import type { ChangeSet } from '../../core/model/entities.js';
import { ElapsedTimes } from './elapsed-times.js';

/**
 * From the start of one round to the next under load; an idle controller starts one at once. Where rounds are longer than this they
 * follow each other, each with what came meanwhile.
 */
const minGapMs = 1;
/** What nobody waits for goes with the next round, at the latest after so long. */
const companyMs = 20;

export interface RoundTimerOptions {
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** What a deadline calls. */
  readonly due: () => void;
}

export class RoundTimer {
  private immediate: NodeJS.Immediate | null = null;
  private timeout: NodeJS.Timeout | null = null;
  private deadline: NodeJS.Timeout | null = null;
  private company: NodeJS.Timeout | null = null;
  private lastRoundMs = Number.NEGATIVE_INFINITY;

  /** What limits are measured with. */
  readonly elapsed: ElapsedTimes;

  constructor(private readonly options: RoundTimerOptions) {
    this.elapsed = new ElapsedTimes(options);
  }

  get isPending(): boolean {
    return this.immediate !== null || this.timeout !== null;
  }

  /** Once, however often it is asked for. */
  soon(run: () => void): void {
    if (this.isPending) return;
    const waitMs = this.lastRoundMs + minGapMs - this.options.monotonicMs();
    if (waitMs > 0) this.after(waitMs, run);
    else {
      this.immediate = setImmediate(() => {
        this.immediate = null;
        run();
      });
    }
  }

  /** With the next round, or in a little while when there is none. */
  withNext(run: () => void): void {
    if (this.isPending) return;
    this.company ??= setTimeout(() => {
      this.company = null;
      run();
    }, companyMs);
  }

  /** In place of what was asked for before. */
  after(ms: number, run: () => void): void {
    this.clear();
    this.timeout = setTimeout(() => {
      this.timeout = null;
      run();
    }, ms);
  }

  roundBegins(): void {
    this.clearCompany();
    this.lastRoundMs = this.options.monotonicMs();
  }

  /** `nextDeadlineMs`: by the wall clock, of all there is. */
  roundEnds(changes: Pick<ChangeSet, 'jobs' | 'attempts' | 'machines'>, nextDeadlineMs: number | null): void {
    this.elapsed.note(changes);
    this.clearDeadline();
    if (nextDeadlineMs !== null)
      this.deadline = setTimeout(this.options.due, this.elapsed.waitMs(nextDeadlineMs));
  }

  stop(): void {
    this.clear();
    this.clearCompany();
    this.clearDeadline();
  }

  private clearCompany(): void {
    if (this.company !== null) clearTimeout(this.company);
    this.company = null;
  }

  private clearDeadline(): void {
    if (this.deadline !== null) clearTimeout(this.deadline);
    this.deadline = null;
  }

  private clear(): void {
    if (this.immediate !== null) clearImmediate(this.immediate);
    if (this.timeout !== null) clearTimeout(this.timeout);
    this.immediate = null;
    this.timeout = null;
  }
}
