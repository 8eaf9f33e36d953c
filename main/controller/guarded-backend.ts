/**
 * A backend as the controller calls it. Whatever a call does (throws, never answers, answers late), the round or the query that made
 * it goes on, the fault is kept as a sentence for the host's health, and what can be tried again is. A call that returns only through
 * its promise is bounded by time; one that blocks the thread itself cannot be, which is why the port forbids it.
 */
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { JobSpec } from '../../core/contract/job-request.js';
import type { History } from '../../core/contract/machines.js';
import type {
  Backend,
  BackendDescription,
  BackendListener,
  DesiredAttempt,
  ImageControl,
  LogMark,
  LogRange,
  WorkerObservation,
} from '../backends/backend.js';
import { BackendFaults } from './backend-faults.js';
import { describeError, type Logger } from './logger.js';
import { SilentAttempts } from './silent-attempts.js';

export interface BackendPatience {
  /** For an answer of one call. */
  readonly callMs: number;
  /** For the first word of an attempt that was to be started, and the end of one that was to be stopped. */
  readonly attemptMs: number;
  /** From a failed call to the next try. */
  readonly retryMs: number;
}

export const usualPatience: BackendPatience = { callMs: 10_000, attemptMs: 30_000, retryMs: 1000 };

/** Calls of one kind that may be unanswered at once; more are refused at once instead of piling up. */
const mostUnanswered = 64;

export interface GuardOptions {
  readonly logger: Logger;
  readonly monotonicMs: () => number;
  readonly patience: BackendPatience;
  /** A fault came or went. */
  readonly changed: () => void;
}

export class GuardedBackend implements Backend {
  private readonly description: BackendDescription;
  private readonly faults: BackendFaults;
  private readonly silent: SilentAttempts;
  private readonly unanswered = new Map<string, number>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private workersSeen: readonly WorkerObservation[] = [];
  private wanted: readonly DesiredAttempt[] | null = null;
  /** When the timer for silent attempts looks, while there is one. */
  private silentLookMs = 0;
  private started = false;
  private closed = false;

  constructor(
    private readonly inner: Backend,
    private readonly options: GuardOptions,
  ) {
    this.description = inner.describe();
    this.faults = new BackendFaults(this.description.id, options.logger, options.changed);
    this.silent = new SilentAttempts(options.patience);
  }

  /** What is wrong with it, in words; null when all is well. */
  fault(): string | null {
    return this.faults.text();
  }

  describe(): BackendDescription {
    return this.description;
  }

  /** Resolves when it has started, and at the latest when patience ends: it then goes on to start by itself, or is started again. */
  start(listener: BackendListener): Promise<void> {
    const guarded: BackendListener = {
      observations: (batch) => {
        if (this.closed) return;
        this.silent.heard(batch);
        this.lookAtSilent();
        listener.observations(batch);
      },
      workers: (workers) => {
        if (this.closed) return;
        this.workersSeen = workers;
        this.expect();
        listener.workers(this.observed());
      },
      logGrew: (...growth) => {
        if (!this.closed) listener.logGrew(...growth);
      },
    };
    return new Promise((resolve) => this.tryStart(guarded, resolve));
  }

  private tryStart(listener: BackendListener, settled: () => void): void {
    const { callMs, retryMs } = this.options.patience;
    this.later('patience with start', callMs, () => {
      this.faults.hangs(
        'start',
        `The backend ${this.description.id} has not answered start within ${seconds(callMs)}; it is waited for, and nothing starts there meanwhile.`,
      );
      settled();
    });
    attempt(() => this.inner.start(listener)).then(
      () => {
        this.cancel('patience with start');
        if (this.closed) return;
        this.started = true;
        this.observe();
        this.faults.isWell('start');
        if (this.wanted !== null) this.reconcile(this.wanted);
        settled();
      },
      (error: unknown) => {
        this.cancel('patience with start');
        if (this.closed) return;
        this.faults.threw('start', error);
        this.later('start again', retryMs, () => this.tryStart(listener, () => undefined));
        settled();
      },
    );
  }

  observe(): readonly WorkerObservation[] {
    if (this.started) {
      this.workersSeen = this.call('observe', this.workersSeen, () => this.inner.observe());
    }
    return this.observed();
  }

  /** While nothing can be started there, nothing more is to be placed there. */
  private observed(): readonly WorkerObservation[] {
    if (!this.faults.isVital()) return this.workersSeen;
    return this.workersSeen.map((worker) =>
      worker.state === 'HEALTHY' ? { ...worker, state: 'DEGRADED' } : worker,
    );
  }

  /** The last set is kept: it is given again after a failure, and when the backend has started late. */
  reconcile(desired: readonly DesiredAttempt[]): void {
    this.wanted = desired;
    if (!this.started || this.closed) return;
    this.cancel('reconcile again');
    const done = this.call('reconcile', false, () => {
      this.inner.reconcile(desired);
      return true;
    });
    if (!done) {
      this.later('reconcile again', this.options.patience.retryMs, () => this.reconcile(this.wanted ?? []));
      return;
    }
    this.expect();
  }

  /** From a machine that cannot be reached nothing can be heard: its contact says so, and it alone is concerned. */
  private expect(): void {
    const away = new Set(
      this.workersSeen
        .filter(({ state, address }) => address !== undefined && state !== 'HEALTHY')
        .map(({ id }) => id),
    );
    const heard = (this.wanted ?? []).filter(
      (item) => !away.has(item.kind === 'stop' ? item.workerId : item.launch.workerId),
    );
    this.silent.expect(heard, this.options.monotonicMs());
    this.lookAtSilent();
  }

  feasible(spec: JobSpec): string | null {
    return this.call('feasible', null, () => this.inner.feasible(spec));
  }

  readLog(...range: Parameters<Backend['readLog']>): Promise<LogRange> {
    return this.bounded('readLog', () => this.inner.readLog(...range));
  }

  logMarks(uid: string): Promise<readonly LogMark[]> {
    return this.bounded('logMarks', () => this.inner.logMarks(uid));
  }

  watchLog(uid: string, on: boolean): void {
    this.call('watchLog', undefined, () => this.inner.watchLog(uid, on));
  }

  watchWorkers(on: boolean): void {
    this.call('watchWorkers', undefined, () => this.inner.watchWorkers(on));
  }

  images(workerId: string): ImageControl | null {
    return this.call('images', null, () => this.inner.images?.(workerId) ?? null);
  }

  history(workerId: string, sinceMs: number): History {
    const none: History = { stepMs: 2000, timesMs: [], series: [] };
    return this.call('history', none, () => this.inner.history?.(workerId, sinceMs) ?? none);
  }

  releaseGpu(workerId: string, uuid: string): boolean {
    return this.call('releaseGpu', false, () => this.inner.releaseGpu?.(workerId, uuid) ?? false);
  }

  /** A folder that hangs is no fault of the backend: who asks waits no longer than it wants to. */
  async hasFolder(workerId: string, folder: string): Promise<boolean | null> {
    return (await this.inner.hasFolder?.(workerId, folder)) ?? null;
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    await this.inner.close();
  }

  /** A call that answers at once; what it throws is a fault, and the fallback its answer. */
  private call<T>(name: string, fallback: T, work: () => T): T {
    try {
      const value = work();
      this.faults.isWell(name);
      return value;
    } catch (error) {
      this.faults.threw(name, error);
      return fallback;
    }
  }

  /** A call that answers through a promise. A rejection is for the asker alone (one log may be damaged); only silence is a fault of all. */
  private bounded<T>(name: string, work: () => Promise<T>): Promise<T> {
    const count = this.unanswered.get(name) ?? 0;
    if (count >= mostUnanswered && this.faults.has(name)) return Promise.reject(this.unavailable(name));
    this.unanswered.set(name, count + 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const reason = this.unavailable(name);
        this.faults.hangs(name, reason.message);
        reject(reason);
      }, this.options.patience.callMs);
      const over = (): void => {
        clearTimeout(timer);
        this.unanswered.set(name, (this.unanswered.get(name) ?? 1) - 1);
        this.faults.isWell(name);
      };
      attempt(work).then(
        (value) => {
          over();
          resolve(value);
        },
        (error: unknown) => {
          over();
          reject(this.failed(name, error));
        },
      );
    });
  }

  private unavailable(name: string): RefusalError {
    const text = `The backend ${this.description.id} has not answered ${name} within ${seconds(this.options.patience.callMs)}.`;
    return new RefusalError(refusal('UNREACHABLE', text));
  }

  private failed(name: string, error: unknown): RefusalError {
    if (error instanceof RefusalError) return error;
    const message = error instanceof Error ? error.message : String(error);
    this.options.logger.error(`A backend failed in ${name}`, {
      backend: this.description.id,
      ...describeError(error),
    });
    return new RefusalError(
      refusal('UNREACHABLE', `The backend ${this.description.id} failed in ${name}: ${message}.`),
    );
  }

  private lookAtSilent(): void {
    const now = this.options.monotonicMs();
    const overdue = this.silent.overdue(now);
    if (overdue === null) this.faults.isWell('attempts');
    else this.faults.hangs('attempts', `The backend ${this.description.id} ${overdue}.`);
    const due = this.silent.nextDueMs();
    if (overdue !== null) this.cancel('silent attempts');
    if (due === null || overdue !== null) return;
    // One that is under way comes early enough, and looks again then: attempts come and go by the hundred in a second.
    if (this.timers.has('silent attempts') && this.silentLookMs <= due) return;
    this.silentLookMs = due;
    this.later('silent attempts', Math.max(1, due - now), () => this.lookAtSilent());
  }

  /** One timer a name. */
  private later(name: string, ms: number, run: () => void): void {
    this.cancel(name);
    if (this.closed) return;
    this.timers.set(
      name,
      setTimeout(() => {
        this.timers.delete(name);
        run();
      }, ms),
    );
  }

  private cancel(name: string): void {
    clearTimeout(this.timers.get(name));
    this.timers.delete(name);
  }
}

/** What throws at once is a rejection too. */
async function attempt<T>(work: () => Promise<T>): Promise<T> {
  return await work();
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
