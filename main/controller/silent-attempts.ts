/** Attempts a backend was asked to start or to stop and has said nothing of since. */
import type { AttemptObservation, DesiredAttempt } from '../backends/backend.js';

interface Asked {
  readonly kind: 'run' | 'stop';
  readonly dueMs: number;
}

export class SilentAttempts {
  private asked = new Map<string, Asked>();

  constructor(private readonly patience: { readonly attemptMs: number }) {}

  /** The complete desired set: what is no longer in it is not waited for. */
  expect(desired: readonly DesiredAttempt[], nowMs: number): void {
    const next = new Map<string, Asked>();
    for (const item of desired) {
      if (item.kind === 'keep') continue;
      const uid = item.kind === 'run' ? item.launch.uid : item.uid;
      const before = this.asked.get(uid);
      const grace = item.kind === 'stop' ? item.graceMs : 0;
      next.set(
        uid,
        before?.kind === item.kind
          ? before
          : { kind: item.kind, dueMs: nowMs + grace + this.patience.attemptMs },
      );
    }
    this.asked = next;
  }

  /** Any word of a start is enough; a stop is over with its end only. */
  heard(batch: readonly AttemptObservation[]): void {
    for (const { uid, state } of batch) {
      const ended = state !== 'BUILDING' && state !== 'RUNNING';
      if (ended || this.asked.get(uid)?.kind === 'run') this.asked.delete(uid);
    }
  }

  nextDueMs(): number | null {
    let next: number | null = null;
    for (const { dueMs } of this.asked.values()) if (next === null || dueMs < next) next = dueMs;
    return next;
  }

  /** One clause on those overdue; null when there are none. */
  overdue(nowMs: number): string | null {
    const late = [...this.asked].filter(([, { dueMs }]) => dueMs <= nowMs);
    const [first] = late;
    if (first === undefined) return null;
    const [uid, { kind }] = first;
    const others = late.length === 1 ? '' : ` and of ${late.length - 1} more`;
    return `has said nothing of attempt ${uid}${others}, which it was asked to ${kind === 'run' ? 'start' : 'stop'}`;
  }
}
