/**
 * The monotonic clock without the time this program stood still. Where a machine sleeps, or a virtual one is paused, that clock stands
 * still with it on some systems and goes on on others (macOS, most hypervisors). What ran slept as well: after a night none of it has
 * used up its time limit, and no answer is overdue. Of a host that was merely stopped the supervisors keep the time limits themselves.
 */

export interface AwakeClock {
  readonly nowMs: () => number;
  readonly close: () => void;
}

const beatMs = 5000;
/** No turn of a program that runs takes so long. */
const standstillMs = 30_000;

export function awakeClock(read: () => number = () => performance.now()): AwakeClock {
  let last = read();
  let asleepMs = 0;
  const nowMs = (): number => {
    const now = read();
    // It was read at the last beat at the earliest, so this much of the gap may have been awake.
    if (now - last > standstillMs) asleepMs += now - last - beatMs;
    last = Math.max(last, now);
    return last - asleepMs;
  };
  const timer = setInterval(nowMs, beatMs).unref();
  return { nowMs, close: () => clearInterval(timer) };
}
