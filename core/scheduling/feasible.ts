/** Whether any worker could ever run a job, empty as it may be: the answer names each field that asks too much. */
import type { FieldError } from '../contract/errors.js';
import type { JobSpec } from '../contract/job-request.js';
import { formatSize } from '../formats/sizes.js';

/** What a worker has in all. */
export interface WorkerTotals {
  readonly id: string;
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly gpus: readonly { readonly variant: string }[];
  /** Why it has no GPUs, or what is wrong with reading them. */
  readonly gpuNote: string | null;
}

/**
 * A bare number above this is first tried as a model name (`4090`), since nobody asks for 4090 cards; the same bound as the
 * number of cards the largest common machine has.
 */
const largestCount = 16;

/** Replaces a number that names a model, and a unique shorter form, by the variant the cluster has. */
export function resolveGpu(spec: JobSpec, workers: readonly WorkerTotals[]): JobSpec {
  const variants = [...new Set(workers.flatMap((worker) => worker.gpus.map((gpu) => gpu.variant)))].sort();
  if (spec.gpuVariant === null && spec.gpuCount > largestCount) {
    const named = uniqueMatch(String(spec.gpuCount), variants);
    return named === null ? spec : { ...spec, gpuCount: 1, gpuVariant: named };
  }
  if (spec.gpuVariant === null || spec.gpuVariant === 'auto') return { ...spec, gpuVariant: null };
  const named = uniqueMatch(spec.gpuVariant, variants);
  return named === null ? spec : { ...spec, gpuVariant: named };
}

function uniqueMatch(text: string, variants: readonly string[]): string | null {
  const wanted = text.toLowerCase().replaceAll(/[ _]/g, '-');
  if (variants.includes(wanted)) return wanted;
  const matches = variants.filter((variant) => variant.split('-').includes(wanted) || variant.startsWith(`${wanted}-`));
  return matches.length === 1 ? (matches[0] ?? null) : null;
}

/** Fields that no worker can meet; empty when some worker could run one task. Without workers nothing can be said: empty. */
export function infeasibleFields(spec: JobSpec, workers: readonly WorkerTotals[]): FieldError[] {
  if (workers.length === 0) return [];
  const fields: FieldError[] = [];
  const largestCpu = Math.max(...workers.map((worker) => worker.cpuMillicores));
  if (spec.cpuMillicores > largestCpu) {
    fields.push({
      field: 'cpu',
      value: String(spec.cpuMillicores / 1000),
      expected: `at most ${largestCpu / 1000} cores, which the largest machine has`,
    });
  }
  const largestMemory = Math.max(...workers.map((worker) => worker.memoryBytes));
  if (spec.memoryBytes > largestMemory) {
    fields.push({
      field: 'memory',
      value: formatSize(spec.memoryBytes),
      expected: `at most ${formatSize(largestMemory)}, which the largest machine has`,
    });
  }
  const gpu = infeasibleGpu(spec, workers);
  if (gpu !== null) fields.push(gpu);
  if (fields.length === 0 && !workers.some((worker) => holds(spec, worker))) {
    fields.push({
      field: 'cpu',
      value: `${spec.cpuMillicores / 1000} cores, ${formatSize(spec.memoryBytes)} and ${spec.gpuCount} GPUs together`,
      expected: `what one machine has: ${workers.map(describe).join('; ')}`,
    });
  }
  return fields;
}

function infeasibleGpu(spec: JobSpec, workers: readonly WorkerTotals[]): FieldError | null {
  if (spec.gpuCount === 0) return null;
  const value = spec.gpuVariant === null ? String(spec.gpuCount) : `${spec.gpuVariant}x${spec.gpuCount}`;
  const all = workers.flatMap((worker) => worker.gpus);
  if (all.length === 0) {
    const note = workers.find((worker) => worker.gpuNote !== null)?.gpuNote;
    return { field: 'gpu', value, expected: `no GPU: this cluster has none${note == null ? '' : ` (${note})`}` };
  }
  const most = Math.max(...workers.map((worker) => matching(spec, worker)));
  if (most >= spec.gpuCount) return null;
  const cards = new Map<string, number>();
  for (const card of all) cards.set(card.variant, (cards.get(card.variant) ?? 0) + 1);
  const list = [...cards].map(([variant, count]) => `${count} ${variant}`).join(', ');
  return { field: 'gpu', value, expected: `at most what one machine has; the cards there are: ${list}` };
}

function matching(spec: JobSpec, worker: WorkerTotals): number {
  return worker.gpus.filter((gpu) => spec.gpuVariant === null || gpu.variant === spec.gpuVariant).length;
}

function holds(spec: JobSpec, worker: WorkerTotals): boolean {
  return (
    spec.cpuMillicores <= worker.cpuMillicores &&
    spec.memoryBytes <= worker.memoryBytes &&
    matching(spec, worker) >= spec.gpuCount
  );
}

function describe(worker: WorkerTotals): string {
  return `${worker.id} has ${worker.cpuMillicores / 1000} cores, ${formatSize(worker.memoryBytes)}, ${worker.gpus.length} GPUs`;
}
