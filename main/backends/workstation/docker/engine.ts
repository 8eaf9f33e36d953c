/** One Docker Engine: the connection to it, and whether it can be used. */
import type Docker from 'dockerode';
import { z } from 'zod';
import type { DockerState } from '../../../../core/contract/machines.js';
import {
  daemonSentence,
  readDaemonError,
  type DaemonError,
} from '../../../../core/formats/docker/daemon-errors.js';
import {
  engineLimits,
  limitsWarning,
  type EngineLimits,
} from '../../../../core/formats/docker/engine-limits.js';
import { dataFolders, roomWarning } from '../../../../core/formats/docker/data-room.js';
import { gpuPlaces, gpuWays, type GpuWay } from '../../../../core/formats/docker/gpu-way.js';
import { readContainer, type ContainerView } from '../../../../core/formats/docker/inspect.js';
import type { Endpoint, FoundEndpoint } from './endpoint.js';
import { addressOf, whatToDo } from './engine-advice.js';
import { connectTo, type EngineClient } from './engine-client.js';
import { inTime } from './engine-question.js';
import { EngineRoom, localRoom, type ReadRoom } from './engine-room.js';

export interface EngineOptions {
  readonly find: () => FoundEndpoint;
  readonly onState: (state: DockerState) => void;
  /** Of the machine the Engine is on; this one unless told. */
  readonly readRoom?: ReadRoom | undefined;
  readonly roomEveryMs?: number | undefined;
  /** Of the same machine: whether something is at that path. Unless told nothing is looked for. */
  readonly isThere?: ((path: string) => Promise<boolean>) | undefined;
  /** Its containers' processes can be looked at here. */
  readonly isHere?: boolean | undefined;
  /** An answer that takes longer counts as none. */
  readonly callMs?: number | undefined;
  /** The same of a look; one that follows a look without an answer waits twice as long. */
  readonly probeCallMs?: number | undefined;
  readonly probeMs?: number | undefined;
  readonly nowMs?: (() => number) | undefined;
}

/** The Engine did not answer, as opposed to having refused. */
export class EngineUnreachable extends Error {}
/** Nobody took the question. */
export class EngineAbsent extends EngineUnreachable {}
/** It took the question, and gave no answer in time. */
export class EngineSilent extends EngineUnreachable {}

/** Of an answer that had begun: nothing more of it comes. */
export function brokenOff(message: string): EngineUnreachable {
  return new EngineUnreachable(`its answer broke off (${message})`);
}

/** The Engine's refusal. */
export class EngineRefusal extends Error {
  constructor(
    readonly status: number,
    readonly reason: DaemonError,
  ) {
    super(daemonSentence(reason));
  }
}

export interface EngineFacts {
  readonly version: string;
  readonly runtimes: readonly string[];
  readonly gpuWay: GpuWay;
  readonly rootless: boolean;
  /** It is Podman, which answers as Docker does in most. */
  readonly podman: boolean;
  /** Its containers have numbers of users of their own (`userns-remap`), unless they ask for those of the machine. */
  readonly remapped: boolean;
  readonly socketPath: string | null;
  /** `here` cannot be cut off; `relay`: what listens there is always read. */
  readonly reach: 'here' | 'network' | 'relay';
  /** Its machine's name, and where it keeps its data there. */
  readonly machine: string;
  readonly folders: readonly string[];
  readonly limits: EngineLimits;
  /** How far its clock is ahead of ours, as far as that is more than the way to it takes. */
  readonly aheadMs: number;
}

const infoSchema = z.looseObject({
  ServerVersion: z.string().catch(''),
  Runtimes: z.record(z.string(), z.unknown()).nullish(),
  SecurityOptions: z.array(z.string()).nullish(),
  Name: z.string().catch(''),
  /** Podman's alone, which answers as Docker does. */
  BuildahVersion: z.unknown().optional(),
  DockerRootDir: z.string().nullish(),
  SystemTime: z.string().catch(''),
  DriverStatus: z.array(z.array(z.string())).nullish().catch(null),
});

const usualCallMs = 120_000;
const usualProbeMs = 30_000;
const usualProbeCallMs = 5000;
/** Podman's first answer on a cold disk comes after the list of every package was read. */
const mostProbeCallMs = 30_000;
/** After the first look that failed; from then on after as long as none has succeeded, up to the usual time. */
const firstAgainMs = 1000;
const usualRoomMs = 500;
const podmanWords =
  'It is Podman that answers there, as Docker would: of its containers a line is seen once it is whole, and one killed for want of memory is not told from one that was killed.';
/** Clocks that are so near to each other are taken for the same. */
const leastSkewMs = 1000;
/** While it does not answer it is looked at so often. */
const lostProbeMs = 500;

export class Engine {
  readonly room: EngineRoom;
  private connected: EngineClient | null = null;
  private facts: EngineFacts | null = null;
  private current: DockerState = { state: 'UNKNOWN', version: null, gpus: false, message: null };
  private probing: Promise<DockerState> | null = null;
  private timer: NodeJS.Timeout | null = null;
  private closed = false;
  /** Since when each look failed. */
  private failedFromMs: number | null = null;
  /** Looks in a row, to the last, that got no answer in time. */
  private silences = 0;
  private waiters: (() => void)[] = [];

  constructor(private readonly options: EngineOptions) {
    this.room = new EngineRoom({
      read: options.readRoom ?? localRoom,
      where: () => this.facts,
      everyMs: options.roomEveryMs ?? usualRoomMs,
      // Its state says so at once, not with the next look of its own.
      onFull: () => {
        const { state, message } = this.current;
        if (state === 'READY' && message === null) void this.probe();
      },
    });
  }

  state(): DockerState {
    return this.current;
  }

  known(): EngineFacts | null {
    return this.facts;
  }

  /** Looks whether it answers; one look at a time. */
  probe(): Promise<DockerState> {
    this.probing ??= this.look().then((state) => {
      this.probing = null;
      this.set(state);
      return state;
    });
    return this.probing;
  }

  /** Resolves once it can be used; at once when it can. False: not within the time, or closed. */
  async ready(ms: number): Promise<boolean> {
    if (this.current.state !== 'READY') await this.probe();
    if (this.current.state === 'READY') return true;
    if (this.closed || ms <= 0) return false;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waiters = this.waiters.filter((one) => one !== done);
        resolve(false);
      }, ms);
      const done = (): void => {
        clearTimeout(timer);
        resolve(this.current.state === 'READY');
      };
      this.waiters.push(done);
      this.schedule();
    });
  }

  /** Asks the Engine; rejects with EngineUnreachable or EngineRefusal. */
  async ask<T>(
    question: (docker: Docker, listener: Docker | null) => Promise<T>,
    ms = this.options.callMs ?? usualCallMs,
  ): Promise<T> {
    const late = () => new EngineSilent(`Docker did not answer within ${ms / 1000} s`);
    try {
      const { docker, listener } = await this.client();
      return await inTime(ms, late, (within) => question(within(docker), listener && within(listener)));
    } catch (error) {
      const read = engineError(error);
      if (read instanceof EngineUnreachable && !this.closed) void this.probe();
      throw read;
    }
  }

  close(): void {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.room.close();
    this.connected?.close();
    for (const waiter of this.waiters.splice(0)) waiter();
  }

  private async client(): Promise<EngineClient> {
    if (this.connected === null) {
      const found = this.options.find();
      if (!found.ok) throw new EngineAbsent(found.message);
      return this.connect(found.endpoint);
    }
    return this.connected;
  }

  /** Who is first is used: another may have connected meanwhile. */
  private async connect(endpoint: Endpoint): Promise<EngineClient> {
    const client = await connectTo(endpoint);
    return (this.connected ??= client);
  }

  private nowMs(): number {
    return (this.options.nowMs ?? Date.now)();
  }

  private async look(): Promise<DockerState> {
    const none = { version: null, gpus: false } as const;
    const found = this.options.find();
    if (!found.ok) return { ...none, state: found.absent ? 'ABSENT' : 'FAILED', message: found.message };
    try {
      const { docker } = this.connected ?? (await this.connect(found.endpoint));
      const usualMs = this.options.probeCallMs ?? usualProbeCallMs;
      const ms = Math.min(usualMs * 2 ** this.silences, Math.max(usualMs, mostProbeCallMs));
      const late = () => new EngineSilent(`no answer within ${ms / 1000} s`);
      const askedMs = this.nowMs();
      const told: unknown = await inTime(ms, late, (within) => within(docker).info());
      const heardMs = this.nowMs();
      this.silences = 0;
      const info = infoSchema.parse(told);
      const reach = reachOf(found.endpoint);
      const runtimes = Object.keys(info.Runtimes ?? {});
      const gpus = gpuWays(told, await this.lookFor(gpuPlaces(told), found.endpoint));
      const has = (name: string): boolean =>
        (info.SecurityOptions ?? []).some((option) => option.split(',').includes(`name=${name}`));
      this.facts = {
        version: info.ServerVersion,
        runtimes,
        gpuWay: gpus.way,
        rootless: has('rootless'),
        podman: info.BuildahVersion !== undefined,
        remapped: has('userns'),
        socketPath: found.endpoint.kind === 'socket' ? found.endpoint.path : null,
        reach,
        aheadMs: reach === 'here' ? 0 : aheadOf(Date.parse(info.SystemTime), askedMs, heardMs),
        machine: info.Name,
        folders: dataFolders({ root: info.DockerRootDir ?? null, driverStatus: info.DriverStatus ?? [] }),
        limits: engineLimits(told),
      };
      const storage = await this.room.look();
      const isPodman = this.facts.podman;
      return {
        state: 'READY',
        version: info.ServerVersion,
        gpus: gpus.way !== 'NONE',
        message: together([
          isPodman ? podmanWords : null,
          storage === null ? null : roomWarning(storage),
          limitsWarning(this.facts.limits, this.options.isHere === true),
          gpus.obstacle,
        ]),
        storage,
        found: {
          engine: isPodman ? 'Podman' : 'Docker',
          at: addressOf(found.endpoint),
          from: found.from,
          rootless: this.facts.rootless,
        },
      };
    } catch (error) {
      this.silences = error instanceof EngineSilent ? this.silences + 1 : 0;
      // The next look begins anew: the address may have changed with a context or the environment's files.
      this.connected?.close();
      this.connected = null;
      return { ...none, state: 'FAILED', message: whatToDo(error, found.endpoint) };
    }
  }

  /** An Engine that is reached by an address may be on any machine. */
  private async lookFor(places: readonly string[], { kind }: Endpoint): Promise<readonly string[]> {
    const { isThere } = this.options;
    if (isThere === undefined || (kind !== 'socket' && kind !== 'connector')) return [];
    const there = await Promise.all(places.map((place) => isThere(place).catch(() => false)));
    return places.filter((_, at) => there[at] === true);
  }

  private schedule(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.probe(), this.nextLookMs()).unref();
  }

  /** Soon while somebody waits for it, and after a look that failed: it may only have been slow, or be starting. */
  private nextLookMs(): number {
    const usualMs = this.options.probeMs ?? usualProbeMs;
    if (this.current.state === 'READY') return usualMs;
    if (this.waiters.length > 0) return lostProbeMs;
    if (this.failedFromMs === null) return usualMs;
    return Math.min(usualMs, Math.max(firstAgainMs, this.nowMs() - this.failedFromMs));
  }

  private set(state: DockerState): void {
    if (this.closed) return;
    const changed = JSON.stringify(state) !== JSON.stringify(this.current);
    this.current = state;
    this.failedFromMs = state.state === 'FAILED' ? (this.failedFromMs ?? this.nowMs()) : null;
    this.schedule();
    if (changed) this.options.onState(state);
    if (state.state === 'READY') for (const waiter of this.waiters.splice(0)) waiter();
  }
}

/** `saidMs`: by its own clock, at some moment between the question and its answer. */
function aheadOf(saidMs: number, askedMs: number, heardMs: number): number {
  const aheadMs = saidMs - (askedMs + heardMs) / 2;
  const isClear = Math.abs(aheadMs) > Math.max(leastSkewMs, (heardMs - askedMs) / 2);
  return Number.isFinite(aheadMs) && isClear ? Math.round(aheadMs) : 0;
}

function reachOf(endpoint: Endpoint): EngineFacts['reach'] {
  switch (endpoint.kind) {
    case 'socket':
      return 'here';
    case 'tcp':
      return /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(endpoint.host) ? 'here' : 'network';
    case 'ssh':
    case 'connector':
      return 'relay';
  }
}

const failureSchema = z.looseObject({
  code: z.string().optional().catch(undefined),
  statusCode: z.number().optional(),
  message: z.string().optional(),
});

const noConnection = new Set(['ECONNREFUSED', 'ENOENT', 'EACCES']);

function engineError(error: unknown): Error {
  if (error instanceof EngineUnreachable || error instanceof EngineRefusal) return error;
  const failure = failureSchema.safeParse(error).data;
  const status = failure?.statusCode;
  const message = failure?.message ?? String(error);
  if (status !== undefined) return new EngineRefusal(status, readDaemonError(message));
  return noConnection.has(failure?.code ?? '') ? new EngineAbsent(message) : new EngineUnreachable(message);
}

function together(parts: readonly (string | null)[]): string | null {
  const said = parts.filter((part) => part !== null);
  return said.length === 0 ? null : said.join(' ');
}

/** Null: there is none of that name. `skewMs`: the Engine's clock is so far ahead; times are told by ours. */
export async function lookAtContainer(
  engine: Engine,
  name: string,
  skewMs: number,
): Promise<ContainerView | null> {
  const missing = (error: unknown): null => {
    if (error instanceof EngineRefusal && error.status === 404) return null;
    throw error;
  };
  const found = await engine.ask((docker) => docker.getContainer(name).inspect()).catch(missing);
  if (found === null) return null;
  const view = readContainer(found);
  if (view === null) throw new Error(`the Engine's answer about ${name} cannot be read`);
  const here = (theirs: number | null): number | null => (theirs === null ? null : theirs - skewMs);
  return { ...view, startedAtMs: here(view.startedAtMs), finishedAtMs: here(view.finishedAtMs) };
}
