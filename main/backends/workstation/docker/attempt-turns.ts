/** How the steps of an attempt in a container end early. */
import type { AttemptEnd } from './attempt-note.js';

/** It is over, with nothing more to do but to say so. */
export class Over extends Error {
  constructor(readonly end: AttemptEnd) {
    super('over');
  }
}

/** What was looked at has changed: begin anew. */
export class Again extends Error {}

export function pauseOf(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

export const waits = {
  /** An Engine that does not come back within this time starts nothing; what runs already is waited for without end. */
  startPatienceMs: 30_000,
  laterMs: 3_600_000,
  /** After a question that was not answered. */
  againPauseMs: 200,
  /** The kernel's word that memory ran out may come a moment after the end. */
  outOfMemoryLooks: 5,
  noSpacePauseMs: 5000,
  /** Between the questions to a registry that does not answer; none is asked later than that after the first. */
  pullPausesMs: [5000, 10_000, 20_000, 40_000, 80_000],
  mostPullMs: 600_000,
  /** What waits for room on our own disk looks again so much later. */
  fullDiskPauseMs: 1000,
  latePauseMs: 150,
  /** What runs on unseen by a restarted Engine may end by itself meanwhile. */
  unseenMs: 10_000,
  /** What has lost its card is given this long to leave. */
  deviceGraceMs: 2000,
  refusalPauseMs: 1000,
  mostRefusals: 5,
} as const;
