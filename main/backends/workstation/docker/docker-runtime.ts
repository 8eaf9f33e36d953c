/**
 * The Docker runtime: attempts as containers of one Engine. Level-triggered like the process runtime: told its complete part of the
 * desired set, it starts, adopts, stops and reports.
 */
import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import type { DockerState } from '../../../../core/contract/machines.js';
import type { JobSpec } from '../../../../core/contract/job-request.js';
import type { Cause } from '../../../../core/contract/views.js';
import type { GroupFigures } from '../../../../core/formats/docker/group-usage.js';
import type {
  AttemptObservation,
  DesiredAttempt,
  ImageControl,
  LogHeard,
  StopNotice,
} from '../../backend.js';
import { newEntry, supersededStop, type AttemptEntry } from '../process/attempt-entry.js';
import { MemoryWatch } from '../process/memory-watch.js';
import { messageOf } from '../process/error-code.js';
import type { LinkLog } from '../process/launcher-link.js';
import { Reporter } from '../process/reporter.js';
import { writeWhole } from './attempt-note.js';
import { waits } from './attempt-turns.js';
import { ContainerAttempt } from './container-attempt.js';
import type { ContainerContext } from './container-context.js';
import { cachesOf } from './container-environment.js';
import { ContainerHub } from './container-hub.js';
import { managedLabel, type ContainerUser } from './container-plan.js';
import { ContainerUsage } from './container-usage.js';
import type { FoundEndpoint } from './endpoint.js';
import { Engine, EngineRefusal } from './engine.js';
import { Images } from './images.js';
import { localFiles, type HostFiles } from './local-files.js';
import { SharedCaches } from './shared-caches.js';
import { StartSlots } from './start-slots.js';

export interface DockerRuntimeOptions {
  readonly attemptsFolder: string;
  /** All of this program's own data; not to be seen in containers. */
  readonly dataFolder: string;
  /** Of its sockets, which may lie elsewhere; made by whoever is asked for them, as nobody can cover what is made later. */
  readonly socketFolders?: (() => readonly string[]) | undefined;
  readonly workerId: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly log: LinkLog;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** How far the Engine's clock is ahead; by its own word unless told. */
  readonly clockSkewMs?: (() => number) | undefined;
  /** Where the Engine is; looked for anew at each try. */
  readonly find: () => FoundEndpoint;
  /** Where the Engine is; beside the attempts' folder unless named. */
  readonly cachesFolder?: string | undefined;
  /** Of another machine, when the Engine is there. */
  readonly files?: HostFiles | undefined;
  readonly user: ContainerUser | null;
  readonly onState: (state: DockerState) => void;
  readonly onObservations: (batch: readonly AttemptObservation[]) => void;
  readonly onRunning: (entry: AttemptEntry) => void;
  readonly onNotice: (entry: AttemptEntry, notice: StopNotice) => void | Promise<void>;
  readonly onConclude: (entry: AttemptEntry) => void;
  readonly onHeard: (uid: string, heard: LogHeard | null) => void;
  readonly onEnded: (uid: string) => void;
  /** What one uses, as it is measured while it runs. */
  readonly onUsage: (entry: AttemptEntry, figures: GroupFigures) => void;
  readonly usageEveryMs?: number | undefined;
  readonly memorySampleMs?: number | undefined;
  /** Of the cards of one that has ended: what is left on them, and what is wrong with them. */
  readonly devicesLeft?: ((entry: AttemptEntry) => Promise<Cause | null>) | undefined;
  readonly deviceFault?: ((entry: AttemptEntry) => string | null) | undefined;
  /** Between the questions to a registry that does not answer. */
  readonly pullPausesMs?: readonly number[] | undefined;
  /** What was left of earlier attempts is gone. */
  readonly onSwept?: (() => void) | undefined;
}

/** Tried again at first and at last after. */
const removeAgainMs = 2000;
const longestRemoveAgainMs = 60_000;
const endedStates: ReadonlySet<string> = new Set(['created', 'exited', 'dead']);

export class DockerRuntime {
  private readonly attempts = new Map<string, ContainerAttempt>();
  readonly reporter: Reporter;
  private readonly engine: Engine;
  private readonly hub: ContainerHub;
  private readonly images: Images;
  private readonly caches: SharedCaches;
  private readonly context: ContainerContext;
  /** Only where the Engine holds no container to its limit. */
  private memory: MemoryWatch | null = null;
  private init = true;
  private closed = false;
  private swept = false;

  constructor(private readonly options: DockerRuntimeOptions) {
    const { log, nowMs, monotonicMs, attemptsFolder, workerId, environment, home } = options;
    const owner = ownerOf(attemptsFolder);
    const clockSkewMs = options.clockSkewMs ?? (() => this.engine.known()?.aheadMs ?? 0);
    this.reporter = new Reporter(options);
    this.engine = new Engine({
      find: options.find,
      onState: (state) => {
        this.watchMemory();
        options.onState(state);
      },
      readRoom: options.files?.room,
      isHere: options.files === undefined,
      isThere: async (path) => (await (options.files ?? localFiles).realPath(path)) !== null,
      roomEveryMs: options.files?.roomEveryMs,
      nowMs,
    });
    this.hub = new ContainerHub({
      engine: this.engine,
      owner,
      nowMs,
      clockSkewMs,
      isFar: options.files !== undefined,
      onFault: (error) =>
        log.warn("The Docker Engine's events are asked for again", { error: messageOf(error) }),
    });
    const files = options.files ?? localFiles;
    this.caches = new SharedCaches({
      engine: this.engine,
      workerId,
      owner,
      folder: options.cachesFolder ?? cachesOf(attemptsFolder),
      run: files.runCachesScript,
      live: () => this.live(),
      nowMs,
      log,
      changed: () => this.images.tell('caches'),
    });
    const ofImages = { engine: this.engine, workerId, owner, nowMs, environment, home };
    this.images = new Images(ofImages, this.caches);
    this.context = {
      engine: this.engine,
      hub: this.hub,
      slots: new StartSlots(Math.max(4, os.availableParallelism() * 2)),
      images: this.images,
      caches: this.caches,
      files,
      reporter: this.reporter,
      log,
      owner,
      ownFolders: () => [options.dataFolder, ...(options.socketFolders?.() ?? [])],
      nowMs,
      monotonicMs,
      clockSkewMs,
      user: () => (this.engine.known()?.rootless === true ? null : options.user),
      init: () => this.init,
      withoutInit: () => {
        this.init = false;
        log.warn('The Docker Engine has no init program: containers run without one');
      },
      onRunning: options.onRunning,
      onNotice: options.onNotice,
      onConclude: options.onConclude,
      onHeard: options.onHeard,
      devicesLeft: options.devicesLeft ?? (() => Promise.resolve(null)),
      deviceFault: options.deviceFault ?? (() => null),
      pullPausesMs: options.pullPausesMs ?? waits.pullPausesMs,
      usage: new ContainerUsage({
        engine: this.engine,
        isFar: options.files !== undefined,
        onSample: options.onUsage,
        everyMs: options.usageEveryMs,
      }),
      remove: (id) => this.remove(id),
      removeOwn: (name, id) => this.removeOwn(name, id),
    };
  }

  /** Looks at the Engine once, so that its state is known. */
  async start(): Promise<void> {
    this.caches.begin();
    await this.engine.probe();
  }

  state(): DockerState {
    return this.engine.state();
  }

  imageControl(): ImageControl {
    return this.images;
  }

  /** Null, or why no container could run here at all. */
  feasible(spec: JobSpec): string | null {
    const { state, message } = this.engine.state();
    if (spec.image === null || state !== 'ABSENT') return null;
    return `image: ${spec.image} needs Docker on ${this.options.workerId}. ${message ?? ''}`.trim();
  }

  entry(uid: string): AttemptEntry | undefined {
    return this.attempts.get(uid)?.entry;
  }

  /** A card of it is gone. */
  loseDevice(uid: string, reason: string): void {
    this.attempts.get(uid)?.loseDevice(reason);
  }

  reconcile(desired: readonly DesiredAttempt[]): void {
    if (this.closed) return;
    const wanted = new Set<string>();
    for (const item of desired) {
      const uid = item.kind === 'run' ? item.launch.uid : item.uid;
      wanted.add(uid);
      const attempt = this.attempts.get(uid);
      if (attempt === undefined) this.take(item, uid);
      else if (attempt.entry.phase === 'ended') this.reporter.again(attempt.entry);
      else if (item.kind === 'stop') attempt.stop(item);
    }
    for (const [uid, attempt] of this.attempts) if (!wanted.has(uid)) this.unwanted(uid, attempt);
    // Without an Engine nothing was left behind, and a machine without Docker is not asked for it.
    if (!this.swept && this.engine.state().state !== 'ABSENT') {
      this.swept = true;
      void this.sweep(wanted);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.context.usage.close();
    this.memory?.close();
    this.reporter.close();
    for (const attempt of this.attempts.values()) attempt.close();
    this.hub.close();
    this.images.close();
    this.caches.close();
    this.engine.close();
    await Promise.resolve();
  }

  private live(): readonly string[] {
    const entries = Array.from(this.attempts.values(), ({ entry }) => entry);
    return entries.filter(({ phase }) => phase !== 'ended').map(({ uid, launch }) => launch?.taskId ?? uid);
  }

  private watchMemory(): void {
    const { files, log, memorySampleMs } = this.options;
    if (this.memory !== null || this.closed || files !== undefined || this.isHeld()) return;
    const { usage } = this.context;
    this.memory = new MemoryWatch({
      entries: () => Array.from(this.attempts.values(), ({ entry }) => entry),
      members: (entry) => Promise.resolve(usage.members(entry.uid)),
      end: (entry) => this.attempts.get(entry.uid)?.endOverMemory(),
      warn: (entry, warning) => this.reporter.warn(entry, warning),
      isHeld: () => this.isHeld(),
      onFault: (error) => log.error('Memory could not be measured', { error: messageOf(error) }),
      ...(memorySampleMs === undefined ? {} : { everyMs: memorySampleMs }),
    });
  }

  private isHeld(): boolean {
    return this.engine.known()?.limits.memory !== false;
  }

  private take(item: DesiredAttempt, uid: string): void {
    const folder = path.join(this.options.attemptsFolder, uid);
    const entry = newEntry(uid, folder, item.kind === 'stop' ? null : item.launch);
    const attempt = new ContainerAttempt(entry, item.kind, this.context);
    this.attempts.set(uid, attempt);
    if (item.kind === 'stop') attempt.stop(item);
    attempt.begin();
  }

  private unwanted(uid: string, attempt: ContainerAttempt): void {
    if (attempt.entry.phase === 'ended') {
      this.attempts.delete(uid);
      this.memory?.forget(uid);
      return;
    }
    if (attempt.entry.stop !== null) return;
    this.options.log.warn('An attempt that is not wanted is stopped', { uid });
    const { workerId } = this.options;
    attempt.stop(supersededStop(uid, attempt.entry.launch, { workerId, container: true }));
  }

  /** Containers of ours that nobody asks about any more: of attempts that are over, or that the controller has lost. */
  private async sweep(wanted: ReadonlySet<string>): Promise<void> {
    const filters = { label: [`${managedLabel}=${this.context.owner}`] };
    try {
      const left = await this.engine.ask((docker) => docker.listContainers({ all: true, filters }));
      const live: Promise<void>[] = [];
      for (const { Labels: labels, Id: id, State: state } of left) {
        const uid = labels['iris.attempt-uid'];
        if (uid === undefined || wanted.has(uid) || this.attempts.has(uid) || this.closed) continue;
        this.options.log.warn('A container that is not wanted is removed', { uid });
        const gone = this.removeOwn(id);
        // What has ended uses nothing any more, and an Engine may never be able to remove it.
        if (!endedStates.has(state)) live.push(gone);
      }
      await Promise.all(live);
      this.options.onSwept?.();
    } catch (error) {
      this.options.log.warn('Containers that are left could not be looked for', { error: messageOf(error) });
      this.swept = false;
    }
  }

  private async remove(id: string): Promise<void> {
    try {
      await this.engine.ask((docker) => docker.getContainer(id).remove({ force: true, v: true }));
    } catch (error) {
      // Gone, or going already.
      if (!(error instanceof EngineRefusal) || (error.status !== 404 && error.status !== 409)) throw error;
    }
  }

  /** `id`: it was seen to be ours and is not looked at again, unless that fails. */
  private async removeOwn(name: string, id: string | null = null): Promise<void> {
    if (id !== null) {
      try {
        await this.remove(id);
        return;
      } catch {
        // The loop below says what is wrong, and goes on trying.
      }
    }
    for (let pauseMs = removeAgainMs; !this.closed; pauseMs = Math.min(longestRemoveAgainMs, pauseMs * 2)) {
      try {
        const found = await this.engine.ask((docker) => docker.getContainer(name).inspect());
        if (found.Config.Labels[managedLabel] === this.context.owner) await this.remove(found.Id);
        return;
      } catch (error) {
        if (error instanceof EngineRefusal && error.status === 404) return;
        if (error instanceof EngineRefusal) {
          this.options.log.warn('A container could not be removed', { name, error: error.message });
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      }
    }
  }
}

/** Who made a container: this data folder, wherever it is moved to. */
function ownerOf(attemptsFolder: string): string {
  const file = path.join(attemptsFolder, '.owner');
  try {
    const known = readFileSync(file, 'utf8').trim();
    if (/^[0-9a-f]{16}$/.test(known)) return known;
  } catch {
    // None yet: it is made.
  }
  const made = randomBytes(8).toString('hex');
  writeWhole(file, made);
  return made;
}
