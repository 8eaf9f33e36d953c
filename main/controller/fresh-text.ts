/**
 * Ids and suffixes nobody has used. Both begin with the time, so that jobs and attempts that come together lie together in every index of
 * the database: a commit touched a third more of its pages where they lay anywhere.
 */

export interface FreshText {
  /** 16 hex digits for an attempt. */
  uid(): string;
  /** Six letters and digits for a generated name. */
  suffix(): string;
}

const suffixes = 36 ** 6;
const uidTimes = 2 ** 24;
/** Attempts within so long lie side by side, in any order. */
const uidTimeMs = 16;

/**
 * `random` gives that many random bytes in hex; `lastMs` the time of the last submission there was, which may be before this start and
 * later than now.
 */
export function freshText(
  random: (bytes: number) => string,
  nowMs: () => number,
  lastMs: () => number,
): FreshText {
  let last = 0;
  return {
    uid: () => {
      const time = Math.floor(nowMs() / uidTimeMs) % uidTimes;
      return time.toString(16).padStart(6, '0') + random(5);
    },
    // The milliseconds of 25 days, each given once: more than one job in a millisecond takes those to come.
    suffix: () => {
      last = Math.max(last + 1, lastMs() + 1, Math.floor(nowMs()));
      return (last % suffixes).toString(36).padStart(6, '0');
    },
  };
}
