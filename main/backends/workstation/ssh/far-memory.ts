/** Memory asked for is a limit. Where no control group holds it: a warning at 90 %, an end after three samples over. */
import type { Cause } from '../../../../core/contract/views.js';
import { formatSize } from '../../../../core/formats/sizes.js';
import type { AttemptEntry } from '../process/attempt-entry.js';

const samplesOver = 3;
const warnAtShare = 0.9;

export class FarMemory {
  /** Samples in turn that were over. */
  private readonly over = new Map<string, number>();

  constructor(private readonly warn: (entry: AttemptEntry, warning: Cause) => void) {}

  /** True: it is to be ended. */
  isOver(entry: AttemptEntry, used: number): boolean {
    const limit = entry.launch?.spec.memoryBytes ?? Number.POSITIVE_INFINITY;
    entry.peakMemoryBytes = Math.max(entry.peakMemoryBytes ?? 0, used);
    const times = used > limit ? (this.over.get(entry.uid) ?? 0) + 1 : 0;
    this.over.set(entry.uid, times);
    if (times >= samplesOver) {
      entry.overMemory = true;
      return true;
    }
    if (used > limit * warnAtShare) {
      const message = `The task uses more than 90 % of its memory limit of ${formatSize(limit)}, and a task that stays above it is ended.`;
      this.warn(entry, { code: 'MEMORY_NEAR_LIMIT', message });
    }
    return false;
  }

  forget(uid: string): void {
    this.over.delete(uid);
  }
}
