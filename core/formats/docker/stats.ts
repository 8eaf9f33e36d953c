/** One sample of a container's use, from the Engine's statistics. What the Engine leaves out is unknown, not zero. */
import { z } from 'zod';
import { parseSize } from '../sizes.js';

const number = z.number().optional().catch(undefined);
const cpuSchema = z
  .object({
    cpu_usage: z.object({ total_usage: number }).optional().catch(undefined),
    system_cpu_usage: number,
    online_cpus: number,
  })
  .optional()
  .catch(undefined);
const blockSchema = z
  .array(z.object({ op: z.string().catch(''), value: number }))
  .nullish()
  .catch(undefined);
const statsSchema = z.object({
  cpu_stats: cpuSchema,
  precpu_stats: cpuSchema,
  memory_stats: z
    .object({
      usage: number,
      max_usage: number,
      limit: number,
      privateworkingset: number,
      stats: z.record(z.string(), z.number()).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  blkio_stats: z.object({ io_service_bytes_recursive: blockSchema }).optional().catch(undefined),
});

export interface ContainerSample {
  readonly memoryBytes: number | null;
  /** Highest so far; null where the system does not keep it. */
  readonly peakMemoryBytes: number | null;
  readonly memoryLimitBytes: number | null;
  /** Of one core, since the sample before; null in the first one. */
  readonly cpuPercent: number | null;
  /** Since its start. */
  readonly cpuSeconds: number | null;
  readonly readBytes: number | null;
  readonly writtenBytes: number | null;
}

/** Null: the container is stopped, there is no sample. */
export function readStats(value: unknown): ContainerSample | null {
  const parsed = statsSchema.safeParse(value);
  if (!parsed.success || parsed.data.cpu_stats === undefined) return null;
  const { memory_stats: memory, blkio_stats: blocks } = parsed.data;
  const operations = blocks?.io_service_bytes_recursive ?? null;
  // An operation without a value has done nothing yet.
  const bytesOf = (wanted: string) =>
    operations === null
      ? null
      : operations.reduce(
          (sum, { op, value: bytes }) => sum + (op.toLowerCase() === wanted ? (bytes ?? 0) : 0),
          0,
        );
  return {
    memoryBytes: usedMemory(memory),
    peakMemoryBytes: memory?.max_usage ?? null,
    memoryLimitBytes: memory?.limit ?? null,
    cpuPercent: cpuPercent(parsed.data),
    cpuSeconds: nanosToSeconds(parsed.data.cpu_stats.cpu_usage?.total_usage),
    readBytes: bytesOf('read'),
    writtenBytes: bytesOf('write'),
  };
}

const nanosToSeconds = (nanos: number | undefined): number | null =>
  nanos === undefined ? null : nanos / 1e9;

/** Without the files the system could drop at once, as `docker stats` has it. */
function usedMemory(memory: z.infer<typeof statsSchema>['memory_stats']): number | null {
  if (memory?.privateworkingset !== undefined) return memory.privateworkingset;
  if (memory?.usage === undefined) return null;
  const files = memory.stats?.['total_inactive_file'] ?? memory.stats?.['inactive_file'] ?? 0;
  return Math.max(0, memory.usage - files);
}

function cpuPercent({ cpu_stats: now, precpu_stats: before }: z.infer<typeof statsSchema>): number | null {
  const total = now?.cpu_usage?.total_usage;
  const totalBefore = before?.cpu_usage?.total_usage;
  const system = now?.system_cpu_usage;
  const systemBefore = before?.system_cpu_usage;
  if (total === undefined || totalBefore === undefined || system === undefined || systemBefore === undefined)
    return null;
  if (system <= systemBefore || systemBefore === 0) return null;
  const cores = now?.online_cpus ?? 1;
  return (Math.max(0, total - totalBefore) / (system - systemBefore)) * cores * 100;
}

export interface StatsRow {
  readonly id: string;
  readonly name: string;
  readonly cpuPercent: number | null;
  readonly memoryBytes: number | null;
  readonly memoryLimitBytes: number | null;
  readonly receivedBytes: number | null;
  readonly sentBytes: number | null;
}

/** The table of `docker stats --format` as CSV. Its header may lack the name's column, so cells go by their place. */
export function readStatsTable(text: string): StatsRow[] {
  const [, ...rows] = text.split('\n').filter((row) => row.trim() !== '');
  return rows.map((row) => {
    const [id = '', name = '', cpu = '', memory = '', network = ''] = row.split(',');
    const [used, limit] = pair(memory);
    const [received, sent] = pair(network);
    const percent = /^([\d.]+)%$/.exec(cpu.trim())?.[1];
    return {
      id,
      name,
      cpuPercent: percent === undefined ? null : Number(percent),
      memoryBytes: used,
      memoryLimitBytes: limit,
      receivedBytes: received,
      sentBytes: sent,
    };
  });
}

/** `18.68MiB / 300MiB`: MiB is 2^20, MB 10^6. */
function pair(text: string): [number | null, number | null] {
  const [first = '', second = ''] = text.split('/');
  // `parseSize` takes whole bytes; the table rounds to hundredths of its unit.
  return [parseSize(first) ?? null, parseSize(second) ?? null];
}
