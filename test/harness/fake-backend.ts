/**
 * A backend without a machine: attempts are plain child processes of the test, or nothing but records that a test ends by hand. It
 * keeps the port's rules as the real ones do (the conformance suite runs against it), until it is told to hang, to lie or to die.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  type FSWatcher,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { report } from '../../core/model/test-world.js';
import { infeasibleFields } from '../../core/scheduling/feasible.js';
import type {
  AttemptLaunch,
  AttemptObservation,
  Backend,
  BackendDescription,
  BackendListener,
  DesiredAttempt,
  LogMark,
  LogRange,
  StopNotice,
  WorkerObservation,
} from '../../main/backends/backend.js';
import type { JobSpec } from '../../core/contract/job-request.js';

export const fakeWorker: WorkerObservation = {
  id: 'w1',
  hostname: 'w1',
  state: 'HEALTHY',
  cpuMillicores: 4000,
  memoryBytes: 8e9,
  gpus: [],
  gpuNote: 'a machine of a test has none',
  attributes: {},
  platform: 'linux',
  cpuModel: 'test',
  cpuCount: 4,
  cpuBusyPercent: null,
  memoryAvailableBytes: 8e9,
  disks: [],
  sampledAtMs: 1,
};

interface Kept {
  readonly launch: AttemptLaunch;
  readonly startedAtMs: number;
  readonly out: Buffer[];
  readonly err: Buffer[];
  /** Null: it is ended by hand. */
  child: ChildProcess | null;
  /** Of a process: its IRIS_WORKDIR, and who looks for checkpoints there. */
  work: string | null;
  watcher: FSWatcher | null;
  checkpointAtMs: number | null;
  /** What it was told before its stop. */
  notice: StopNotice | null;
  asked: 'cancelled' | null;
  end: AttemptObservation | null;
}

/** Where attempts live; backends come and go. */
export class FakeMachine {
  readonly attempts = new Map<string, Kept>();
  /** Told of every start, growth and end. */
  watcher: { changed(uid: string): void; grew(uid: string): void } | null = null;

  private folder: string | null = null;

  constructor(private readonly attemptsAre: 'processes' | 'records' = 'records') {}

  start(launch: AttemptLaunch): void {
    if (this.attempts.has(launch.uid)) return;
    const kept: Kept = {
      launch,
      startedAtMs: Date.now(),
      out: [],
      err: [],
      child: null,
      work: null,
      watcher: null,
      checkpointAtMs: null,
      notice: null,
      asked: null,
      end: null,
    };
    this.attempts.set(launch.uid, kept);
    if (this.attemptsAre === 'processes') this.spawn(kept);
    this.watcher?.changed(launch.uid);
  }

  private spawn(kept: Kept): void {
    const { launch } = kept;
    const [program = '', ...args] = launch.spec.command;
    this.folder ??= mkdtempSync(path.join(os.tmpdir(), 'iris-fake-'));
    const work = path.join(this.folder, launch.uid);
    mkdirSync(work);
    kept.work = work;
    kept.watcher = watch(work, () => {
      if (readCheckpoint(kept)) this.watcher?.changed(launch.uid);
    });
    const child = spawn(program, args, {
      cwd: '/',
      env: {
        ...process.env,
        ...launch.environment,
        IRIS_WORKDIR: work,
        IRIS_CHECKPOINT_FILE: path.join(work, 'checkpoint'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that a stop reaches what a shell has started.
      detached: true,
    });
    kept.child = child;
    const keep = (into: Buffer[]) => (chunk: Buffer) => {
      into.push(chunk);
      this.watcher?.grew(launch.uid);
    };
    child.stdout.on('data', keep(kept.out));
    child.stderr.on('data', keep(kept.err));
    // Not 'exit': its last output shall be there when its end is told.
    child.once('error', () => this.end(launch.uid, { exitCode: 127 }));
    child.once('close', (code, signal) => this.end(launch.uid, { exitCode: code, signal }));
  }

  stop(uid: string, signal: NodeJS.Signals, notice: StopNotice | null = null): void {
    const kept = this.attempts.get(uid);
    if (kept?.end !== null) return;
    if (notice !== null && kept.notice === null) {
      kept.notice = notice;
      if (kept.work !== null) writeNotice(kept.work, notice);
    }
    kept.asked = 'cancelled';
    if (this.attemptsAre === 'processes') signalGroup(kept, signal);
    else this.end(uid, { exitCode: null, signal });
  }

  /** An attempt made a checkpoint, by hand. */
  checkpoint(uid: string, atMs: number): void {
    const kept = this.attempts.get(uid);
    if (kept?.end !== null) return;
    kept.checkpointAtMs = atMs;
    this.watcher?.changed(uid);
  }

  /** Ends an attempt, by hand or as its process ended. */
  end(uid: string, how: { readonly exitCode: number | null; readonly signal?: string | null }): void {
    const kept = this.attempts.get(uid);
    if (kept?.end !== null) return;
    const { exitCode, signal = null } = how;
    const now = Date.now();
    kept.watcher?.close();
    readCheckpoint(kept);
    const last = report(uid, kept.asked !== null ? 'KILLED' : exitCode === 0 ? 'SUCCEEDED' : 'FAILED', {
      startedAtMs: kept.startedAtMs,
      finishedAtMs: now,
      durationMs: now - kept.startedAtMs,
      exitCode,
      signal,
      cause: causeOf(kept.asked !== null, exitCode, signal),
      pid: kept.child?.pid ?? null,
    });
    kept.end = { ...last, checkpointAtMs: kept.checkpointAtMs };
    this.watcher?.changed(uid);
  }

  seen(uid: string): AttemptObservation {
    const kept = this.attempts.get(uid);
    if (kept === undefined) return report(uid, 'MISSING');
    if (kept.end !== null) return kept.end;
    const { startedAtMs, child, checkpointAtMs } = kept;
    return { ...report(uid, 'RUNNING', { startedAtMs, pid: child?.pid ?? null }), checkpointAtMs };
  }

  bytes(uid: string, stream: 'out' | 'err'): Buffer {
    return Buffer.concat(this.attempts.get(uid)?.[stream] ?? []);
  }

  /** Kills what is left of its processes, and removes their folders. */
  clear(): void {
    this.watcher = null;
    for (const kept of this.attempts.values()) {
      kept.watcher?.close();
      if (kept.end === null) signalGroup(kept, 'SIGKILL');
    }
    if (this.folder !== null) rmSync(this.folder, { recursive: true, force: true });
  }
}

function writeNotice(work: string, { deadlineMs, reason }: StopNotice): void {
  const file = path.join(work, 'preemption.json');
  writeFileSync(
    `${file}.new`,
    JSON.stringify({ deadline: new Date(deadlineMs).toISOString(), reason }) + '\n',
  );
  renameSync(`${file}.new`, file);
}

/** True: there is another one than before. */
function readCheckpoint(kept: Kept): boolean {
  if (kept.work === null) return false;
  const found = statSync(path.join(kept.work, 'checkpoint'), { throwIfNoEntry: false });
  if (found === undefined || Math.floor(found.mtimeMs) === kept.checkpointAtMs) return false;
  kept.checkpointAtMs = Math.floor(found.mtimeMs);
  return true;
}

function signalGroup({ child }: Kept, signal: NodeJS.Signals): void {
  if (child?.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Gone a moment before its end is told.
  }
}

function causeOf(
  asked: boolean,
  exitCode: number | null,
  signal: string | null,
): AttemptObservation['cause'] {
  if (asked) return { code: 'STOPPED_BY_USER', message: 'Stopped as asked.' };
  if (signal !== null) return { code: 'SIGNALED', message: `Ended by ${signal}.` };
  return exitCode === 0 ? null : { code: 'EXIT_CODE', message: `Ended with exit code ${exitCode}.` };
}

type Waits = 'start' | 'readLog' | 'logMarks' | 'close';
type Call = Waits | 'observe' | 'reconcile' | 'feasible' | 'watchLog' | 'watchWorkers';

export class FakeBackend implements Backend {
  /** What `reconcile` was given last. */
  desired: readonly DesiredAttempt[] = [];
  readonly calls: Call[] = [];
  /** True: takes every set and does nothing of it. */
  idle = false;
  private listener: BackendListener | null = null;
  private readonly gates = new Map<Waits, { readonly open: Promise<void>; readonly release: () => void }>();
  private readonly broken = new Map<Call | 'all', string>();
  private readonly watched = new Set<string>();
  private readonly untold = new Set<string>();

  constructor(
    readonly machine: FakeMachine,
    private readonly workers: readonly WorkerObservation[] = [fakeWorker],
  ) {}

  // Faults

  /** From now on that call does not answer, until what is returned is called. */
  hang(call: Waits): () => void {
    let release: () => void = () => undefined;
    const open = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.gates.set(call, { open, release });
    return () => {
      this.gates.delete(call);
      release();
    };
  }

  /** From now on that call throws, or rejects where it answers through a promise. */
  break(call: Call | 'all', message: string): void {
    this.broken.set(call, message);
  }

  mend(): void {
    this.broken.clear();
  }

  /** Says so, true or not. */
  say(...batch: readonly AttemptObservation[]): void {
    this.listener?.observations(batch);
  }

  /** Something is still to be told. */
  get busy(): boolean {
    return this.untold.size > 0;
  }

  // The port

  describe(): BackendDescription {
    return { id: 'fake', kind: 'workstation', capabilities: ['worker-fleet', 'logs'] };
  }

  async start(listener: BackendListener): Promise<void> {
    await this.enter('start');
    this.listener = listener;
    this.machine.watcher = {
      changed: (uid) => this.tell(uid),
      grew: (uid) => {
        if (this.watched.has(uid)) {
          listener.logGrew(uid, this.machine.bytes(uid, 'out').length, this.machine.bytes(uid, 'err').length);
        }
      },
    };
  }

  observe(): readonly WorkerObservation[] {
    this.check('observe');
    return this.workers;
  }

  reconcile(desired: readonly DesiredAttempt[]): void {
    this.check('reconcile');
    this.desired = desired;
    if (this.idle) return;
    const wanted = new Set<string>();
    for (const item of desired) {
      const uid = item.kind === 'run' ? item.launch.uid : item.uid;
      wanted.add(uid);
      const known = this.machine.attempts.get(uid);
      if (item.kind === 'run' && known === undefined) this.machine.start(item.launch);
      else if (item.kind === 'stop' && known?.end === null) {
        this.machine.stop(uid, item.signal as NodeJS.Signals, item.notice);
      } else if (known?.end !== null) this.tell(uid);
    }
    for (const [uid, { end }] of this.machine.attempts) if (!wanted.has(uid)) this.drop(uid, end !== null);
  }

  /** It is in no set any more. */
  protected drop(uid: string, isOver: boolean): void {
    if (!isOver) this.machine.stop(uid, 'SIGTERM');
  }

  feasible(spec: JobSpec): string | null {
    this.check('feasible');
    const fields = infeasibleFields(spec, this.workers);
    if (fields.length === 0) return null;
    return fields.map(({ field, value, expected }) => `${field}: ${value}, there is ${expected}`).join('; ');
  }

  async readLog(uid: string, stream: 'out' | 'err', offset: number, maxBytes: number): Promise<LogRange> {
    await this.enter('readLog');
    const bytes = this.machine.bytes(uid, stream);
    return { data: bytes.subarray(offset, offset + maxBytes), size: bytes.length };
  }

  async logMarks(): Promise<readonly LogMark[]> {
    await this.enter('logMarks');
    return [];
  }

  watchLog(uid: string, on: boolean): void {
    this.check('watchLog');
    if (on) this.watched.add(uid);
    else this.watched.delete(uid);
  }

  watchWorkers(): void {
    this.check('watchWorkers');
  }

  async close(): Promise<void> {
    await this.enter('close');
    this.listener = null;
    this.machine.watcher = null;
  }

  private check(call: Call): void {
    this.calls.push(call);
    const message = this.broken.get(call) ?? this.broken.get('all');
    if (message !== undefined) throw new Error(message);
  }

  private async enter(call: Waits): Promise<void> {
    this.check(call);
    await this.gates.get(call)?.open;
  }

  /** Never inside the call that led to it; what else changes until then goes along. */
  private tell(uid: string): void {
    this.untold.add(uid);
    if (this.untold.size > 1) return;
    setImmediate(() => {
      const batch = [...this.untold].map((each) => this.machine.seen(each));
      this.untold.clear();
      if (!this.broken.has('all')) this.listener?.observations(batch);
    });
  }
}
