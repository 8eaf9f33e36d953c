/** A machine as the scheduler sees it, and what a task needs of one. */
import type { JobSpec } from '../contract/job-request.js';
import type { Attributes, Taint } from './constraints.js';
import type { WorkerTotals } from './feasible.js';
import type { GpuCard } from './gpu-models.js';

export interface SchedulingGpu extends GpuCard {
  /** False: it is given to nobody, as it answers no questions or is kept from jobs. */
  readonly usable: boolean;
  /** It answers, but is kept from jobs. */
  readonly kept?: boolean;
  /** Processes of others are on it. */
  readonly busyByOthers: boolean;
  /** Who these are, where that is known. */
  readonly usedBy?: readonly string[];
  /** Memory node it hangs on; null or absent where the machine does not say. */
  readonly numaNode?: number | null;
  /** Cards joined by a fast link of their own (NVLink) share a number. */
  readonly linkGroup?: number | null;
  /** Tasks that may share it; absent: the default. */
  readonly maxSharers?: number;
}

export interface SchedulingWorker extends WorkerTotals {
  readonly healthy: boolean;
  readonly gpus: readonly SchedulingGpu[];
  readonly attributes: Attributes;
  /** What attempts of other controllers on that machine have of it; absent: nothing. */
  readonly others?: { readonly cpuMillicores: number; readonly memoryBytes: number };
  /** Starts it makes at the same time; null or absent where that has no limit. */
  readonly buildSlots?: number | null;
  /** Why it takes nothing new, as a clause (`ws-2 is cordoned`); null or absent where `healthy` says all there is to say. */
  readonly closed?: string | null;
  /** Why no container is started on it, as a clause (`ws-2 has no Docker`); null or absent: they are. */
  readonly noContainers?: string | null;
  /** Only tasks that tolerate each of them are placed. */
  readonly taints?: readonly Taint[];
}

export type Need = Pick<JobSpec, 'cpuMillicores' | 'memoryBytes' | 'gpuCount' | 'gpuVariant'>;
