/**
 * What an attempt makes of an image that could not be pulled. A registry that does not answer is asked again, ever later, while the attempt
 * is being built and says why; only then it is lost, as by a machine that cannot start it. What a registry answered ends it at once.
 */
import type { Cause } from '../../../../core/contract/views.js';
import type { AttemptEntry } from '../process/attempt-entry.js';
import type { AttemptEnd } from './attempt-note.js';
import { pauseOf, waits } from './attempt-turns.js';
import type { ContainerContext } from './container-context.js';
import type { PullFailed } from './images.js';

export class PullTries {
  private asked = 0;
  private firstMs: number | null = null;
  /** What was told while it was asked for. */
  private told: Cause | null = null;

  /** Null: it is to be asked for again, now. */
  async after(
    {
      reporter,
      monotonicMs,
      pullPausesMs,
    }: Pick<ContainerContext, 'reporter' | 'monotonicMs' | 'pullPausesMs'>,
    entry: AttemptEntry,
    { why, trouble, noSpace }: PullFailed,
    stopAsked: Promise<void>,
  ): Promise<readonly [AttemptEnd['state'], Cause] | null> {
    if (noSpace) await pauseOf(waits.noSpacePauseMs);
    if (noSpace || trouble === 'LASTING') return [noSpace ? 'WORKER_FAILED' : 'FAILED', why];
    this.firstMs ??= monotonicMs();
    const pauseMs = pullPausesMs[this.asked];
    this.asked += 1;
    if (pauseMs !== undefined && monotonicMs() - this.firstMs < waits.mostPullMs) {
      const next = `${this.asked + 1} of ${pullPausesMs.length + 1}`;
      const message = `${why.message} It is asked again ${Math.ceil(pauseMs / 1000)} s later (${next}).`;
      this.told = why;
      reporter.warn(entry, { code: why.code, message });
      await Promise.race([pauseOf(pauseMs), stopAsked]);
      return null;
    }
    // The end says it.
    entry.warnings.delete(why.code);
    const cause: Cause = { code: why.code, message: `${why.message} It was asked ${this.times()}.` };
    return [trouble === 'PASSING' ? 'WORKER_FAILED' : 'FAILED', cause];
  }

  /** The image is there: that it is asked for again is true no more. */
  came(reporter: ContainerContext['reporter'], entry: AttemptEntry): void {
    if (this.told === null) return;
    const { code, message } = this.told;
    this.told = null;
    const now = `The image is there now. Before, its registry was asked ${this.times()} without success: ${message}`;
    reporter.warn(entry, { code, message: now });
  }

  private times(): string {
    return this.asked === 1 ? 'once' : `${this.asked} times`;
  }
}
