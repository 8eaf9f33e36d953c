/** A reader of the cards that a stand-in nvidia-smi tells of. */
import type { GpuView } from '../../core/contract/gpus.js';
import { createGpuReader, type GpuReader, type GpuReaderOptions } from '../../main/machine/gpus.js';
import { KernelLog } from '../../main/machine/kernel-log.js';
import type { NvidiaStub } from './nvidia-stub.js';

/** Without a kernel log: the real one may tell of errors of real cards. */
export function readerOf(stub: NvidiaStub, options: Partial<GpuReaderOptions> = {}): GpuReader {
  return createGpuReader({
    nowMs: () => Date.now(),
    command: stub.command,
    kernelLog: new KernelLog('/nowhere'),
    ...options,
  });
}

/** The one card there is; nobody holds it. */
export async function onlyCard(reader: GpuReader): Promise<GpuView> {
  const { gpus } = await reader.read(() => null);
  const [gpu, ...more] = gpus;
  if (gpu === undefined || more.length > 0) throw new Error(`${gpus.length} cards`);
  return gpu;
}
