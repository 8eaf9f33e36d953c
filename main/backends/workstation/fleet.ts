/**
 * Several machines as one backend: this one and those reached by SSH, each a backend of one worker. A machine that throws or hangs
 * harms no other: its attempts stand still until it answers, and that is all. What is said of attempts and logs goes to the machine
 * an attempt was placed on.
 */
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import type { History } from '../../../core/contract/machines.js';
import type { JobSpec } from '../../../core/contract/job-request.js';
import type {
  Backend,
  BackendListener,
  DesiredAttempt,
  ImageControl,
  LogMark,
  LogRange,
  WorkerObservation,
} from '../backend.js';
import { Leaving } from './leaving.js';
import type { LinkLog } from './process/launcher-link.js';
import { StartTrouble } from './start-trouble.js';

export interface FleetOptions {
  /** The machine this program runs on. */
  readonly local: Backend;
  /** The others; each describes itself by the id of its one worker. */
  readonly machines: readonly Backend[];
  readonly log: LinkLog;
  readonly nowMs: () => number;
  /** Worker an ended attempt was on, for its log: the fleet itself knows only those it was told of. */
  readonly workerOf?: ((uid: string) => Promise<string | null>) | undefined;
  /** How long a machine that is removed may take to stop what runs there. */
  readonly stopWithinMs?: number | undefined;
}

export interface Fleet extends Backend {
  /** Starts it as well when the fleet is started. Throws when there is one of that id. */
  add(machine: Backend): void;
  /** Has what runs there stopped, then closes it. Null, or one sentence that names what could not be stopped. */
  remove(id: string): Promise<string | null>;
  readonly isClosed: boolean;
}

const mostEndedPlaces = 20_000;
const stopWithinMs = 10_000;

export function createFleet(options: FleetOptions): Fleet {
  return new MachineFleet(options);
}

class MachineFleet implements Fleet {
  private readonly others = new Map<string, Backend>();
  /** Where an attempt was placed. */
  private readonly placed = new Map<string, string>();
  private desired: readonly DesiredAttempt[] | null = null;
  private listener: BackendListener | null = null;
  private looked = false;
  private readonly watched = new Set<string>();
  private readonly lastSeen = new Map<Backend, readonly WorkerObservation[]>();
  private readonly faults = new Map<string, string>();
  private readonly removed = new Set<string>();
  private readonly leaving = new Leaving();
  private readonly trouble = new StartTrouble({
    nowMs: () => this.options.nowMs(),
    onChange: (machine, why) => {
      const { id } = machine.describe();
      if (why === null) this.options.log.info('A machine is tried again', { machine: id });
      else
        this.options.log.warn('A machine starts nothing, so it is given no tasks for a while', {
          machine: id,
          why,
        });
      this.tell();
    },
  });
  private telling = false;
  isClosed = false;

  constructor(private readonly options: FleetOptions) {
    for (const machine of options.machines) this.insert(machine);
  }

  describe(): ReturnType<Backend['describe']> {
    return this.options.local.describe();
  }

  async start(listener: BackendListener): Promise<void> {
    this.listener = listener;
    // One that is far away or off is not waited for.
    for (const machine of this.others.values()) this.startOne(machine);
    await this.options.local.start(this.listenTo(this.options.local));
  }

  observe(): readonly WorkerObservation[] {
    return this.all().flatMap((machine) => {
      const seen = this.call(machine, 'observe', this.lastSeen.get(machine) ?? [], () => machine.observe());
      this.lastSeen.set(machine, seen);
      return this.trouble.pauses(machine) ? seen.map(startingNothing) : seen;
    });
  }

  reconcile(desired: readonly DesiredAttempt[]): void {
    this.desired = desired;
    const shares = new Map<Backend, DesiredAttempt[]>(this.all().map((machine) => [machine, []]));
    const nowhere: DesiredAttempt[] = [];
    const localIds = this.localIds();
    for (const item of desired) {
      const workerId = workerOf(item);
      this.placed.set(uidOf(item), workerId);
      const other = this.others.get(workerId);
      // The name of this machine may have changed since an attempt was started here: it is looked for, but nothing is started.
      const isHere = localIds.includes(workerId) || (item.kind !== 'run' && !this.removed.has(workerId));
      const machine = other ?? (isHere ? this.options.local : null);
      if (machine === null) nowhere.push(item);
      else shares.get(machine)?.push(item);
    }
    this.prune(desired);
    for (const [machine, share] of shares) {
      if (machine !== this.options.local) this.leaving.wanted(machine, share);
      this.call(machine, 'reconcile', undefined, () => machine.reconcile(share));
    }
    if (nowhere.length > 0) this.reportNowhere(nowhere);
  }

  /** Null as soon as one could run it. */
  feasible(spec: JobSpec): string | null {
    const reasons: string[] = [];
    for (const machine of this.all()) {
      const reason = this.call(machine, 'feasible', null, () => machine.feasible(spec));
      if (reason === null) return null;
      reasons.push(reason);
    }
    return reasons.join(' ');
  }

  async readLog(...[uid, ...range]: Parameters<Backend['readLog']>): Promise<LogRange> {
    const machine = await this.holderOf(uid);
    return machine.readLog(uid, ...range);
  }

  async logMarks(uid: string): Promise<readonly LogMark[]> {
    const machine = await this.holderOf(uid);
    return machine.logMarks(uid);
  }

  watchLog(uid: string, on: boolean): void {
    if (on) this.watched.add(uid);
    else this.watched.delete(uid);
    const workerId = this.placed.get(uid);
    // Not placed yet: whichever gets it knows.
    for (const machine of workerId === undefined ? this.all() : [this.machineOf(workerId)])
      this.call(machine, 'watchLog', undefined, () => machine.watchLog(uid, on));
  }

  watchWorkers(on: boolean): void {
    this.looked = on;
    for (const machine of this.all())
      this.call(machine, 'watchWorkers', undefined, () => machine.watchWorkers(on));
  }

  images(workerId: string): ImageControl | null {
    const machine = this.known(workerId);
    return machine === null ? null : (machine.images?.(workerId) ?? null);
  }

  history(workerId: string, sinceMs: number): History {
    return this.known(workerId)?.history?.(workerId, sinceMs) ?? { stepMs: 2000, timesMs: [], series: [] };
  }

  releaseGpu(workerId: string, uuid: string): boolean {
    return this.known(workerId)?.releaseGpu?.(workerId, uuid) ?? false;
  }

  async hasFolder(workerId: string, folder: string): Promise<boolean | null> {
    return (await this.known(workerId)?.hasFolder?.(workerId, folder)) ?? null;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.listener = null;
    this.leaving.close();
    this.trouble.close();
    await Promise.all(this.all().map((machine) => machine.close()));
  }

  add(machine: Backend): void {
    this.insert(machine);
    if (this.listener === null) return;
    this.startOne(machine);
    if (this.looked) this.call(machine, 'watchWorkers', undefined, () => machine.watchWorkers(true));
    for (const uid of this.watched)
      this.call(machine, 'watchLog', undefined, () => machine.watchLog(uid, true));
    const share = (this.desired ?? []).filter((item) => workerOf(item) === machine.describe().id);
    this.leaving.wanted(machine, share);
    if (this.desired !== null) this.call(machine, 'reconcile', undefined, () => machine.reconcile(share));
    this.tell();
  }

  async remove(id: string): Promise<string | null> {
    const machine = this.others.get(id);
    if (machine === undefined) return null;
    this.others.delete(id);
    this.removed.add(id);
    this.lastSeen.delete(machine);
    this.faults.delete(id);
    this.trouble.forget(machine);
    this.tell();
    // What was wanted there runs nowhere any more.
    if (this.desired !== null) this.reportNowhere(this.desired.filter((item) => workerOf(item) === id));
    const left = await this.leaving.stopAll(machine, this.options.stopWithinMs ?? stopWithinMs);
    if (left !== null) this.options.log.warn('A removed machine may go on with tasks', { machine: id, left });
    await machine.close();
    return left;
  }

  private insert(machine: Backend): void {
    const { id } = machine.describe();
    if (this.isKnown(id)) throw new Error(`There is a machine ${JSON.stringify(id)} already.`);
    this.others.set(id, machine);
    this.removed.delete(id);
  }

  /** Where ended ones were is asked of others after a while. */
  private prune(desired: readonly DesiredAttempt[]): void {
    if (this.placed.size <= desired.length + mostEndedPlaces) return;
    const wanted = new Set(desired.map(uidOf));
    for (const uid of this.placed.keys()) if (!wanted.has(uid)) this.placed.delete(uid);
  }

  private all(): readonly Backend[] {
    return [this.options.local, ...this.others.values()];
  }

  private localIds(): readonly string[] {
    return this.call(this.options.local, 'observe', [], () => this.options.local.observe()).map(
      ({ id }) => id,
    );
  }

  private isKnown(workerId: string): boolean {
    return this.others.has(workerId) || this.localIds().includes(workerId);
  }

  private known(workerId: string): Backend | null {
    return this.isKnown(workerId) ? this.machineOf(workerId) : null;
  }

  private machineOf(workerId: string): Backend {
    return this.others.get(workerId) ?? this.options.local;
  }

  private async holderOf(uid: string): Promise<Backend> {
    const workerId = this.placed.get(uid) ?? (await this.options.workerOf?.(uid)) ?? '';
    if (!this.removed.has(workerId)) return this.machineOf(workerId);
    const text = `The log is on the machine ${workerId}, which was removed.`;
    throw new RefusalError(refusal('UNREACHABLE', text));
  }

  private startOne(machine: Backend): void {
    const { id } = machine.describe();
    const failed = (error: unknown) => this.fault(id, 'start', error);
    try {
      machine.start(this.listenTo(machine)).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /** A machine speaks for the attempts that were placed on it alone: a stale copy of another's is not heard. */
  private listenTo(machine: Backend): BackendListener {
    const isOwn = (uid: string) => {
      const workerId = this.placed.get(uid);
      return workerId === undefined || this.machineOf(workerId) === machine;
    };
    const isHere = () => machine === this.options.local || this.others.get(machine.describe().id) === machine;
    return {
      observations: (batch) => {
        this.leaving.heard(machine, batch);
        const own = isHere() ? batch.filter(({ uid }) => isOwn(uid)) : [];
        // Where there is no other, a task that is tried there for long ends with its reason.
        if (this.others.size > 0) this.trouble.heard(machine, own);
        if (own.length > 0) this.listener?.observations(own);
      },
      workers: (workers) => {
        if (!isHere()) return;
        if (workers.every(({ state }) => state === 'HEALTHY')) this.leaving.isWell(machine);
        this.lastSeen.set(machine, workers);
        this.tell();
      },
      logGrew: (uid, ...growth) => {
        if (isHere() && isOwn(uid)) this.listener?.logGrew(uid, ...growth);
      },
    };
  }

  /** All of them each time, as who listens replaces what was; of several that tell at the same moment once, before anything else is done. */
  private tell(): void {
    if (this.telling) return;
    this.telling = true;
    queueMicrotask(() => {
      this.telling = false;
      this.listener?.workers(this.observe());
    });
  }

  private reportNowhere(items: readonly DesiredAttempt[]): void {
    if (items.length === 0) return;
    const finishedAtMs = this.options.nowMs();
    const batch = items.map((item) => ({
      uid: uidOf(item),
      state: 'WORKER_FAILED' as const,
      startedAtMs: null,
      finishedAtMs,
      durationMs: null,
      exitCode: null,
      signal: null,
      cause: { code: 'WORKER_LOST' as const, message: `The machine ${workerOf(item)} was removed.` },
      warnings: [],
      peakMemoryBytes: null,
      pid: null,
    }));
    // Never inside a call.
    setImmediate(() => this.listener?.observations(batch));
  }

  private call<T>(machine: Backend, name: string, fallback: T, work: () => T): T {
    // The local machine's faults are seen by whoever guards the whole.
    if (machine === this.options.local) return work();
    const { id } = machine.describe();
    try {
      const value = work();
      this.faults.delete(`${id} ${name}`);
      return value;
    } catch (error) {
      this.fault(id, name, error);
      return fallback;
    }
  }

  /** Said once, until it is well again or fails otherwise. */
  private fault(id: string, name: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const key = `${id} ${name}`;
    if (this.faults.get(key) === message) return;
    this.faults.set(key, message);
    this.options.log.error(`A machine failed in ${name}`, { machine: id, error: message });
  }
}

function startingNothing(worker: WorkerObservation): WorkerObservation {
  return worker.state === 'HEALTHY' ? { ...worker, state: 'DEGRADED', startsNothing: true } : worker;
}

function workerOf(item: DesiredAttempt): string {
  return item.kind === 'stop' ? item.workerId : item.launch.workerId;
}

function uidOf(item: DesiredAttempt): string {
  return item.kind === 'run' ? item.launch.uid : item.uid;
}
