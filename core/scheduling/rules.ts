/** The two rule sets, and what can be set in them. */

export interface Rules {
  /** `original` follows iris-behaviour section 3 to the letter; `ours` is the default. */
  readonly policy: 'original' | 'ours';
  /** Starts at the same time on a machine that names no number of its own; null is no limit. */
  readonly buildSlots: number | null;
  /** Tasks given to one machine in one pass; null is no cap. */
  readonly maxPerWorker: number | null;
  /** Tasks of one job (no gang) looked at in one pass; null is no cap. */
  readonly maxPerJob: number | null;
  /** Assignments of one pass; null is no cap. */
  readonly maxAssignments: number | null;
  /** A victim has run that long, unless it is BATCH and the beneficiary PRODUCTION or SYSTEM. */
  readonly minRunMs: number;
  /**
   * A single INTERACTIVE task evicts nobody before it has waited that long: so much ends by itself meanwhile that most find a place
   * without. Gangs, SYSTEM and PRODUCTION do not wait for that.
   */
  readonly patienceMs: number;
  /** From that wait on, the first gang or large task of a band reserves machines; one of several cards later (see `waitToReserveMs`). */
  readonly reserveAfterMs: number;
}

export const originalRules: Rules = {
  policy: 'original',
  buildSlots: 8,
  maxPerWorker: 4,
  maxPerJob: 4,
  maxAssignments: null,
  minRunMs: 0,
  patienceMs: 0,
  reserveAfterMs: Number.POSITIVE_INFINITY,
};

export const ourRules: Rules = {
  policy: 'ours',
  buildSlots: null,
  maxPerWorker: null,
  maxPerJob: null,
  maxAssignments: null,
  minRunMs: 5 * 60_000,
  patienceMs: 2 * 60_000,
  reserveAfterMs: 15 * 60_000,
};
