/** Hands observations to the controller, a batch a turn. */
import type { Cause } from '../../../../core/contract/views.js';
import type { AttemptObservation } from '../../backend.js';
import { observationOf, type AttemptEntry } from './attempt-entry.js';
import type { LinkLog } from './launcher-link.js';

export interface ReporterOptions {
  readonly monotonicMs: () => number;
  readonly log: LinkLog;
  readonly onObservations: (batch: readonly AttemptObservation[]) => void;
  readonly onEnded: (uid: string) => void;
}

/** What the controller still asks about was perhaps not committed: it is told again, not more often than this. */
const againAfterMs = 1000;
/**
 * A start is told this much later, so that the end of a short command comes with it: one commit instead of two. Ends are told at
 * once and take waiting starts along.
 */
const startDelayMs = 25;

export class Reporter {
  private readonly outbox = new Map<string, AttemptObservation>();
  private flushing = false;
  private delayed: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(private readonly options: ReporterOptions) {}

  /** Of several words about an attempt that wait here the last is enough. */
  progress(observation: AttemptObservation): void {
    this.outbox.set(observation.uid, observation);
    this.delayed ??= setTimeout(() => this.flush(), startDelayMs);
  }

  /** Said in the host's log and, with all there was before, to the controller. */
  warn(entry: AttemptEntry, warning: Cause): void {
    if (entry.phase === 'ended' || entry.warnings.get(warning.code)?.message === warning.message) return;
    entry.warnings.set(warning.code, warning);
    this.options.log.warn(warning.message, { uid: entry.uid });
    this.progress(observationOf(entry, 'RUNNING'));
  }

  private soon(observation: AttemptObservation): void {
    this.outbox.set(observation.uid, observation);
    if (this.flushing) return;
    this.flushing = true;
    setImmediate(() => this.flush());
  }

  last(entry: AttemptEntry, observation: AttemptObservation): void {
    entry.phase = 'ended';
    entry.last = observation;
    entry.reportedAtMs = this.options.monotonicMs();
    this.options.onEnded(entry.uid);
    this.soon(observation);
  }

  again(entry: AttemptEntry): void {
    const now = this.options.monotonicMs();
    if (entry.last === null || now - entry.reportedAtMs < againAfterMs) return;
    entry.reportedAtMs = now;
    this.soon(entry.last);
  }

  close(): void {
    this.closed = true;
    if (this.delayed !== null) clearTimeout(this.delayed);
  }

  private flush(): void {
    this.flushing = false;
    if (this.delayed !== null) clearTimeout(this.delayed);
    this.delayed = null;
    const batch = [...this.outbox.values()];
    this.outbox.clear();
    if (!this.closed && batch.length > 0) this.options.onObservations(batch);
  }
}
