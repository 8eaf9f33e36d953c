/** Samples this machine: about every two seconds while somebody looks, else rarely. */
import path from 'node:path';
import type { GpuView } from '../../../core/contract/gpus.js';
import type { JobSpec } from '../../../core/contract/job-request.js';
import { jobsDiskPurpose, type History } from '../../../core/contract/machines.js';
import { infeasibleFields } from '../../../core/scheduling/feasible.js';
import type { WorkerObservation } from '../backend.js';
import {
  createGpuReader,
  type AttemptOf,
  type GpuProcess,
  type GpuReader,
  type GpuReading,
} from '../../machine/gpus.js';
import { withClaims, type OthersClaims } from './claims/machine-claims.js';
import { LoadHistory, type LoadFigures } from '../../machine/history.js';
import { MachineSampler } from '../../machine/machine.js';
import { ownHome } from '../../machine/users.js';

export interface WorkerWatchOptions {
  readonly workerId: string;
  readonly attemptsFolder: string;
  readonly nowMs: () => number;
  /** nvidia-smi of this machine unless told. */
  readonly gpuReader?: GpuReader | undefined;
  /** Attempt of ours that a process belongs to: its card is not busy by others. */
  readonly attemptOf: AttemptOf;
  /** Each time the cards were read, in whatever way. */
  readonly onReading: (reading: GpuReading) => void;
  /** What others' attempts on this machine have. */
  readonly others?: (() => OthersClaims | null) | undefined;
  readonly onWorkers: (workers: readonly WorkerObservation[]) => void;
}

const lookedAtMs = 2000;
const idleMs = 60_000;
/** A look at all cards is not made again sooner, whatever moves. */
const betweenLooksMs = 2000;
/** Beside the attempts it is about; a restart of this program finds it again. */
const healthFile = '.gpu-quarantine.json';
const loadFile = '.load-history';

export class WorkerWatch {
  private readonly sampler: MachineSampler;
  private observation: WorkerObservation;
  private readonly reader: GpuReader;
  private readonly load: LoadHistory;
  private reading: GpuReading;
  private timer: NodeJS.Timeout | null = null;
  private looked = false;
  private held = 0;
  private closed = false;
  private looking = 0;
  private lookedAt = Number.NEGATIVE_INFINITY;
  private lookLater: NodeJS.Timeout | null = null;

  constructor(private readonly options: WorkerWatchOptions) {
    this.sampler = new MachineSampler([
      { path: options.attemptsFolder, purpose: jobsDiskPurpose },
      { path: ownHome(), purpose: 'home folder' },
      { path: '/', purpose: 'system' },
    ]);
    this.reader =
      options.gpuReader ??
      createGpuReader({
        nowMs: options.nowMs,
        healthFile: path.join(options.attemptsFolder, healthFile),
        onLate: () => this.lookSoon(),
      });
    this.load = new LoadHistory(path.join(options.attemptsFolder, loadFile));
    this.reading = { gpus: [], processes: [], note: 'not looked at yet' };
    this.observation = this.observe();
  }

  /** Resolves when the cards were looked at once, so that the first placement knows them. */
  async start(): Promise<void> {
    this.schedule();
    await this.readGpus();
    this.sample();
  }

  last(): readonly WorkerObservation[] {
    return [this.observation];
  }

  gpus(): readonly GpuView[] {
    return this.reading.gpus;
  }

  /** What computed on the cards when they were looked at last. */
  gpuProcesses(): readonly GpuProcess[] {
    return this.reading.processes;
  }

  /** Looks anew; waits as long as the tool takes, up to its time limit. */
  async gpuProcessesNow(): Promise<readonly GpuProcess[]> {
    await this.readGpus();
    this.sample();
    return this.reading.processes;
  }

  watch(on: boolean): void {
    if (this.looked === on) return;
    this.looked = on;
    if (on) {
      this.sample();
      void this.look();
    }
    this.schedule();
    this.follow();
  }

  /** Attempts that hold cards: those are watched as if somebody looked. */
  hold(count: number): void {
    if (this.held === count) return;
    this.held = count;
    this.follow();
  }

  /** Others claimed or released something. */
  claimsChanged(): void {
    this.sample();
  }

  history(workerId: string, sinceMs: number): History {
    return workerId === this.options.workerId
      ? this.load.since(sinceMs)
      : { stepMs: 2000, timesMs: [], series: [] };
  }

  /** False: there is no such card. */
  release(uuid: string): boolean {
    const known = this.reader.release?.(uuid) ?? false;
    // The first may be under way and tell what was before.
    if (known) void this.readGpus().then(() => this.look());
    return known;
  }

  close(): void {
    this.closed = true;
    if (this.timer !== null) clearInterval(this.timer);
    if (this.lookLater !== null) clearTimeout(this.lookLater);
    this.load.save();
    this.reader.close?.();
  }

  /** Null, or one sentence with what was asked for and what there is. */
  feasible(spec: JobSpec): string | null {
    const fields = infeasibleFields(spec, [this.observation]);
    if (fields.length === 0) return null;
    const said = fields.map(
      ({ field, value, expected }) => `${field}: ${value} asked for, there is ${expected}`,
    );
    return `${this.observation.hostname} could never run it. ${said.join('; ')}.`;
  }

  private schedule(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = this.closed ? null : setInterval(() => this.tick(), this.looked ? lookedAtMs : idleMs);
    this.timer?.unref();
  }

  private follow(): void {
    this.reader.follow?.(!this.closed && (this.looked || this.held > 0), {
      reading: (reading) => this.take(reading),
      look: () => this.lookSoon(),
    });
  }

  private sample(): void {
    if (this.closed) return;
    this.record();
    this.options.onWorkers([this.observation]);
  }

  private record(): void {
    if (this.closed) return;
    this.observation = this.observe();
    this.load.add(this.observation.sampledAtMs, figuresOf(this.observation));
  }

  /** The tool may take seconds, or hang: what was read last stands until it answers. */
  private async readGpus(): Promise<void> {
    this.looking += 1;
    try {
      this.reading = await this.reader.read(this.options.attemptOf);
    } finally {
      this.looking -= 1;
      this.lookedAt = performance.now();
    }
    if (!this.closed) this.options.onReading(this.reading);
  }

  private async look(): Promise<void> {
    await this.readGpus();
    this.sample();
  }

  /** Where nothing follows the cards between looks they are looked at each time. */
  private tick(): void {
    if (this.looking > 0) return;
    const followed = this.reader.follow !== undefined && this.reading.gpus.length > 0;
    if (followed && this.looked && performance.now() - this.lookedAt < idleMs) this.sample();
    else void this.look();
  }

  private lookSoon(): void {
    if (this.closed || this.lookLater !== null) return;
    const waitMs = Math.max(0, this.lookedAt + betweenLooksMs - performance.now());
    this.lookLater = setTimeout(() => {
      this.lookLater = null;
      if (!this.closed) void this.look();
    }, waitMs).unref();
  }

  /** Told at once only when it matters for who gets a card. */
  private take(reading: GpuReading): void {
    const before = statesOf(this.reading);
    this.reading = reading;
    this.options.onReading(reading);
    if (statesOf(reading) !== before) this.sample();
    else if (!this.looked) this.record();
  }

  private observe(): WorkerObservation {
    const sample = this.sampler.sample();
    const { note } = this.reading;
    const others = this.options.others?.() ?? null;
    const gpus = others === null ? this.reading.gpus : withClaims(this.reading.gpus, others);
    return {
      id: this.options.workerId,
      state: 'HEALTHY',
      hostname: sample.hostname,
      cpuMillicores: sample.cpuCount * 1000,
      memoryBytes: sample.memoryTotalBytes,
      gpus,
      gpuNote: note,
      attributes: attributesOf(sample.hostname, gpus, this.reading.errorLog),
      platform: sample.platform,
      cpuModel: sample.cpuModel,
      cpuCount: sample.cpuCount,
      cpuBusyPercent: sample.cpuBusyPercent,
      memoryAvailableBytes: sample.memoryAvailableBytes,
      disks: sample.disks,
      diskRates: sample.diskRates,
      sampledAtMs: this.options.nowMs(),
      ...(others === null || (others.cpuMillicores === 0 && others.memoryBytes === 0)
        ? {}
        : { others: { cpuMillicores: others.cpuMillicores, memoryBytes: others.memoryBytes } }),
    };
  }
}

export function figuresOf(worker: WorkerObservation): LoadFigures {
  const figures: Record<string, number | null> = {
    'cpu-percent': worker.cpuBusyPercent,
    'memory-bytes': worker.memoryBytes - worker.memoryAvailableBytes,
  };
  // A machine that does not count them has no empty graph.
  if (worker.diskRates !== undefined && worker.diskRates !== null) {
    figures['disk-bytes:read'] = worker.diskRates.readBytesPerSecond;
    figures['disk-bytes:written'] = worker.diskRates.writtenBytesPerSecond;
  }
  for (const gpu of worker.gpus) {
    figures[`gpu-percent:${gpu.uuid}`] = gpu.utilizationPercent;
    figures[`gpu-memory-bytes:${gpu.uuid}`] = gpu.memoryUsedBytes;
    figures[`gpu-watts:${gpu.uuid}`] = gpu.powerWatts;
    figures[`gpu-celsius:${gpu.uuid}`] = gpu.temperatureCelsius;
  }
  return figures;
}

/** Who shares a card is placed by its memory: so large a part of it, used or free, is told at once. */
const memoryNews = 32;

export function statesOf({ gpus }: Pick<GpuReading, 'gpus'>): string {
  return gpus
    .map(({ uuid, state, memoryUsedBytes: used, memoryTotalBytes: total }) => {
      const filled = used === null || total === null ? '' : Math.round((used / total) * memoryNews);
      return `${uuid} ${state} ${filled}`;
    })
    .join();
}

/** A machine with cards takes jobs without any all the same: only what asks for a device type is held to it. */
export function attributesOf(
  hostname: string,
  gpus: readonly GpuView[],
  errorLog: GpuReading['errorLog'],
): WorkerObservation['attributes'] {
  const variants = [...new Set(gpus.map((gpu) => gpu.variant))].sort();
  return {
    hostname,
    preemptible: 'false',
    'device-type': gpus.length > 0 ? 'gpu' : 'cpu',
    ...(variants.length === 0 ? {} : { 'device-variant': variants.join(','), 'gpu-count': gpus.length }),
    ...(variants.length === 0 || errorLog === undefined ? {} : { 'gpu-error-log': errorLog }),
  };
}
