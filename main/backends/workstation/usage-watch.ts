/**
 * Measures what attempts use: processor time and memory by looks at the processes of their sessions, cards by what is read of them
 * anyway. Told with the attempt's end and at most once a minute, so that it is written as seldom; attempts that are over within a
 * second are not measured and cost nothing.
 */
import type { GpuView } from '../../../core/contract/gpus.js';
import type { AttemptUsage } from '../../../core/contract/usage.js';
import type { GroupFigures } from '../../../core/formats/docker/group-usage.js';
import type { AttemptEntry } from './process/attempt-entry.js';
import { usageOfSessions, type DiskUse } from './process-usage.js';

export interface UsageWatchOptions {
  readonly monotonicMs: () => number;
  /** A minute has passed: what was measured is told. */
  readonly tell: (entry: AttemptEntry) => void;
  /** Of what runs on this machine unless told; of what does not, others tell by `take`. */
  readonly usageOf?: typeof usageOfSessions | undefined;
  readonly everyMs?: number | undefined;
  readonly tellEveryMs?: number | undefined;
}

const defaultEveryMs = 10_000;
const defaultTellEveryMs = 60_000;
/** What a card drew while nobody looked for longer is not guessed. */
const longestGapMs = 65_000;

interface Measured {
  readonly entry: AttemptEntry;
  toldAtMs: number;
  cpuSeconds: number | null;
  memoryBytes: number | null;
  readBytes: number | null;
  writtenBytes: number | null;
  percentMs: number;
  percentForMs: number;
  gpuMemoryBytes: number | null;
  energyJoules: number | null;
  lookedAtMs: number | null;
  readonly devicesUsed: Set<string>;
}

export class UsageWatch {
  private readonly measured = new Map<string, Measured>();
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly options: UsageWatchOptions) {}

  add(entry: AttemptEntry): void {
    if (this.measured.has(entry.uid)) return;
    this.measured.set(entry.uid, begun(entry, this.options.monotonicMs()));
    this.timer ??= setInterval(() => this.sample(), this.options.everyMs ?? defaultEveryMs).unref();
    this.sample();
  }

  /** Of one that somebody else measures, as containers are. */
  take(entry: AttemptEntry, figures: Omit<GroupFigures, 'peakMemoryBytes'>): void {
    if (entry.phase === 'ended') return;
    this.add(entry);
    const each = this.measured.get(entry.uid);
    if (each === undefined) return;
    // Of one that has just ended the Engine says nothing but zeros.
    each.cpuSeconds = more(each.cpuSeconds, figures.cpuSeconds);
    takeDiskUse(each, figures);
    each.memoryBytes = figures.memoryBytes ?? each.memoryBytes;
  }

  /** After each reading of the cards. */
  look(gpus: readonly GpuView[]): void {
    const nowMs = this.options.monotonicMs();
    for (const each of this.measured.values()) {
      const { entry } = each;
      for (const { uuid, processes } of gpus)
        if (processes.some(({ computes, attemptUid }) => computes && attemptUid === entry.uid))
          each.devicesUsed.add(uuid);
      const held = gpus.filter(({ uuid }) => entry.launch?.devices.includes(uuid));
      if (held.length > 0) this.lookAt(each, held, nowMs);
    }
  }

  /** Its last observation is made: what is known goes with it. */
  conclude(entry: AttemptEntry): void {
    const known = this.measured.get(entry.uid);
    if (known !== undefined) entry.usage = usageOf(known);
  }

  remove(uid: string): void {
    this.measured.delete(uid);
    if (this.measured.size === 0) this.close();
  }

  close(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  private lookAt(each: Measured, held: readonly GpuView[], nowMs: number): void {
    const sinceMs = each.lookedAtMs === null ? 0 : nowMs - each.lookedAtMs;
    each.lookedAtMs = nowMs;
    const forMs = sinceMs > longestGapMs ? 0 : sinceMs;
    if ((each.entry.launch?.spec.sharedGpuBytes ?? null) !== null) {
      // How busy a card is and what it draws is told of all together.
      const own = ownMemory(held, each.entry.uid);
      if (own !== null) each.gpuMemoryBytes = Math.max(each.gpuMemoryBytes ?? 0, own);
      return;
    }
    const percents = known(held, 'utilizationPercent');
    if (percents.length > 0) {
      each.percentMs += (sum(percents) / percents.length) * forMs;
      each.percentForMs += forMs;
    }
    const watts = known(held, 'powerWatts');
    if (watts.length > 0) each.energyJoules = (each.energyJoules ?? 0) + (sum(watts) * forMs) / 1000;
    const memory = known(held, 'memoryUsedBytes');
    if (memory.length > 0) each.gpuMemoryBytes = Math.max(each.gpuMemoryBytes ?? 0, sum(memory));
  }

  private sample(): void {
    const sessions = new Map<number, Measured>();
    for (const each of this.measured.values()) {
      const { supervisor, phase } = each.entry;
      if (supervisor !== null && phase !== 'ended') sessions.set(supervisor.pid, each);
    }
    const usages = (this.options.usageOf ?? usageOfSessions)(new Set(sessions.keys()));
    for (const [session, each] of sessions) {
      const usage = usages.get(session);
      if (usage === undefined) continue;
      // A process that leaves without being waited for takes its time along.
      each.cpuSeconds = more(each.cpuSeconds, usage.cpuSeconds);
      takeDiskUse(each, usage);
      each.memoryBytes = usage.memoryBytes;
      const { entry } = each;
      // Where there is a limit it is measured better.
      if (entry.launch?.spec.memoryIsLimit !== true)
        entry.peakMemoryBytes = Math.max(entry.peakMemoryBytes ?? 0, usage.memoryBytes);
    }
    this.tellDue();
  }

  private tellDue(): void {
    const nowMs = this.options.monotonicMs();
    for (const each of this.measured.values()) {
      if (each.entry.phase !== 'running') continue;
      if (nowMs - each.toldAtMs < (this.options.tellEveryMs ?? defaultTellEveryMs)) continue;
      each.toldAtMs = nowMs;
      each.entry.usage = usageOf(each);
      this.options.tell(each.entry);
    }
  }
}

/** It goes on from what was told of it before this program was started. */
function begun(entry: AttemptEntry, nowMs: number): Measured {
  const { usage, forMs } = entry.launch?.usedBefore ?? { usage: null, forMs: 0 };
  const percent = usage?.gpuPercent ?? null;
  return {
    entry,
    toldAtMs: nowMs,
    cpuSeconds: usage?.cpuSeconds ?? null,
    memoryBytes: null,
    readBytes: usage?.diskReadBytes ?? null,
    writtenBytes: usage?.diskWrittenBytes ?? null,
    percentMs: (percent ?? 0) * forMs,
    percentForMs: percent === null ? 0 : forMs,
    gpuMemoryBytes: usage?.gpuMemoryBytes ?? null,
    energyJoules: usage?.energyJoules ?? null,
    lookedAtMs: null,
    devicesUsed: new Set(usage?.devicesUsed),
  };
}

/** Counts only rise: of a process that left without being waited for, what it had counted leaves with it. */
function more(before: number | null, now: number | null): number | null {
  return now === null ? before : Math.max(before ?? 0, now);
}

function takeDiskUse(each: Measured, { readBytes, writtenBytes }: DiskUse): void {
  each.readBytes = more(each.readBytes, readBytes);
  each.writtenBytes = more(each.writtenBytes, writtenBytes);
}

function usageOf(each: Measured): AttemptUsage {
  return {
    cpuSeconds: each.cpuSeconds,
    memoryBytes: each.memoryBytes,
    diskReadBytes: each.readBytes,
    diskWrittenBytes: each.writtenBytes,
    gpuPercent: each.percentForMs === 0 ? null : Math.round((each.percentMs / each.percentForMs) * 10) / 10,
    gpuMemoryBytes: each.gpuMemoryBytes,
    energyJoules: each.energyJoules === null ? null : Math.round(each.energyJoules),
    devicesUsed: [...each.devicesUsed].sort(),
  };
}

/** Of cards it shares: what the tool tells of its own processes; null when it tells nothing. */
function ownMemory(held: readonly GpuView[], uid: string): number | null {
  const own = held.flatMap(({ processes }) => processes).filter(({ attemptUid }) => attemptUid === uid);
  const told = own.flatMap(({ usedBytes }) => usedBytes ?? []);
  return told.length === 0 ? null : sum(told);
}

function known(
  gpus: readonly GpuView[],
  name: 'utilizationPercent' | 'powerWatts' | 'memoryUsedBytes',
): number[] {
  return gpus.flatMap((gpu) => gpu[name] ?? []);
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
