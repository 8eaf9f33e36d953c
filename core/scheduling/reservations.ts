/**
 * Reservation with backfill (EASY): who has waited long gets a concrete set of machines and a start that follows from known time
 * limits. There others are placed only when they end before that start, or when the holder may evict them.
 */
import { cardsLater } from './open-cards.js';
import type { Held } from './holdings.js';
import type { JobEntry } from './queue.js';
import type { Rules } from './rules.js';
import { isCandidate, type Shape } from './shape.js';
import type { Victims } from './victims.js';
import type { WorkerTable } from './worker-table.js';
import type { Working } from './working.js';

export interface Reserved {
  readonly jobId: string;
  readonly band: number;
  readonly workers: readonly number[];
  /** Tasks that shall start on each of them, and what one asks for. */
  readonly tasks: readonly number[];
  readonly shape: Shape;
  /** Infinity: something endless is in the way. */
  readonly startMs: number;
}

const endless = Number.POSITIVE_INFINITY;

/** What is endless on reserved machines may end at any moment: until then only work that leaves soon is let in beside it. */
const beforeUnknownMs = 60 * 60_000;

/** True when the job may start on that machine although it is reserved. */
export function mayBackfill(entry: JobEntry, band: number, reserved: Reserved, nowMs: number): boolean {
  const { id, limitMs } = entry.job;
  if (id === reserved.jobId || band > reserved.band) return true;
  if (limitMs === null) return false;
  return Number.isFinite(reserved.startMs) ? nowMs + limitMs <= reserved.startMs : limitMs <= beforeUnknownMs;
}

/**
 * True when a task of the shape asks for no card and would take nothing on that machine that the holder waits for: of processors and
 * memory there is enough for both now. Who waits for cards does not keep the rest from everybody, for days perhaps.
 */
export function leavesEnough(shape: Shape, worker: number, reserved: Reserved, working: Working): boolean {
  const { shape: holder } = reserved;
  const tasks = reserved.tasks[reserved.workers.indexOf(worker)] ?? 0;
  const enough = (asked: number, free: number, kept: number) => asked === 0 || free - asked >= tasks * kept;
  return (
    shape.gpus === 0 &&
    enough(shape.cpu, working.nowCpu(worker), holder.cpu) &&
    enough(shape.memory, working.nowMemory(worker), holder.memory)
  );
}

interface Best {
  readonly group: number;
  readonly starts: readonly Start[];
  readonly late: number;
  readonly missing: number;
  readonly kept: number;
}

interface Start {
  readonly worker: number;
  readonly ms: number;
}

/** When tasks of a shape could start on each machine, as far as it was asked for; it holds until something of the machine changes. */
interface KnownStarts {
  readonly table: WorkerTable;
  /** What `Working.touched` was; -1 for never. */
  readonly seen: Int32Array;
  /** Of the first, second, ... task; times that have passed mean now. */
  readonly times: (readonly number[])[];
}

/** Who waits long asks again and again with every pass: so many of them are remembered. */
const maxKnown = 24;

export class Reservations {
  private readonly known = new Map<string, KnownStarts>();
  private readonly members: Held[] = [];
  private readonly ends: number[] = [];
  private minRunMs = 0;

  constructor(
    private readonly working: Working,
    private readonly victims: Victims,
  ) {}

  start(rules: Rules): void {
    if (rules.minRunMs !== this.minRunMs) this.known.clear();
    this.minRunMs = rules.minRunMs;
  }

  /** The machines where the job could start first; null when it never could. `before` is what it had, kept when nothing is better. */
  reserve(
    entry: JobEntry,
    band: number,
    size: number,
    nowMs: number,
    before: readonly string[],
  ): Reserved | null {
    const { working } = this;
    const { shape, job } = entry;
    const { table } = working;
    const had = new Set(before.map((id) => table.positions.get(id) ?? -1));
    const groups = table.groups(shape.gangBy ?? 'worker');
    const known = this.startsFor(shape, band, size);
    let best: Best | null = null;
    for (let group = 0; group < groups.members.length; group += 1) {
      // What starts later than the best so far is of no use.
      const lastMs = best?.late ?? endless;
      let inTime = 0;
      for (const worker of groups.members[group] ?? []) {
        if ((working.reserved[worker] ?? 0) > 0 || !isCandidate(shape, worker)) continue;
        for (const ms of this.startsOn(shape, worker, band, size, known, nowMs)) {
          if (ms > lastMs) break;
          inTime += 1;
        }
      }
      if (inTime < size) continue;
      const starts: Start[] = [];
      for (const worker of groups.members[group] ?? []) {
        if ((working.reserved[worker] ?? 0) > 0 || !isCandidate(shape, worker)) continue;
        for (const ms of known.times[worker] ?? []) starts.push({ worker, ms: Math.max(nowMs, ms) });
      }
      starts.sort((left, right) => compareTimes(left.ms, right.ms) || left.worker - right.worker);
      starts.length = size;
      const late = starts.at(-1)?.ms ?? endless;
      const missing = starts.filter(({ ms }) => ms === endless).length;
      const kept = starts.filter(({ worker }) => had.has(worker)).length;
      const made = { group, starts, late, missing, kept };
      if (best === null || compareBest(made, best) < 0) best = made;
    }
    if (best === null) return null;
    const tasks = new Map<number, number>();
    for (const { worker } of best.starts) tasks.set(worker, (tasks.get(worker) ?? 0) + 1);
    const workers = [...tasks.keys()].sort((left, right) => left - right);
    const counts = workers.map((worker) => tasks.get(worker) ?? 0);
    return { jobId: job.id, band, workers, tasks: counts, shape, startMs: best.late };
  }

  private startsFor(shape: Shape, band: number, size: number): KnownStarts {
    const { table } = this.working;
    const key = `${band} ${size} ${shape.key}`;
    let known = this.known.get(key);
    if (known?.table !== table) {
      if (this.known.size >= maxKnown) this.known.clear();
      known = { table, seen: new Int32Array(table.count).fill(-1), times: [] };
      this.known.set(key, known);
    }
    return known;
  }

  /** When the first, second, ... task of the shape could start on the machine as what it holds ends; at most `most` of them. */
  private startsOn(
    shape: Shape,
    worker: number,
    band: number,
    most: number,
    known: KnownStarts,
    nowMs: number,
  ): readonly number[] {
    const touched = this.working.touched[worker] ?? 0;
    const before = known.times[worker];
    if (before !== undefined && known.seen[worker] === touched) return before;
    const { working } = this;
    const { table } = working;
    let cpu = working.laterCpu[worker] ?? 0;
    let memory = working.laterMemory[worker] ?? 0;
    let cards = cardsLater(working, shape, worker);
    const leaving = new Map<number, number>();
    const times: number[] = [];
    // The end of what has not started moves on with the time.
    const fixed = this.collect(worker, band, nowMs);
    for (let at = -1; at < this.members.length && times.length < most; at += 1) {
      const member = this.members[at];
      if (member !== undefined) {
        cpu += member.attempt.cpuMillicores;
        memory += member.attempt.memoryBytes;
        for (const device of member.devices) {
          leaving.set(device, (leaving.get(device) ?? 0) + 1);
          if (leaving.get(device) !== working.shared.staying[device]) continue;
          if (table.deviceOk[device] === 1 && (shape.row === 0 || table.deviceRow[device] === shape.row))
            cards += 1;
        }
      }
      while (times.length < most && cpu >= shape.cpu && memory >= shape.memory && cards >= shape.gpus) {
        cpu -= shape.cpu;
        memory -= shape.memory;
        cards -= shape.gpus;
        times.push(this.ends[at] ?? 0);
      }
    }
    known.seen[worker] = fixed ? touched : -1;
    known.times[worker] = times;
    return times;
  }

  /** What the machine holds, by the time it ends or may be evicted. False when some of it has not started. */
  private collect(worker: number, band: number, nowMs: number): boolean {
    const { members, ends, victims } = this;
    members.length = 0;
    ends.length = 0;
    let fixed = true;
    for (const victim of victims.anyOn(worker)) {
      const evictableMs = victims.evictableFromMs(victim, band);
      for (const member of victim.members) {
        const { startedAtMs, limitMs } = member.attempt;
        if (startedAtMs === null) fixed = false;
        if (member.worker !== worker) continue;
        const endMs = limitMs === null ? endless : (startedAtMs ?? nowMs) + limitMs;
        const ms = Math.max(0, Math.min(endMs, evictableMs));
        // They are few: put in at its place.
        let at = ends.length;
        for (; at > 0 && (ends[at - 1] ?? 0) > ms; at -= 1) {
          ends[at] = ends[at - 1] ?? 0;
          const moved = members[at - 1];
          if (moved !== undefined) members[at] = moved;
        }
        ends[at] = ms;
        members[at] = member;
      }
    }
    return fixed;
  }
}

/** Earlier first, then less that never ends in the way, then more machines kept, then the first group. */
function compareBest(left: Best, right: Best): number {
  return (
    compareTimes(left.late, right.late) ||
    left.missing - right.missing ||
    right.kept - left.kept ||
    left.group - right.group
  );
}

function compareTimes(left: number, right: number): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
