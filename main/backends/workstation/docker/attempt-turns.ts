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
