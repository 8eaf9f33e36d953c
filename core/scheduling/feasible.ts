/** Whether any machine could ever run a job, from what machines have in all; and what it would take. */
import type { FieldError } from '../contract/errors.js';
import type { JobSpec } from '../contract/job-request.js';
import { formatSize } from '../formats/sizes.js';
import { resolveGpuRequest, type GpuCard } from './gpu-models.js';
import { couldHold, marginOf } from './sharing.js';

export interface WorkerTotals {
  readonly id: string;
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly gpus: readonly GpuCard[];
  /** Why there are no GPUs, or what is wrong with reading them; null when all is well. */
  readonly gpuNote: string | null;
}

const mostNotes = 3;

type Asked = Pick<JobSpec, 'cpuMillicores' | 'memoryBytes' | 'gpuCount' | 'gpuVariant'> & {
  /** Of each of its cards, which it shares; null or absent: it has them alone. */
  readonly sharedGpuBytes?: number | null;
  /** The machine it names; null or absent for any. */
  readonly machine?: string | null;
};

export function formatCores(millicores: number): string {
  const cores = millicores / 1000;
  return `${cores} CPU ${cores === 1 ? 'core' : 'cores'}`;
}

export function formatGpus(count: number, variant: string | null): string {
  return `${count} ${variant === null ? '' : `${variant} `}${count === 1 ? 'GPU' : 'GPUs'}`;
}

/** The request with its GPU model in the machines' own words; as it was when that is not clear. */
export function resolveGpu(spec: JobSpec, workers: readonly WorkerTotals[]): JobSpec {
  const resolution = resolveGpuRequest(spec, variantsOf(workers));
  if (resolution.kind !== 'resolved') return spec;
  if (resolution.count === spec.gpuCount && resolution.variant === spec.gpuVariant) return spec;
  return { ...spec, gpuCount: resolution.count, gpuVariant: resolution.variant };
}

function variantsOf(workers: readonly WorkerTotals[]): string[] {
  return workers.flatMap((worker) => worker.gpus.map((gpu) => gpu.variant));
}

/** `shared`: only those on which a task that shares them and uses so much could be the first. */
function cardCount(worker: WorkerTotals, variant: string | null, shared = 0): number {
  return worker.gpus.filter(
    (gpu) => (variant === null || gpu.variant === variant) && (shared === 0 || couldHold(gpu.memory, shared)),
  ).length;
}

/** What a machine that was never reached has, nobody knows. */
function isUnknown(worker: WorkerTotals): boolean {
  return worker.cpuMillicores === 0 && worker.memoryBytes === 0;
}

/** True when an empty machine could hold one task, as far as it is known. `asked` has its GPU model resolved. */
export function fitsTotals(asked: Asked, worker: WorkerTotals): boolean {
  if (isUnknown(worker)) return true;
  const shared = asked.sharedGpuBytes ?? null;
  return (
    asked.cpuMillicores <= worker.cpuMillicores &&
    asked.memoryBytes <= worker.memoryBytes &&
    asked.gpuCount <= cardCount(worker, asked.gpuVariant) &&
    (shared === null || asked.gpuCount <= cardCount(worker, asked.gpuVariant, shared))
  );
}

/** Its GPU model may mean more than one of those there are: that is to be said better, not waited for. */
export function isGpuAmbiguous(spec: Asked, workers: readonly WorkerTotals[]): boolean {
  return resolveGpuRequest(spec, variantsOf(workers)).kind === 'ambiguous';
}

/**
 * What of a request no machine has: `value` as asked, `expected` what there is. Empty when one machine could hold a task, and while
 * no machine is known.
 */
export function infeasibleFields(spec: Asked, all: readonly WorkerTotals[]): FieldError[] {
  if (all.length === 0) return [];
  const { machine = null } = spec;
  const workers = machine === null ? all : all.filter(({ id }) => id.toLowerCase() === machine.toLowerCase());
  if (workers.length === 0) {
    const expected = `one of ${all.map(({ id }) => id).join(', ')}`;
    return [{ field: 'machine', value: machine ?? '', expected }];
  }
  const resolution = resolveGpuRequest(spec, variantsOf(workers));
  const asked: Asked =
    resolution.kind === 'resolved'
      ? { ...spec, gpuCount: resolution.count, gpuVariant: resolution.variant }
      : spec;
  if (workers.some(isUnknown)) return [];
  if (resolution.kind === 'resolved' && workers.some((worker) => fitsTotals(asked, worker))) return [];
  const fields: FieldError[] = [];
  const cpu = Math.max(...workers.map((worker) => worker.cpuMillicores));
  const memory = Math.max(...workers.map((worker) => worker.memoryBytes));
  const cards = Math.max(...workers.map((worker) => cardCount(worker, asked.gpuVariant)));
  const where =
    machine !== null ? `on ${machine}` : workers.length === 1 ? 'on this machine' : 'on the largest machine';
  if (asked.cpuMillicores > cpu) {
    fields.push({
      field: 'cpu',
      value: formatCores(asked.cpuMillicores),
      expected: `${formatCores(cpu)} ${where}`,
    });
  }
  if (asked.memoryBytes > memory) {
    fields.push({
      field: 'memory',
      value: formatSize(asked.memoryBytes),
      expected: `${formatSize(memory)} ${where}`,
    });
  }
  if (resolution.kind === 'ambiguous') {
    const expected = `more than one model by that name: ${resolution.matches.join(', ')}`;
    fields.push({ field: 'gpu', value: resolution.asked, expected });
  } else if (resolution.kind === 'unknown' || asked.gpuCount > cards) {
    fields.push({
      field: 'gpu',
      value: formatGpus(asked.gpuCount, asked.gpuVariant),
      expected: describeCards(workers),
    });
  }
  const shared = asked.sharedGpuBytes ?? null;
  if (fields.length === 0 && shared !== null) {
    const most = Math.max(...workers.map((worker) => mostShared(worker, asked.gpuVariant, asked.gpuCount)));
    const expected = `at most ${formatSize(Math.max(0, most))} on a GPU ${where} that is shared, as some of its memory stays free`;
    if (shared > most) fields.push({ field: 'gpuMemory', value: formatSize(shared), expected });
  }
  if (fields.length > 0) return fields;
  const value = [
    formatCores(asked.cpuMillicores),
    formatSize(asked.memoryBytes),
    ...(asked.gpuCount > 0 ? [formatGpus(asked.gpuCount, asked.gpuVariant)] : []),
  ].join(', ');
  return [
    {
      field: 'cpu',
      value,
      expected: `no machine that has all of it: ${workers.map(describeWorker).join('; ')}`,
    },
  ];
}

/** What a task may use of each of so many cards of the machine when it is the first of those that share them. */
function mostShared(worker: WorkerTotals, variant: string | null, count: number): number {
  const rooms = worker.gpus
    .filter((gpu) => variant === null || gpu.variant === variant)
    .map(({ memory }) =>
      memory === undefined || memory === null
        ? Number.POSITIVE_INFINITY
        : memory.totalBytes - marginOf(memory.totalBytes),
    )
    .sort((left, right) => right - left);
  return rooms[count - 1] ?? 0;
}

/** The GPUs there are, by machine when there are several: `1 h100, 2 rtx-4090 GPUs`. */
export function describeCards(workers: readonly WorkerTotals[]): string {
  const counts = new Map<string, number>();
  for (const variant of variantsOf(workers)) counts.set(variant, (counts.get(variant) ?? 0) + 1);
  if (counts.size === 0) {
    const note = notesOf(workers);
    return note === null ? 'no GPU' : `no GPU: ${note}`;
  }
  const shown = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([variant, count]) => `${count} ${variant}`);
  return workers.length === 1
    ? shown.join(', ')
    : `${shown.join(', ')} on ${workers.length} machines together`;
}

/** Why machines have no cards; where they differ each reason with the first machine that has it. Null: none says why. */
function notesOf(workers: readonly WorkerTotals[]): string | null {
  const first = new Map<string, string>();
  for (const { id, gpuNote } of workers) if (gpuNote !== null && !first.has(gpuNote)) first.set(gpuNote, id);
  if (first.size === 0) return null;
  const [only = ''] = first.keys();
  if (first.size === 1) return only;
  const shown = [...first].slice(0, mostNotes).map(([note, id]) => `on ${id} ${note}`);
  return `${shown.join('; ')}${first.size > mostNotes ? '; others have other reasons' : ''}`;
}

/** `ws-1 has 16 CPU cores, 64 GiB, 2 rtx-4090`. */
export function describeWorker(worker: WorkerTotals): string {
  const gpus = worker.gpus.length === 0 ? 'no GPU' : describeCards([worker]);
  return `${worker.id} has ${formatCores(worker.cpuMillicores)}, ${formatSize(worker.memoryBytes)}, ${gpus}`;
}
