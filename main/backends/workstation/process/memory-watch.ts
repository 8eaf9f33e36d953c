/**
 * The memory limit where no control group can hold it: the proportional share (PSS) of an attempt's processes is measured every few
 * seconds; a warning at 90 %, an end after three samples over the limit. A peak between two samples is not seen.
 */
import { readFileSync } from 'node:fs';
import type { Cause } from '../../../../core/contract/views.js';
import { formatSize } from '../../../../core/formats/sizes.js';
import type { AttemptEntry } from './attempt-entry.js';

export interface MemoryWatchOptions {
  readonly entries: () => Iterable<AttemptEntry>;
  readonly members: (entry: AttemptEntry) => Promise<readonly { readonly pid: number }[]>;
  readonly end: (entry: AttemptEntry) => void;
  readonly warn: (entry: AttemptEntry, warning: Cause) => void;
  /** True when the system itself holds this attempt to its limit. */
  readonly isHeld: (entry: AttemptEntry) => boolean;
  readonly onFault: (error: unknown) => void;
  readonly everyMs?: number;
  readonly measure?: (pid: number) => number;
}

const defaultEveryMs = 2000;
const samplesOver = 3;
const warnAtShare = 0.9;

export class MemoryWatch {
  private readonly over = new Map<string, number>();
  private readonly warned = new Set<string>();
  private readonly timer: NodeJS.Timeout;
  private busy = false;

  constructor(private readonly options: MemoryWatchOptions) {
    this.timer = setInterval(() => {
      if (this.busy) return;
      this.busy = true;
      this.sample()
        .catch(options.onFault)
        .finally(() => {
          this.busy = false;
        });
    }, options.everyMs ?? defaultEveryMs);
    this.timer.unref();
  }

  forget(uid: string): void {
    this.over.delete(uid);
    this.warned.delete(uid);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async sample(): Promise<void> {
    const measured = [...this.options.entries()].filter(
      (entry) =>
        entry.phase === 'running' && entry.launch?.spec.memoryIsLimit === true && !this.options.isHeld(entry),
    );
    // Asked in one turn: one look at all that lives serves them all, however many they are.
    const looks = await Promise.all(
      measured.map(async (entry) => ({ entry, members: await this.options.members(entry) })),
    );
    for (const { entry, members } of looks) {
      const limit = entry.launch?.spec.memoryBytes ?? Number.POSITIVE_INFINITY;
      // Nothing of it is seen, which is not that it uses nothing.
      if (members.length === 0) continue;
      const used = members.reduce(
        (sum, { pid }) => sum + (this.options.measure ?? proportionalBytes)(pid),
        0,
      );
      if (entry.phase === 'running') this.judge(entry, used, limit);
    }
  }

  private judge(entry: AttemptEntry, used: number, limit: number): void {
    entry.peakMemoryBytes = Math.max(entry.peakMemoryBytes ?? 0, used);
    const times = used > limit ? (this.over.get(entry.uid) ?? 0) + 1 : 0;
    this.over.set(entry.uid, times);
    if (times >= samplesOver) {
      this.options.end(entry);
    } else if (used > limit * warnAtShare && !this.warned.has(entry.uid)) {
      this.warned.add(entry.uid);
      const message = `The task uses ${formatSize(used)}; its memory limit is ${formatSize(limit)}, and a task that stays above it is ended.`;
      this.options.warn(entry, { code: 'MEMORY_NEAR_LIMIT', message });
    }
  }
}

/** Shared pages counted by their share, so that workers that share a data set are not counted many times. */
function proportionalBytes(pid: number): number {
  return (
    kilobytes(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB$/m) ??
    kilobytes(`/proc/${pid}/status`, /^VmRSS:\s+(\d+) kB$/m) ??
    0
  );
}

function kilobytes(file: string, line: RegExp): number | null {
  try {
    const value = line.exec(readFileSync(file, 'latin1'))?.[1];
    return value === undefined ? null : Number(value) * 1024;
  } catch {
    return null; // ended meanwhile
  }
}
