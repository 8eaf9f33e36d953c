/** A thousand machines that do at once what is asked of them: what is to run runs, what is stopped is gone. */
import { report } from '../../../core/model/test-world.js';
import type {
  AttemptObservation,
  Backend,
  BackendDescription,
  BackendListener,
  DesiredAttempt,
  WorkerObservation,
} from '../../../main/backends/backend.js';

export class RoundBackend implements Backend {
  private readonly alive = new Map<string, number>();
  private listener: BackendListener | null = null;
  private batch: AttemptObservation[] = [];

  constructor(private readonly workers: readonly WorkerObservation[]) {}

  /** Something is still to be told. */
  get busy(): boolean {
    return this.batch.length > 0;
  }

  /** The program of an attempt ends well. */
  succeed(uid: string): void {
    this.end(uid, 'SUCCEEDED');
  }

  describe(): BackendDescription {
    return { id: 'round', kind: 'workstation', capabilities: ['worker-fleet'] };
  }

  start(listener: BackendListener): Promise<void> {
    this.listener = listener;
    return Promise.resolve();
  }

  observe(): readonly WorkerObservation[] {
    return this.workers;
  }

  reconcile(desired: readonly DesiredAttempt[]): void {
    for (const item of desired) {
      if (item.kind === 'stop') this.end(item.uid, 'KILLED');
      else if (item.kind === 'keep') {
        if (!this.alive.has(item.uid)) this.alive.set(item.uid, Date.now());
      } else if (!this.alive.has(item.launch.uid)) {
        const startedAtMs = Date.now();
        this.alive.set(item.launch.uid, startedAtMs);
        this.tell(report(item.launch.uid, 'RUNNING', { startedAtMs }));
      }
    }
  }

  feasible(): null {
    return null;
  }

  readLog(): Promise<{ data: Uint8Array; size: number }> {
    return Promise.resolve({ data: new Uint8Array(), size: 0 });
  }

  logMarks(): Promise<readonly never[]> {
    return Promise.resolve([]);
  }

  watchLog(): void {
    // Nothing is written.
  }

  watchWorkers(): void {
    // They do not change.
  }

  close(): Promise<void> {
    this.listener = null;
    return Promise.resolve();
  }

  private end(uid: string, state: 'SUCCEEDED' | 'KILLED'): void {
    const finishedAtMs = Date.now();
    const startedAtMs = this.alive.get(uid) ?? finishedAtMs;
    this.alive.delete(uid);
    const durationMs = finishedAtMs - startedAtMs;
    const exitCode = state === 'SUCCEEDED' ? 0 : null;
    this.tell(report(uid, state, { startedAtMs, finishedAtMs, durationMs, exitCode }));
  }

  /** Never inside the call that led to it; what comes meanwhile goes along. */
  private tell(observation: AttemptObservation): void {
    this.batch.push(observation);
    if (this.batch.length > 1) return;
    setImmediate(() => this.listener?.observations(this.batch.splice(0)));
  }
}
