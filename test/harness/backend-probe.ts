/** A listener that keeps what a backend reported and lets a test wait for it. */
import { randomBytes } from 'node:crypto';
import { parseJobRequest, type JobRequest, type JobSpec } from '../../core/contract/job-request.js';
import type {
  AttemptLaunch,
  AttemptObservation,
  Backend,
  BackendListener,
  DesiredAttempt,
  LogHeard,
  WorkerObservation,
} from '../../main/backends/backend.js';

export function mintUid(): string {
  return randomBytes(8).toString('hex');
}

export function specOf(request: Partial<JobRequest> & { command: string[] }): JobSpec {
  const parsed = parseJobRequest({ workingDirectory: '/', ...request });
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return parsed.value;
}

export function launchOf(
  request: Partial<JobRequest> & { command: string[] },
  more: Partial<AttemptLaunch> = {},
): AttemptLaunch {
  const uid = more.uid ?? mintUid();
  const spec = specOf(request);
  return {
    uid,
    taskId: `/tester/job-${uid}/0`,
    number: 0,
    workerId: 'here',
    spec,
    environment: { IRIS_TASK_ID: `/tester/job-${uid}/0`, IRIS_ATTEMPT_UID: uid, ...spec.environment },
    devices: [],
    ...more,
  };
}

export function isOver(observation: AttemptObservation): boolean {
  return !['BUILDING', 'RUNNING'].includes(observation.state);
}

/** Drives one backend as a controller would: keeps the desired set, drops what ended, and remembers every report. */
export class BackendProbe implements BackendListener {
  readonly reports: AttemptObservation[] = [];
  readonly grew: { uid: string; out: number; err: number; heard: LogHeard | null }[] = [];
  lastWorkers: readonly WorkerObservation[] = [];
  private readonly desired = new Map<string, DesiredAttempt>();
  private waiters: { test: () => boolean; done: () => void }[] = [];

  constructor(readonly backend: Backend) {}

  observations(batch: readonly AttemptObservation[]): void {
    for (const report of batch) {
      this.reports.push(report);
      if (isOver(report)) this.desired.delete(report.uid);
    }
    this.wake();
  }

  workers(workers: readonly WorkerObservation[]): void {
    this.lastWorkers = workers;
    this.wake();
  }

  logGrew(uid: string, out: number, err: number, heard: LogHeard | null = null): void {
    this.grew.push({ uid, out, err, heard });
    this.wake();
  }

  want(...items: readonly DesiredAttempt[]): void {
    for (const item of items) this.desired.set(item.kind === 'run' ? item.launch.uid : item.uid, item);
    this.reconcile();
  }

  run(launch: AttemptLaunch): void {
    this.want({ kind: 'run', launch });
  }

  stop(uid: string, more: Partial<Extract<DesiredAttempt, { kind: 'stop' }>> = {}): void {
    const [workerId, container] = ['here', false];
    this.want({
      kind: 'stop',
      uid,
      workerId,
      container,
      reason: 'cancelled',
      signal: 'SIGTERM',
      graceMs: 5000,
      ...more,
    });
  }

  /** The attempt is asked about no more. */
  unwant(uid: string): void {
    this.desired.delete(uid);
    this.reconcile();
  }

  reconcile(): void {
    this.backend.reconcile([...this.desired.values()]);
  }

  last(uid: string): AttemptObservation | undefined {
    return this.reports.filter((report) => report.uid === uid).at(-1);
  }

  /** Resolves when the condition holds, looked at after every report; rejects with what is known after `ms`. */
  until(test: () => boolean, ms = 60_000): Promise<void> {
    if (test()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`Not seen within ${ms} ms; reports: ${JSON.stringify(this.reports.slice(-10))}`));
      }, ms);
      this.waiters.push({
        test,
        done: () => {
          clearTimeout(timer);
          resolve();
        },
      });
    });
  }

  async state(uid: string, state: AttemptObservation['state'], ms?: number): Promise<AttemptObservation> {
    await this.until(() => this.reports.some((report) => report.uid === uid && report.state === state), ms);
    const found = this.reports.find((report) => report.uid === uid && report.state === state);
    if (found === undefined) throw new Error('unreachable');
    return found;
  }

  /** The first report of the attempt that carries a warning. */
  async warned(uid: string, ms?: number): Promise<AttemptObservation> {
    const find = () => this.reports.find((report) => report.uid === uid && report.warnings.length > 0);
    await this.until(() => find() !== undefined, ms);
    const found = find();
    if (found === undefined) throw new Error('unreachable');
    return found;
  }

  async over(uid: string, ms?: number): Promise<AttemptObservation> {
    const find = () => this.reports.find((report) => report.uid === uid && isOver(report));
    await this.until(() => find() !== undefined, ms);
    const found = find();
    if (found === undefined) throw new Error('unreachable');
    return found;
  }

  async text(uid: string, stream: 'out' | 'err' = 'out'): Promise<string> {
    return Buffer.from(await this.bytes(uid, stream)).toString('utf8');
  }

  async bytes(uid: string, stream: 'out' | 'err' = 'out'): Promise<Uint8Array> {
    return (await this.backend.readLog(uid, stream, 0, 1 << 30)).data;
  }

  private wake(): void {
    const ready = this.waiters.filter((waiter) => waiter.test());
    this.waiters = this.waiters.filter((waiter) => !ready.includes(waiter));
    for (const waiter of ready) waiter.done();
  }
}
