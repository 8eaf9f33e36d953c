/** Samples this machine: about every two seconds while somebody looks, else rarely. */
import os from 'node:os';
import type { GpuView } from '../../../core/contract/views.js';
import type { JobSpec } from '../../../core/contract/job-request.js';
import { formatSize } from '../../../core/formats/sizes.js';
import type { WorkerObservation } from '../backend.js';
import { noTool, type GpuReading } from '../../machine/gpus.js';
import { MachineSampler } from '../../machine/machine.js';

export interface WorkerWatchOptions {
  readonly workerId: string;
  readonly attemptsFolder: string;
  readonly nowMs: () => number;
  readonly onWorkers: (workers: readonly WorkerObservation[]) => void;
}

const lookedAtMs = 2000;
const idleMs = 60_000;

export class WorkerWatch {
  private readonly sampler: MachineSampler;
  private observation: WorkerObservation;
  private reading: GpuReading = noTool;
  private timer: NodeJS.Timeout | null = null;
  private looked = false;
  private closed = false;

  constructor(private readonly options: WorkerWatchOptions) {
    this.sampler = new MachineSampler([
      { path: options.attemptsFolder, purpose: 'logs and working folders of jobs' },
      { path: os.homedir(), purpose: 'home folder' },
      { path: '/', purpose: 'system' },
    ]);
    this.observation = this.observe();
  }

  start(): Promise<void> {
    this.schedule();
    this.sample();
    return Promise.resolve();
  }

  last(): readonly WorkerObservation[] {
    return [this.observation];
  }

  gpus(): readonly GpuView[] {
    return this.reading.gpus;
  }

  watch(on: boolean): void {
    if (this.looked === on) return;
    this.looked = on;
    if (on) this.sample();
    this.schedule();
  }

  close(): void {
    this.closed = true;
    if (this.timer !== null) clearInterval(this.timer);
  }

  /** Null, or one sentence with what was asked for and what there is. */
  feasible(spec: JobSpec): string | null {
    const { cpuMillicores, memoryBytes, gpus, hostname, gpuNote } = this.observation;
    if (spec.cpuMillicores > cpuMillicores) {
      return `cpu: ${spec.cpuMillicores / 1000} cores are asked for; ${hostname} has ${cpuMillicores / 1000}.`;
    }
    if (spec.memoryBytes > memoryBytes) {
      return `memory: ${formatSize(spec.memoryBytes)} are asked for; ${hostname} has ${formatSize(memoryBytes)}.`;
    }
    if (spec.gpuCount === 0) return null;
    const fitting = spec.gpuVariant === null ? gpus : gpus.filter((gpu) => gpu.variant === spec.gpuVariant);
    if (spec.gpuCount <= fitting.length) return null;
    const there = gpus.length === 0 ? (gpuNote ?? 'none') : gpus.map((gpu) => gpu.variant).join(', ');
    return `gpu: ${spec.gpuCount}${spec.gpuVariant === null ? '' : ` of ${spec.gpuVariant}`} are asked for; ${hostname} has: ${there}.`;
  }

  private schedule(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = this.closed ? null : setInterval(() => this.sample(), this.looked ? lookedAtMs : idleMs);
    this.timer?.unref();
  }

  private sample(): void {
    if (this.closed) return;
    this.observation = this.observe();
    this.options.onWorkers([this.observation]);
  }

  private observe(): WorkerObservation {
    const sample = this.sampler.sample();
    const { gpus, note } = this.reading;
    return {
      id: this.options.workerId,
      state: 'HEALTHY',
      hostname: sample.hostname,
      cpuMillicores: sample.cpuCount * 1000,
      memoryBytes: sample.memoryTotalBytes,
      gpus,
      gpuNote: note,
      attributes: attributesOf(sample.hostname, gpus),
      platform: sample.platform,
      cpuModel: sample.cpuModel,
      cpuCount: sample.cpuCount,
      cpuBusyPercent: sample.cpuBusyPercent,
      memoryAvailableBytes: sample.memoryAvailableBytes,
      disks: sample.disks,
      sampledAtMs: this.options.nowMs(),
    };
  }
}

/** A machine with cards takes jobs without any all the same: only what asks for a device type is held to it. */
function attributesOf(hostname: string, gpus: readonly GpuView[]): WorkerObservation['attributes'] {
  const variants = [...new Set(gpus.map((gpu) => gpu.variant))].sort();
  return {
    hostname,
    preemptible: 'false',
    'device-type': gpus.length > 0 ? 'gpu' : 'cpu',
    ...(variants.length === 0 ? {} : { 'device-variant': variants.join(','), 'gpu-count': gpus.length }),
  };
}
