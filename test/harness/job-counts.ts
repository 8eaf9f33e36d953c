import type { JobSummary } from '../../core/contract/views.js';

/** How many jobs are in which state, kept as they come and go: counted anew for each frame, 100,000 would take the window's processor. */
export class JobCounts {
  private readonly counted = { running: 0, waiting: 0, failedUnseen: 0, finished: 0 };
  private readonly failedSinceMs: number;

  constructor(nowMs: number) {
    this.failedSinceMs = nowMs - 86_400_000;
  }

  /** `before`, where there is one, gives way to `after`, where there is one. */
  replace(before: JobSummary | undefined, after: JobSummary | undefined): void {
    if (before !== undefined) this.add(before, -1);
    if (after !== undefined) this.add(after, 1);
  }

  now() {
    return { ...this.counted };
  }

  private add(row: JobSummary, by: 1 | -1): void {
    if (row.state === 'RUNNING') this.counted.running += by;
    else if (row.state === 'PENDING') this.counted.waiting += by;
    else this.counted.finished += by;
    if (row.state === 'FAILED' && (row.finishedAtMs ?? 0) > this.failedSinceMs)
      this.counted.failedUnseen += by;
  }
}
