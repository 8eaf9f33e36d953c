/** This computer as a backend of one worker: attempts are processes here. */
import { chmodSync, mkdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { JobSpec } from '../../../core/contract/job-request.js';
import type { History } from '../../../core/contract/machines.js';
import type {
  AttemptObservation,
  Backend,
  BackendListener,
  LogHeard,
  DesiredAttempt,
  ImageControl,
  StopNotice,
  WorkerObservation,
} from '../backend.js';
import { LogGrowth } from '../../logs/growth.js';
import { readRange } from '../../logs/log-file.js';
import type { GpuReader } from '../../machine/gpus.js';
import { createProcessView, type ProcessView } from '../../machine/processes.js';
import { ownHome } from '../../machine/users.js';
import { ClaimGate } from './claims/claim-gate.js';
import { DeviceLeftovers } from './device-leftovers.js';
import { DeviceWatch, lostMessage } from './device-watch.js';
import { findEndpoint, type FoundEndpoint } from './docker/endpoint.js';
import type { ContainerUser } from './docker/container-plan.js';
import { DockerRuntime } from './docker/docker-runtime.js';
import { folderHere } from './folder-here.js';
import { OwnProcesses } from './own-processes.js';
import { observationOf, type AttemptEntry } from './process/attempt-entry.js';
import { CheckpointWatch, writeNotice } from './process/checkpoints.js';
import { findGroupRoots, type GroupRoots } from './process/control-groups.js';
import { messageOf } from './process/error-code.js';
import type { LauncherCommand } from './process/launcher-channel.js';
import type { LinkLog } from './process/launcher-link.js';
import { launchersHere, writeSupervisor } from './process/launchers-here.js';
import { LogStorageWatch } from './process/log-storage.js';
import { ProcessRuntime } from './process/process-runtime.js';
import { loginEnvironment } from './process/task-environment.js';
import { UsageWatch } from './usage-watch.js';
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
  /** Where the controllers of all logins tell each other what they hold; none: nobody is told. */
  readonly claimsFolder?: string | null;
  readonly gpuIdleAfterMs?: number;
  readonly pullPausesMs?: readonly number[];
  readonly usageSampleMs?: number;
  readonly usageTellMs?: number;
  readonly memorySampleMs?: number;
  readonly storageSampleMs?: number;
  readonly checkpointSampleMs?: number;
  /** All of this program's own data, which no container may see; the attempts' folder unless told. */
  readonly dataFolder?: string;
  /** Of its sockets, where these lie elsewhere. */
  readonly socketFolders?: () => readonly string[];
  /** Where the Docker Engine is; where Docker's own command would find it unless told. */
  readonly findEngine?: () => FoundEndpoint;
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
  private readonly docker: DockerRuntime;
  private readonly growth: LogGrowth;
  private readonly storage: LogStorageWatch;
  private readonly checkpoints: CheckpointWatch;
  private readonly own: OwnProcesses;
  private readonly leftovers: DeviceLeftovers;
  private readonly devices: DeviceWatch;
  private readonly claims: ClaimGate;
  private readonly usage: UsageWatch;
  private readonly workers: WorkerWatch;
  private listener: BackendListener | null = null;
  /** Reports before `start` wait for the listener. */
  private early: AttemptObservation[] = [];
  private readonly young = new Map<string, NodeJS.Timeout>();

  /** What either runtime tells of its attempts. */
  private readonly reports = {
    onObservations: (batch: readonly AttemptObservation[]): void => {
      if (this.listener === null) this.early.push(...batch);
      else this.listener.observations(batch);
    },
    onRunning: (entry: AttemptEntry): void => this.runs(entry),
    onNotice: (entry: AttemptEntry, notice: StopNotice): void => this.noticed(entry, notice),
    onConclude: (entry: AttemptEntry): void => {
      this.checkpoints.lastLook(entry);
      this.usage.conclude(entry);
    },
    onHeard: (uid: string, heard: LogHeard | null): void => this.growth.heard(uid, heard),
    onEnded: (uid: string): void => this.ended(uid),
  };

  constructor(private readonly options: WorkstationOptions) {
    mkdirSync(options.attemptsFolder, { recursive: true, mode: 0o700 });
    chmodSync(options.attemptsFolder, 0o700);
    this.growth = new LogGrowth({
      nowMs: options.nowMs,
      onGrew: (...growth) => this.listener?.logGrew(...growth),
      onFault: (uid, error) => {
        options.log.warn('The growth of a log cannot be followed', { uid, error: messageOf(error) });
        this.storage.look();
      },
    });
    this.storage = new LogStorageWatch({
      attemptsFolder: options.attemptsFolder,
      warn: (entry, warning) => this.reporterOf(entry).warn(entry, warning),
      everyMs: options.storageSampleMs,
    });
    this.checkpoints = new CheckpointWatch({
      nowMs: options.nowMs,
      onCheckpoint: (entry) => this.reporterOf(entry).progress(observationOf(entry, 'RUNNING')),
      everyMs: options.checkpointSampleMs,
    });
    const processes = options.processes ?? createProcessView();
    this.own = new OwnProcesses({ processes, isKnown: (uid) => this.entryOf(uid) !== undefined });
    const ownAttemptOf = (pid: number): string | null => this.own.attemptOf(pid);
    const isAlive = (pid: number): boolean => !processes.complete || processes.read(pid) !== null;
    this.leftovers = new DeviceLeftovers({
      seen: () => this.workers.gpuProcesses(),
      look: () => this.workers.gpuProcessesNow(),
      isOwn: (pid) => ownAttemptOf(pid) !== null,
      isAlive,
    });
    this.devices = new DeviceWatch({
      monotonicMs: options.monotonicMs,
      isAlive,
      warn: (entry, warning) => this.reporterOf(entry).warn(entry, warning),
      lose: (entry, reason) => {
        if (this.docker.entry(entry.uid) === undefined) this.runtime.ending.endByDevice(entry, reason);
        else this.docker.loseDevice(entry.uid, reason);
      },
      idleAfterMs: options.gpuIdleAfterMs,
    });
    this.usage = new UsageWatch({
      monotonicMs: options.monotonicMs,
      tell: (entry) => this.reporterOf(entry).progress(observationOf(entry, 'RUNNING')),
      everyMs: options.usageSampleMs,
      tellEveryMs: options.usageTellMs,
    });
    this.claims = new ClaimGate({
      folder: options.claimsFolder ?? null,
      attemptsFolder: options.attemptsFolder,
      log: options.log,
      nowMs: options.nowMs,
      isKnown: (uid) => this.entryOf(uid) !== undefined,
      onChange: () => this.workers.claimsChanged(),
      onLost: (batch) => this.reports.onObservations(batch),
    });
    this.workers = new WorkerWatch({
      others: () => this.claims.others(),
      workerId: options.workerId ?? os.hostname(),
      attemptsFolder: options.attemptsFolder,
      nowMs: options.nowMs,
      gpuReader: options.gpuReader,
      attemptOf: ownAttemptOf,
      onReading: ({ gpus, lost }) => {
        this.devices.look(gpus, lost ?? new Set());
        this.usage.look(gpus);
      },
      onWorkers: (workers) => this.listener?.workers(this.withDocker(workers)),
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
      deviceFault: (entry) => this.faultOf(entry),
      ...this.reports,
    });
    const environment = options.environment ?? process.env;
    this.docker = new DockerRuntime({
      attemptsFolder: options.attemptsFolder,
      dataFolder: options.dataFolder ?? options.attemptsFolder,
      socketFolders: options.socketFolders,
      workerId: options.workerId ?? os.hostname(),
      environment,
      home: ownHome(),
      log: options.log,
      nowMs: options.nowMs,
      monotonicMs: options.monotonicMs,
      find:
        options.findEngine ??
        (() => findEndpoint({ environment, home: ownHome(), uid: process.getuid?.() ?? 0 })),
      user: ownUser(),
      onState: () => this.listener?.workers(this.observe()),
      onUsage: (entry, figures) => this.usage.take(entry, figures),
      usageEveryMs: options.usageSampleMs,
      memorySampleMs: options.memorySampleMs,
      pullPausesMs: options.pullPausesMs,
      devicesLeft: (entry) => this.leftovers.left(entry),
      deviceFault: (entry) => this.faultOf(entry),
      ...this.reports,
    });
  }

  describe(): ReturnType<Backend['describe']> {
    return { id: this.options.id ?? 'local', kind: 'workstation', capabilities: ['worker-fleet', 'logs'] };
  }

  async start(listener: BackendListener): Promise<void> {
    this.listener = listener;
    await this.workers.start();
    // Not waited for: an Engine that does not answer must not hold up what needs none.
    void this.docker.start();
    if (this.early.length > 0) listener.observations(this.early.splice(0));
  }

  observe(): readonly WorkerObservation[] {
    return this.withDocker(this.workers.last());
  }

  reconcile(desired: readonly DesiredAttempt[]): void {
    const mine = this.claims.pass(desired);
    this.runtime.reconcile(mine.filter((item) => !isContainer(item)));
    this.docker.reconcile(mine.filter(isContainer));
  }

  feasible(spec: JobSpec): string | null {
    return this.workers.feasible(spec) ?? this.docker.feasible(spec);
  }

  images(workerId: string): ImageControl | null {
    return this.workers.last().some(({ id }) => id === workerId) ? this.docker.imageControl() : null;
  }

  readLog(...[uid, stream, ...range]: Parameters<Backend['readLog']>): ReturnType<Backend['readLog']> {
    return readRange(path.join(this.folderOf(uid), stream), ...range);
  }

  logMarks(uid: string): ReturnType<Backend['logMarks']> {
    return Promise.resolve(this.growth.marks(uid, this.folderOf(uid)));
  }

  watchLog(uid: string, on: boolean): void {
    this.growth.listen(uid, on);
    const entry = this.entryOf(uid);
    if (on && entry !== undefined && entry.phase !== 'ended' && entry.phase !== 'starting')
      this.follow(entry);
  }

  watchWorkers(on: boolean): void {
    this.workers.watch(on);
  }

  history(workerId: string, sinceMs: number): History {
    return this.workers.history(workerId, sinceMs);
  }

  releaseGpu(workerId: string, uuid: string): boolean {
    return this.workers.last().some(({ id }) => id === workerId) && this.workers.release(uuid);
  }

  hasFolder(_workerId: string, folder: string): Promise<boolean | null> {
    return folderHere(folder);
  }

  async close(): Promise<void> {
    this.listener = null;
    this.claims.close();
    this.usage.close();
    for (const timer of this.young.values()) clearTimeout(timer);
    this.workers.close();
    this.growth.close();
    this.storage.close();
    this.checkpoints.close();
    await Promise.all([this.runtime.close(), this.docker.close()]);
  }

  private runs(entry: AttemptEntry): void {
    this.storage.add(entry);
    this.own.add(entry);
    this.leftovers.begins(entry);
    this.devices.add(entry, this.workers.gpus());
    this.claims.started(entry);
    this.workers.hold(this.devices.count);
    if (this.growth.isListened(entry.uid)) this.follow(entry);
    if (this.young.has(entry.uid)) return;
    const livesOn = () => {
      this.young.delete(entry.uid);
      this.follow(entry);
      this.checkpoints.add(entry);
      this.claims.livesOn(entry);
      this.usage.add(entry);
      if (this.docker.entry(entry.uid) === undefined) void this.runtime.giveWeight(entry);
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
    const entry = this.entryOf(uid);
    if (entry !== undefined) this.checkpoints.remove(entry);
    this.growth.ended(uid);
    this.storage.remove(uid);
    this.own.remove(uid);
    this.leftovers.forget(uid);
    this.devices.remove(uid);
    this.claims.ended(uid);
    this.usage.remove(uid);
    this.workers.hold(this.devices.count);
  }

  /** Null: none of its cards is kept from jobs. */
  private faultOf({ launch }: AttemptEntry): string | null {
    const sick = this.workers
      .gpus()
      .find(({ uuid, state }) => state === 'SICK' && launch?.devices.includes(uuid));
    return sick === undefined ? null : lostMessage(sick);
  }

  private entryOf(uid: string): AttemptEntry | undefined {
    return this.docker.entry(uid) ?? this.runtime.entry(uid);
  }

  private reporterOf({ uid }: AttemptEntry): ProcessRuntime['reporter'] {
    return this.docker.entry(uid) === undefined ? this.runtime.reporter : this.docker.reporter;
  }

  private withDocker(workers: readonly WorkerObservation[]): readonly WorkerObservation[] {
    const docker = this.docker.state();
    return workers.map((worker) => ({ ...worker, docker }));
  }

  /** The uid becomes part of a path: nothing but what a controller mints passes. */
  private folderOf(uid: string): string {
    if (!/^[0-9a-z-]{1,64}$/i.test(uid)) throw new Error(`${JSON.stringify(uid)} is no attempt's uid`);
    return path.join(this.options.attemptsFolder, uid);
  }
}

function isContainer(item: DesiredAttempt): boolean {
  return item.kind === 'stop' ? item.container : item.launch.spec.image !== null;
}

/** Containers run as who runs this, so that what they leave in mounted folders is theirs. */
function ownUser(): ContainerUser | null {
  const { getuid, getgid, getgroups } = process;
  if (getuid === undefined || getgid === undefined || getgroups === undefined) return null;
  return { uid: getuid(), gid: getgid(), groups: getgroups() };
}
