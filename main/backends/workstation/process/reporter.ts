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
 * A start is told this much later, so that the end of a short command comes in its place: one commit instead of two. Ends are told at
 * once, and leave the starts of others waiting.
 */
const startDelayMs = 25;

interface Waiting {
  readonly observation: AttemptObservation;
  readonly dueMs: number;
}

export class Reporter {
  /** Told in a little while, in the order they are due. */
  private readonly waiting = new Map<string, Waiting>();
  /** Told in this turn. */
  private readonly outbox = new Map<string, AttemptObservation>();
  private flushing = false;
  private delayed: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(private readonly options: ReporterOptions) {}

  /** Of several words about an attempt that wait here the last is enough. */
  progress(observation: AttemptObservation): void {
    const { uid } = observation;
    const dueMs = this.waiting.get(uid)?.dueMs ?? this.options.monotonicMs() + startDelayMs;
    this.waiting.set(uid, { observation, dueMs });
    this.delayed ??= setTimeout(() => this.tellDue(), startDelayMs);
  }

  /** Said in the host's log and, with all there was before, to the controller. */
  warn(entry: AttemptEntry, warning: Cause): void {
    if (entry.phase === 'ended' || entry.warnings.get(warning.code)?.message === warning.message) return;
    entry.warnings.set(warning.code, warning);
    this.options.log.warn(warning.message, { uid: entry.uid });
    // What is noticed of its set-up is no sign that it runs.
    this.progress(observationOf(entry, entry.phase === 'starting' ? 'BUILDING' : 'RUNNING'));
  }

  private soon(observation: AttemptObservation): void {
    this.waiting.delete(observation.uid);
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

  private tellDue(): void {
    this.delayed = null;
    if (this.closed) return;
    const now = this.options.monotonicMs();
    for (const [uid, { observation, dueMs }] of this.waiting) {
      if (dueMs > now) {
        this.delayed = setTimeout(() => this.tellDue(), dueMs - now);
        break;
      }
      this.waiting.delete(uid);
      this.outbox.set(uid, observation);
    }
    this.flush();
  }

  private flush(): void {
    this.flushing = false;
    const batch = [...this.outbox.values()];
    this.outbox.clear();
    if (!this.closed && batch.length > 0) this.options.onObservations(batch);
  }
}
