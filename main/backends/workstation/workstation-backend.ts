/** This computer as a backend of one worker: attempts are processes here. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import type { JobSpec } from '../../../core/contract/job-request.js';
import type {
  AttemptObservation,
  Backend,
  BackendListener,
  DesiredAttempt,
  StopNotice,
  WorkerObservation,
} from '../backend.js';
import { LogGrowth } from '../../logs/growth.js';
import { readRange } from '../../logs/log-file.js';
import type { GpuReader } from '../../machine/gpus.js';
import { attemptOf, createProcessView, type ProcessView } from '../../machine/processes.js';
import { DeviceLeftovers } from './device-leftovers.js';
import { observationOf, type AttemptEntry } from './process/attempt-entry.js';
import { CheckpointWatch, writeNotice } from './process/checkpoints.js';
import { findGroupRoots, type GroupRoots } from './process/control-groups.js';
import { messageOf } from './process/error-code.js';
import { forkServerCommand } from './process/fork-server.js';
import type { LauncherCommand } from './process/launcher-channel.js';
import type { LinkLog } from './process/launcher-link.js';
import { LogStorageWatch } from './process/log-storage.js';
import { ProcessRuntime } from './process/process-runtime.js';
import supervisorText from './process/supervisor.sh?raw';
import { loginEnvironment } from './process/task-environment.js';
import { WorkerWatch } from './worker-watch.js';

export interface WorkstationOptions {
  /** Owned by this backend: one folder an attempt, named by its uid. */
  readonly attemptsFolder: string;
  /** The built launcher of Node, for systems without Perl; run by this program's own executable. */
  readonly launcherFile: string;
  /** With nothing to start before, the launcher is run so much later. */
  readonly launcherAfterMs?: number;
  readonly log: LinkLog;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly id?: string;
  /** Name of the one worker; the host name unless told. */
  readonly workerId?: string;
  /** What tasks inherit underneath; this process's own environment unless told. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** For tests: how processes look, and which control groups there are. */
  readonly processes?: ProcessView;
  readonly groups?: GroupRoots;
  readonly gpuReader?: GpuReader;
  readonly launchers?: readonly LauncherCommand[];
  readonly memorySampleMs?: number;
  readonly storageSampleMs?: number;
  readonly checkpointSampleMs?: number;
}

/**
 * An attempt that lives this long gets its log watched even when nobody looks, for the order of its streams, its checkpoints, and
 * its processor weight. Shorter ones need none of it.
 */
const livesOnAfterMs = 1000;
/** Just after its own start a host, or the window it lives beside, has better things to do. */
const launcherAfterMs = 2000;

export function createWorkstationBackend(options: WorkstationOptions): Backend {
  return new WorkstationBackend(options);
}

class WorkstationBackend implements Backend {
  private readonly runtime: ProcessRuntime;
  private readonly growth: LogGrowth;
  private readonly storage: LogStorageWatch;
  private readonly checkpoints: CheckpointWatch;
  private readonly leftovers: DeviceLeftovers;
  private readonly workers: WorkerWatch;
  private listener: BackendListener | null = null;
  /** Reports before `start` wait for the listener. */
  private early: AttemptObservation[] = [];
  private readonly young = new Map<string, NodeJS.Timeout>();

  constructor(private readonly options: WorkstationOptions) {
    mkdirSync(options.attemptsFolder, { recursive: true, mode: 0o700 });
    chmodSync(options.attemptsFolder, 0o700);
    this.growth = new LogGrowth({
      nowMs: options.nowMs,
      onGrew: (uid, outSize, errSize) => this.listener?.logGrew(uid, outSize, errSize),
      onFault: (uid, error) => {
        options.log.warn('The growth of a log cannot be followed', { uid, error: messageOf(error) });
        this.storage.look();
      },
    });
    this.storage = new LogStorageWatch({
      attemptsFolder: options.attemptsFolder,
      warn: (entry, warning) => this.runtime.reporter.warn(entry, warning),
      everyMs: options.storageSampleMs,
    });
    this.checkpoints = new CheckpointWatch({
      nowMs: options.nowMs,
      onCheckpoint: (entry) => this.runtime.reporter.progress(observationOf(entry, 'RUNNING')),
      everyMs: options.checkpointSampleMs,
    });
    const ownAttemptOf = (pid: number): string | null => {
      const uid = attemptOf(pid);
      return uid !== null && this.runtime.entry(uid) !== undefined ? uid : null;
    };
    const processes = options.processes ?? createProcessView();
    this.leftovers = new DeviceLeftovers({
      seen: () => this.workers.gpuProcesses(),
      look: () => this.workers.gpuProcessesNow(),
      isOwn: (pid) => ownAttemptOf(pid) !== null,
      isAlive: (pid) => !processes.complete || processes.read(pid) !== null,
    });
    this.workers = new WorkerWatch({
      workerId: options.workerId ?? os.hostname(),
      attemptsFolder: options.attemptsFolder,
      nowMs: options.nowMs,
      gpuReader: options.gpuReader,
      attemptOf: ownAttemptOf,
      onWorkers: (workers) => this.listener?.workers(workers),
    });
    this.runtime = new ProcessRuntime({
      attemptsFolder: options.attemptsFolder,
      supervisorFile: writeSupervisor(options.attemptsFolder),
      launchers: options.launchers ?? launchersHere(options.launcherFile, options.log),
      launcherAfterMs: options.launcherAfterMs ?? launcherAfterMs,
      loginEnvironment: loginEnvironment(options.environment ?? process.env),
      groups: options.groups ?? findGroupRoots(),
      processes,
      log: options.log,
      nowMs: options.nowMs,
      monotonicMs: options.monotonicMs,
      memorySampleMs: options.memorySampleMs,
      gpus: () => this.workers.gpus(),
      devicesLeft: (entry) => this.leftovers.left(entry),
      onObservations: (batch) => {
        if (this.listener === null) this.early.push(...batch);
        else this.listener.observations(batch);
      },
      onRunning: (entry) => this.runs(entry),
      onNotice: (entry, notice) => this.noticed(entry, notice),
      onConclude: (entry) => this.checkpoints.lastLook(entry),
      onEnded: (uid) => this.ended(uid),
    });
  }

  describe(): ReturnType<Backend['describe']> {
    return { id: this.options.id ?? 'local', kind: 'workstation', capabilities: ['worker-fleet', 'logs'] };
  }

  async start(listener: BackendListener): Promise<void> {
    this.listener = listener;
    await this.workers.start();
    if (this.early.length > 0) listener.observations(this.early.splice(0));
  }

  observe(): readonly WorkerObservation[] {
    return this.workers.last();
  }

  reconcile(desired: readonly DesiredAttempt[]): void {
    this.runtime.reconcile(desired);
  }

  feasible(spec: JobSpec): string | null {
    return this.workers.feasible(spec);
  }

  readLog(
    uid: string,
    stream: 'out' | 'err',
    offset: number,
    maxBytes: number,
  ): ReturnType<Backend['readLog']> {
    return readRange(path.join(this.folderOf(uid), stream), offset, maxBytes);
  }

  logMarks(uid: string): ReturnType<Backend['logMarks']> {
    return Promise.resolve(this.growth.marks(uid, this.folderOf(uid)));
  }

  watchLog(uid: string, on: boolean): void {
    this.growth.listen(uid, on);
    const entry = this.runtime.entry(uid);
    if (on && entry !== undefined && entry.phase !== 'ended' && entry.phase !== 'starting')
      this.follow(entry);
  }

  watchWorkers(on: boolean): void {
    this.workers.watch(on);
  }

  async close(): Promise<void> {
    this.listener = null;
    for (const timer of this.young.values()) clearTimeout(timer);
    this.workers.close();
    this.growth.close();
    this.storage.close();
    this.checkpoints.close();
    await this.runtime.close();
  }

  private runs(entry: AttemptEntry): void {
    this.storage.add(entry);
    this.leftovers.begins(entry);
    if (this.growth.isListened(entry.uid)) this.follow(entry);
    if (this.young.has(entry.uid)) return;
    const livesOn = () => {
      this.young.delete(entry.uid);
      this.follow(entry);
      this.checkpoints.add(entry);
      void this.runtime.giveWeight(entry);
    };
    this.young.set(entry.uid, setTimeout(livesOn, livesOnAfterMs).unref());
  }

  /** The signal goes all the same: a task that does not look for the file is told by it alone. */
  private noticed(entry: AttemptEntry, notice: StopNotice): void {
    this.checkpoints.add(entry);
    try {
      writeNotice(entry.folder, notice);
    } catch (error) {
      const detail = { uid: entry.uid, error: messageOf(error) };
      this.options.log.warn('The notice of an attempt that has to go could not be written', detail);
    }
  }

  private follow(entry: AttemptEntry): void {
    this.growth.track(entry.uid, entry.folder);
  }

  private ended(uid: string): void {
    clearTimeout(this.young.get(uid));
    this.young.delete(uid);
    const entry = this.runtime.entry(uid);
    if (entry !== undefined) this.checkpoints.remove(entry);
    this.growth.ended(uid);
    this.storage.remove(uid);
    this.leftovers.forget(uid);
  }

  /** The uid becomes part of a path: nothing but what a controller mints passes. */
  private folderOf(uid: string): string {
    if (!/^[0-9a-z-]{1,64}$/i.test(uid)) throw new Error(`${JSON.stringify(uid)} is no attempt's uid`);
    return path.join(this.options.attemptsFolder, uid);
  }
}

/**
 * The shell reads its text from a file. Named by its content, so that a newer version never changes a text that a running shell
 * is still reading.
 */
function writeSupervisor(folder: string): string {
  const hash = createHash('sha256').update(supervisorText).digest('hex').slice(0, 12);
  const file = path.join(folder, `.supervisor-${hash}.sh`);
  // Not written over: a running shell would find it cut for a moment, and on a full disk for good.
  if (isText(file, supervisorText)) return file;
  const next = `${file}.${process.pid}`;
  try {
    writeFileSync(next, supervisorText, { mode: 0o600 });
    renameSync(next, file);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
  return file;
}

function isText(file: string, text: string): boolean {
  try {
    return readFileSync(file, 'utf8') === text;
  } catch {
    return false; // not there yet
  }
}

function launchersHere(file: string, log: LinkLog): readonly LauncherCommand[] {
  const forkServer = forkServerCommand();
  if (forkServer !== null) return [forkServer, ownLauncher(file)];
  log.info('This system has no Perl: attempts are started by a process of Node, which is slower');
  return [ownLauncher(file)];
}

/** Electron's executable is Node when asked to. */
function ownLauncher(file: string): LauncherCommand {
  const env: Record<string, string | undefined> = { ...process.env };
  delete env['NODE_OPTIONS'];
  if ('electron' in process.versions) env['ELECTRON_RUN_AS_NODE'] = '1';
  return { kind: 'node', command: process.execPath, args: [file], env };
}
