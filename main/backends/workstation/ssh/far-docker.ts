/**
 * Containers on a machine reached by SSH. Its Engine is asked over the same connection, its logs are copied here as they grow, so they
 * can be read while it is off. While it is cut off containers go on; when it is given up its runtime here is thrown away, and the
 * next one removes what is left of them there.
 */
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import type { GpuView } from '../../../../core/contract/gpus.js';
import type { DockerState } from '../../../../core/contract/machines.js';
import type { Cause } from '../../../../core/contract/views.js';
import type { GpuReading } from '../../../machine/gpus.js';
import { LogGrowth } from '../../../logs/growth.js';
import { readRange } from '../../../logs/log-file.js';
import type {
  AttemptLaunch,
  AttemptObservation,
  BackendListener,
  DesiredAttempt,
  ImageControl,
  LogMark,
  LogRange,
} from '../../backend.js';
import { DeviceWatch, lostMessage } from '../device-watch.js';
import { cachesOf } from '../docker/container-environment.js';
import { DockerRuntime } from '../docker/docker-runtime.js';
import type { FoundEndpoint } from '../docker/endpoint.js';
import { newEntry, observationOf } from '../process/attempt-entry.js';
import { messageOf } from '../process/error-code.js';
import type { LinkLog } from '../process/launcher-link.js';
import { UsageWatch } from '../usage-watch.js';
import { ContainerCopies } from './container-copies.js';
import type { FarFiles } from './far-files.js';
import type { FarHello } from './far-machine.js';
import type { FarWord } from './far-words.js';

export interface FarDockerOptions {
  readonly name: string;
  readonly home: string;
  readonly log: LinkLog;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly isKnown?: ((uid: string) => Promise<boolean>) | undefined;
  readonly files: FarFiles;
  /** As the far hand sees it. */
  readonly seen: () => DockerState;
  /** `listening`: by what is always read there. */
  readonly connect: (listening: boolean) => Duplex;
  readonly isConnected: () => boolean;
  /** How far the machine's clock is ahead. */
  readonly clockSkewMs: () => number;
  /** As they are themselves, whoever claims them. */
  readonly cards: () => readonly GpuView[];
  readonly gpuIdleAfterMs?: number | undefined;
  readonly onObservations: (batch: readonly AttemptObservation[]) => void;
  readonly onGrew: BackendListener['logGrew'];
  readonly onState: () => void;
}

export class FarDocker {
  private readonly folder: string;
  private readonly copies: ContainerCopies;
  private readonly growth: LogGrowth;
  /** Of what the runtime runs. */
  private usage: UsageWatch | null = null;
  private devices: DeviceWatch | null = null;
  private runtime: DockerRuntime | null = null;
  private desired: readonly DesiredAttempt[] = [];
  /** Given up with the machine: nothing of them counts any more. */
  private readonly dropped = new Set<string>();
  private lostCause: Cause | null = null;
  private swept = false;
  /** A hand was there since it was lost. */
  private there: { readonly hello: FarHello; readonly attemptsFolder: string } | null = null;
  private readonly running = new Map<string, AttemptLaunch>();

  constructor(private readonly options: FarDockerOptions) {
    this.folder = path.join(options.home, `containers-${options.name}`);
    this.copies = new ContainerCopies(this.folder, options);
    this.growth = new LogGrowth({
      nowMs: options.nowMs,
      onGrew: options.onGrew,
      onFault: (uid, error) =>
        options.log.warn('The growth of a log cannot be followed', { uid, error: messageOf(error) }),
    });
  }

  /** The Engine's own word, or what the hand sees before it is asked. */
  state(): DockerState {
    const state = this.runtime?.state();
    return state === undefined || state.state === 'UNKNOWN' || !this.options.isConnected()
      ? this.options.seen()
      : state;
  }

  /** Nothing is left there of containers that were given up, as far as its Engine can be asked. */
  isSettled(): boolean {
    return this.swept || ['ABSENT', 'FAILED'].includes(this.state().state);
  }

  images(): ImageControl | null {
    return this.runtime?.imageControl() ?? null;
  }

  /** It runs in a container, or did. */
  has(uid: string): boolean {
    return this.runtime?.entry(uid) !== undefined || existsSync(path.join(this.folder, path.basename(uid)));
  }

  readLog(uid: string, stream: 'out' | 'err', offset: number, maxBytes: number): Promise<LogRange> {
    return readRange(path.join(this.folder, path.basename(uid), stream), offset, maxBytes);
  }

  logMarks(uid: string): readonly LogMark[] {
    return this.growth.marks(uid, path.join(this.folder, path.basename(uid)));
  }

  watch(uid: string, on: boolean): void {
    this.growth.listen(uid, on);
    const entry = this.runtime?.entry(uid);
    if (on && entry?.phase === 'running') this.growth.track(uid, entry.folder);
  }

  reconcile(desired: readonly DesiredAttempt[]): void {
    this.desired = desired;
    const uids = new Set(desired.map(uidOf));
    for (const uid of this.dropped) if (!uids.has(uid)) this.dropped.delete(uid);
    this.copies.removeOld((uid) => uids.has(uid));
    if (this.lostCause !== null) this.reportLost(this.lostCause);
    else this.begin();
  }

  /** A hand is there: what runs is held for it, what ended while none was there is not. */
  connected(): void {
    for (const launch of this.running.values()) this.options.files.hold(launch);
    this.releaseOthers();
  }

  /** A hand is there, and Docker was looked at. */
  ready(hello: FarHello, attemptsFolder: string): void {
    this.lostCause = null;
    this.there = { hello, attemptsFolder };
    this.begin();
  }

  /** checkpoint UID TIME. False: it is not about a container. */
  word(word: FarWord): boolean {
    const entry = word.kind === 'checkpoint' ? this.runtime?.entry(word.text(0)) : undefined;
    if (entry === undefined) return false;
    // A time to come would say that nothing is ever lost.
    const atMs = Math.min(
      Math.round((word.number(1) ?? 0) - this.options.clockSkewMs()),
      this.options.nowMs(),
    );
    if (entry.phase === 'running' && atMs > (entry.checkpointAtMs ?? 0)) {
      entry.checkpointAtMs = atMs;
      this.runtime?.reporter.progress(observationOf(entry, 'RUNNING'));
    }
    return true;
  }

  /** Some hold cards. */
  holdsCards(): boolean {
    return [...this.running.values()].some(({ devices }) => devices.length > 0);
  }

  cardsRead({ gpus, lost }: GpuReading): void {
    this.devices?.look(gpus, lost ?? new Set());
    this.usage?.look(gpus);
  }

  lost(message: string): void {
    this.lostCause = { code: 'WORKER_LOST', message };
    void this.runtime?.close();
    this.runtime = null;
    this.there = null;
    this.running.clear();
    this.swept = false;
    this.reportLost(this.lostCause);
  }

  async close(): Promise<void> {
    this.growth.close();
    this.usage?.close();
    await this.runtime?.close();
  }

  /** A machine without Docker costs nothing until containers are asked of it: of them it has to be said why they do not run. */
  private begin(): void {
    const wanted = this.wanted();
    const { there } = this;
    if (
      this.runtime === null &&
      there !== null &&
      (this.options.seen().state !== 'ABSENT' || wanted.length > 0)
    )
      this.runtime = this.make(there.hello, there.attemptsFolder);
    this.runtime?.reconcile(wanted);
  }

  private wanted(): readonly DesiredAttempt[] {
    return this.desired.filter((item) => !this.dropped.has(uidOf(item)));
  }

  /** Told again each time they are still asked about. */
  private reportLost(cause: Cause): void {
    const finishedAtMs = this.options.nowMs();
    const batch = this.desired.map((item) => {
      const uid = uidOf(item);
      this.dropped.add(uid);
      return observationOf(newEntry(uid, '', null), 'WORKER_FAILED', { finishedAtMs, cause });
    });
    // Never inside a call.
    if (batch.length > 0) setImmediate(() => this.options.onObservations(batch));
  }

  private make(hello: FarHello, attemptsFolder: string): DockerRuntime {
    const { name, log, nowMs, monotonicMs, files } = this.options;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    this.usage?.close();
    const usage = new UsageWatch({
      monotonicMs,
      tell: (entry) => this.runtime?.reporter.progress(observationOf(entry, 'RUNNING')),
    });
    this.usage = usage;
    const devices = new DeviceWatch({
      monotonicMs,
      // Its processes are not among those of this machine.
      isAlive: () => true,
      warn: (entry, warning) => this.runtime?.reporter.warn(entry, warning),
      lose: (entry, reason) => this.runtime?.loseDevice(entry.uid, reason),
      idleAfterMs: this.options.gpuIdleAfterMs,
    });
    this.devices = devices;
    const runtime = new DockerRuntime({
      attemptsFolder: this.folder,
      dataFolder: path.posix.dirname(attemptsFolder),
      cachesFolder: cachesOf(attemptsFolder),
      workerId: name,
      environment: process.env,
      home: process.env['HOME'] ?? '/',
      log,
      nowMs,
      monotonicMs,
      clockSkewMs: this.options.clockSkewMs,
      files,
      find: () => this.find(),
      user: hello.user,
      onState: this.options.onState,
      onObservations: (batch) => {
        const heard = batch.filter(({ uid }) => !this.dropped.has(uid));
        if (heard.length > 0) this.options.onObservations(heard);
      },
      onRunning: (entry) => {
        const { uid, folder, launch } = entry;
        this.growth.track(uid, folder);
        devices.add(entry, this.options.cards());
        if (launch === null) return;
        this.running.set(uid, launch);
        files.hold(launch);
      },
      deviceFault: ({ launch }) => {
        const held = this.options.cards().filter(({ uuid }) => launch?.devices.includes(uuid));
        const sick = held.find(({ state: of }) => of === 'SICK');
        return sick === undefined ? null : lostMessage(sick);
      },
      onNotice: ({ uid }, notice) => files.notice(uid, notice, this.options.clockSkewMs()),
      onUsage: (entry, figures) => usage.take(entry, figures),
      onConclude: (entry) => usage.conclude(entry),
      onHeard: (uid, heard) => this.growth.heard(uid, heard),
      onEnded: (uid) => {
        this.running.delete(uid);
        files.release(uid);
        this.growth.ended(uid);
        this.copies.ended(uid);
        usage.remove(uid);
        devices.remove(uid);
      },
      onSwept: () => {
        this.swept = true;
        this.releaseOthers();
        this.options.onState();
      },
    });
    void runtime.start();
    return runtime;
  }

  /** Before leftovers are removed each may still have its cards. */
  private releaseOthers(): void {
    if (!this.swept) return;
    const live = this.desired.map(uidOf).filter((uid) => {
      const phase = this.runtime?.entry(uid)?.phase;
      return phase !== undefined && phase !== 'ended';
    });
    this.options.files.contained(live);
  }

  private find(): FoundEndpoint {
    const { name, connect } = this.options;
    if (!this.options.isConnected())
      return { ok: false, absent: false, message: `The machine ${name} is not connected.` };
    const { state, message } = this.options.seen();
    if (state === 'READY') {
      const ways = { connect: () => connect(false), listen: () => connect(true) };
      return { ok: true, endpoint: { kind: 'connector', ...ways, said: name }, from: `ssh to ${name}` };
    }
    return {
      ok: false,
      absent: state === 'ABSENT',
      message: message ?? `Docker on ${name} was not looked at yet.`,
    };
  }
}

function uidOf(item: DesiredAttempt): string {
  return item.kind === 'run' ? item.launch.uid : item.uid;
}

export function isContainer(item: DesiredAttempt): boolean {
  return item.kind === 'stop' ? item.container : item.launch.spec.image !== null;
}
