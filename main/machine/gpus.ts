/** The graphics cards of this machine, through nvidia-smi. */
import type { GpuView } from '../../core/contract/views.js';

export interface GpuReading {
  readonly gpus: readonly GpuView[];
  /** Why there are none, or what is wrong with reading them. */
  readonly note: string | null;
}

export const noTool: GpuReading = { gpus: [], note: 'No GPUs: nvidia-smi is not installed on this machine.' };
