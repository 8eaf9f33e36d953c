/**
 * How long things with a limit have lasted, by the monotonic clock from the moment they were first seen: a wall clock that is set
 * meanwhile ends nothing early.
 */
import { isTerminalJobState, isTerminalTaskState } from '../../core/contract/states.js';
import type { ChangeSet } from '../../core/model/entities.js';
import { drainKey } from '../../core/model/machine-change.js';

/** A deadline that has passed and ended nothing has passed by a wall clock that was set on; it is looked at again after this time. */
const passedRetryMs = 1000;
/** The two clocks are read one after the other, and one of them in whole milliseconds. */
const slackMs = 20;
/** So that a wall clock that was set is noticed in time. */
const longestWaitMs = 60_000;

type Noted = Pick<ChangeSet, 'jobs' | 'attempts' | 'machines'>;

export class ElapsedTimes {
  /** When each began, on the monotonic clock. */
  private readonly begins = new Map<string, number>();

  /** Of machines that are drained: the key of their deadline. */
  private readonly drains = new Map<string, string>();

  constructor(
    private readonly clocks: { readonly nowMs: () => number; readonly monotonicMs: () => number },
  ) {}

  /** What is seen the first time has lasted so far as the wall clock says: there is nothing better. */
  note({ jobs, attempts, machines }: Noted): void {
    for (const { id, state, schedulingDeadlineMs, submittedAtMs } of jobs) {
      if (isTerminalJobState(state)) this.begins.delete(id);
      else if (schedulingDeadlineMs !== null) this.begin(id, submittedAtMs);
    }
    for (const { uid, state, startedAtMs } of attempts) {
      if (isTerminalTaskState(state)) this.begins.delete(uid);
      else if (startedAtMs !== null) this.begin(uid, startedAtMs);
    }
    for (const { id, machine } of machines) {
      const deadlineMs = machine?.drainDeadlineMs ?? null;
      const key = deadlineMs === null ? null : drainKey(id, deadlineMs);
      const before = this.drains.get(id);
      if (before !== undefined && before !== key) this.begins.delete(before);
      if (key === null || deadlineMs === null) {
        this.drains.delete(id);
        continue;
      }
      this.drains.set(id, key);
      // It begins when the deadline has come.
      if (!this.begins.has(key))
        this.begins.set(key, this.clocks.monotonicMs() + deadlineMs - this.clocks.nowMs());
    }
  }

  /** By the wall clock for what was never noted. */
  readonly of = (id: string, sinceMs: number): number => {
    const begin = this.begins.get(id);
    return begin === undefined ? this.clocks.nowMs() - sinceMs : this.clocks.monotonicMs() - begin + slackMs;
  };

  /** How long to wait for a deadline given by the wall clock. */
  waitMs(deadlineMs: number): number {
    const aheadMs = deadlineMs - this.clocks.nowMs();
    return aheadMs > 0 ? Math.min(longestWaitMs, aheadMs) : passedRetryMs;
  }

  private begin(id: string, sinceMs: number): void {
    if (this.begins.has(id)) return;
    this.begins.set(id, this.clocks.monotonicMs() - Math.max(0, this.clocks.nowMs() - sinceMs));
  }
}
