/** What the audit holds of the host itself: that it started, what it took up of the one before it, and that it stopped. */
import { controllerActor, type Attempt, type AuditEntry, type ChangeSet } from '../../core/model/entities.js';
import { attemptNameOf } from '../../core/model/names.js';
import type { AttemptObservation } from '../backends/backend.js';

export interface HostRecordOptions {
  readonly nowMs: () => number;
  readonly host: 'desktop' | 'headless';
  readonly version: string;
  readonly pid: number;
  /** The one before it was killed, or its machine lost power: it gave its folder back to nobody. */
  readonly afterUncleanEnd: boolean;
}

/** Under which the rows are found. */
export const hostEntity = 'host';

export class HostRecord {
  /** Not on disk yet. */
  private rows: AuditEntry[] = [];
  /** What the one before it left running, until it is seen to run. */
  private readonly left = new Map<string, Attempt>();

  constructor(private readonly options: HostRecordOptions) {}

  begins(unfinished: Iterable<Attempt>): void {
    for (const attempt of unfinished) if (attempt.startedAtMs !== null) this.left.set(attempt.uid, attempt);
    const { host, version, pid, afterUncleanEnd } = this.options;
    this.note('host_started', hostEntity, {
      version,
      host,
      pid,
      unfinished: this.left.size,
      ...(afterUncleanEnd ? { afterUncleanEnd } : {}),
    });
  }

  /** Before the last round. */
  ends(reason: string): void {
    this.note('host_stopped', hostEntity, { reason });
  }

  /** The changes of a round with the rows that go with them. */
  join(changes: ChangeSet, observations: readonly AttemptObservation[]): ChangeSet {
    if (this.left.size > 0) for (const seen of observations) this.seen(seen);
    return this.rows.length === 0 ? changes : { ...changes, audit: [...changes.audit, ...this.rows] };
  }

  /** They are on disk. */
  written(): void {
    this.rows = [];
  }

  private seen({ uid, state }: AttemptObservation): void {
    const attempt = this.left.get(uid);
    if (attempt === undefined) return;
    this.left.delete(uid);
    // Of one that is over by now its end tells.
    if (state !== 'RUNNING' && state !== 'BUILDING') return;
    const { taskId, number, workerId } = attempt;
    this.note('attempt_adopted', attemptNameOf(taskId, number), { uid, worker: workerId });
  }

  private note(action: AuditEntry['action'], entity: string, detail: AuditEntry['detail']): void {
    this.rows.push({ atMs: this.options.nowMs(), actor: controllerActor, action, entity, detail });
  }
}
