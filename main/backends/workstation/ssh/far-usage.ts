/** What attempts on another machine use, by the words of its hand: told to the controller with their end, and once a minute. */
import type { AttemptEntry } from '../process/attempt-entry.js';
import type { FarWord } from './far-words.js';

const tellEveryMs = 60_000;

export class FarUsage {
  /** When the use of each was told last, or seen first. */
  private readonly toldMs = new Map<string, number>();

  /** usage UID CPU-SECONDS MEMORY. True: a minute has passed, it is to be told. */
  take(entry: AttemptEntry, word: FarWord, nowMs: number): boolean {
    const [cpuSeconds, memoryBytes] = [word.number(1), word.number(2)];
    if (cpuSeconds === null || memoryBytes === null) return false;
    entry.usage = {
      // A process that leaves without being waited for takes its time along.
      cpuSeconds: Math.max(entry.usage?.cpuSeconds ?? 0, cpuSeconds),
      memoryBytes,
      gpuPercent: null,
      gpuMemoryBytes: null,
      energyJoules: null,
      devicesUsed: [],
    };
    // Where there is a limit it is measured better.
    if (entry.launch?.spec.memoryIsLimit !== true)
      entry.peakMemoryBytes = Math.max(entry.peakMemoryBytes ?? 0, memoryBytes);
    const toldMs = this.toldMs.get(entry.uid);
    const isDue = toldMs !== undefined && nowMs - toldMs >= tellEveryMs;
    if (toldMs === undefined || isDue) this.toldMs.set(entry.uid, nowMs);
    return isDue;
  }

  forget(uid: string): void {
    this.toldMs.delete(uid);
  }
}
