/** Hands observations to the controller, a batch a turn. */
import type { AttemptObservation } from '../../backend.js';
import type { AttemptEntry } from './attempt-entry.js';

export interface ReporterOptions {
  readonly monotonicMs: () => number;
  readonly onObservations: (batch: readonly AttemptObservation[]) => void;
  readonly onEnded: (uid: string) => void;
}

/** What the controller still asks about was perhaps not committed: it is told again, not more often than this. */
const againAfterMs = 1000;

export class Reporter {
  private readonly outbox = new Map<string, AttemptObservation>();
  private closed = false;

  constructor(private readonly options: ReporterOptions) {}

  /** Within one turn the last word about an attempt is enough. */
  progress(observation: AttemptObservation): void {
    if (this.outbox.size === 0) setImmediate(() => this.flush());
    this.outbox.set(observation.uid, observation);
  }

  last(entry: AttemptEntry, observation: AttemptObservation): void {
    entry.phase = 'ended';
    entry.last = observation;
    entry.reportedAtMs = this.options.monotonicMs();
    this.options.onEnded(entry.uid);
    this.progress(observation);
  }

  again(entry: AttemptEntry): void {
    const now = this.options.monotonicMs();
    if (entry.last === null || now - entry.reportedAtMs < againAfterMs) return;
    entry.reportedAtMs = now;
    this.progress(entry.last);
  }

  close(): void {
    this.closed = true;
  }

  private flush(): void {
    const batch = [...this.outbox.values()];
    this.outbox.clear();
    if (!this.closed && batch.length > 0) this.options.onObservations(batch);
  }
}
