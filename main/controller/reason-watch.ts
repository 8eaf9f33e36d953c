/** Looks between rounds whether jobs wait for other reasons than before: over a full cluster that takes longer than a round. */
import type { Publisher } from './publisher.js';

/** From a round to the look at what it changed, and between two looks. */
const delayMs = 500;

export class ReasonWatch {
  private timer: NodeJS.Timeout | null = null;

  /** `changed` gives the jobs that wait for another reason than when it was asked last. */
  constructor(private readonly changed: () => readonly string[]) {}

  /** After a round, when somebody looks on. */
  soon(publisher: Publisher): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      const touched = this.changed();
      if (touched.length > 0) publisher.changed({ jobs: [], touched, tasks: new Map(), removed: [] });
    }, delayMs);
  }

  stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}
