/**
 * Reservation with backfill (EASY): who has waited long gets a concrete set of machines and a start that follows from known time
 * limits. There others are placed only when they end before that start, or when the holder may evict them.
 */
import type { Held } from './holdings.js';
import type { JobEntry } from './queue.js';
import { isCandidate, type Shape } from './shape.js';
import type { Victims } from './victims.js';
import type { Working } from './working.js';

export interface Reserved {
  readonly jobId: string;
  readonly band: number;
  readonly workers: readonly number[];
  /** Infinity: something endless is in the way. */
  readonly startMs: number;
}

const endless = Number.POSITIVE_INFINITY;

/** True when the job may start on that machine although it is reserved. */
export function mayBackfill(entry: JobEntry, band: number, reserved: Reserved, nowMs: number): boolean {
  const { id, limitMs } = entry.job;
  if (id === reserved.jobId || band > reserved.band) return true;
  return limitMs !== null && nowMs + limitMs <= reserved.startMs;
}

/** The machines where the job could start first; null when it never could. `before` is what it had, kept when nothing is better. */
export function reserve(
  entry: JobEntry,
  band: number,
  size: number,
  context: {
    readonly working: Working;
    readonly victims: Victims;
    readonly nowMs: number;
    readonly before: readonly string[];
  },
): Reserved | null {
  const { working, before } = context;
  const { shape, job } = entry;
  const { table } = working;
  const had = new Set(before.map((id) => table.positions.get(id) ?? -1));
  const groups = table.groups(shape.gangBy ?? 'worker');
  let best: { starts: readonly Start[]; late: number; missing: number; kept: number } | null = null;
  for (const members of groups.members) {
    const starts: Start[] = [];
    for (const worker of members) {
      if (!isCandidate(shape, worker) || (working.reserved[worker] ?? 0) > 0) continue;
      startsOn(shape, worker, band, size, context, starts);
    }
    if (starts.length < size) continue;
    starts.sort((left, right) => compareTimes(left.ms, right.ms) || left.worker - right.worker);
    const first = starts.slice(0, size);
    const late = first.at(-1)?.ms ?? endless;
    const missing = first.filter(({ ms }) => ms === endless).length;
    const kept = first.filter(({ worker }) => had.has(worker)).length;
    const better =
      best === null ||
      compareTimes(late, best.late) < 0 ||
      (late === best.late && (missing < best.missing || (missing === best.missing && kept > best.kept)));
    if (better) best = { starts: first, late, missing, kept };
  }
  if (best === null) return null;
  const workers = [...new Set(best.starts.map(({ worker }) => worker))].sort((left, right) => left - right);
  return { jobId: job.id, band, workers, startMs: best.late };
}

interface Start {
  readonly worker: number;
  readonly ms: number;
}

function compareTimes(left: number, right: number): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

/** When the first, second, ... task of the shape could start on the machine as what it holds ends. */
function startsOn(
  shape: Shape,
  worker: number,
  band: number,
  most: number,
  context: { readonly working: Working; readonly victims: Victims; readonly nowMs: number },
  into: Start[],
): void {
  const { working, victims, nowMs } = context;
  const { table } = working;
  let cpu = working.laterCpu[worker] ?? 0;
  let memory = working.laterMemory[worker] ?? 0;
  let cards = working.laterCards[shape.row * table.count + worker] ?? 0;
  const ends: { readonly member: Held; readonly ms: number }[] = [];
  for (const victim of victims.anyOn(worker)) {
    const evictable = victims.evictableFromMs(victim, band);
    for (const member of victim.members) {
      if (member.worker !== worker) continue;
      const { startedAtMs, limitMs } = member.attempt;
      const end = limitMs === null ? endless : (startedAtMs ?? nowMs) + limitMs;
      ends.push({ member, ms: Math.max(nowMs, Math.min(end, evictable)) });
    }
  }
  ends.sort((left, right) => compareTimes(left.ms, right.ms));
  let given = 0;
  const give = (ms: number) => {
    while (given < most && cpu >= shape.cpu && memory >= shape.memory && cards >= shape.gpus) {
      cpu -= shape.cpu;
      memory -= shape.memory;
      cards -= shape.gpus;
      given += 1;
      into.push({ worker, ms });
    }
  };
  give(nowMs);
  for (const { member, ms } of ends) {
    cpu += member.attempt.cpuMillicores;
    memory += member.attempt.memoryBytes;
    for (const at of member.devices) {
      if (table.deviceOk[at] === 1 && (shape.row === 0 || table.deviceRow[at] === shape.row)) cards += 1;
    }
    give(ms);
  }
}
