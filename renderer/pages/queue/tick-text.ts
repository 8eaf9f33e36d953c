import type { TimeRange } from './time-scale.js';

const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });

/** `14:30`; at midnight, and where ticks are days apart, the day. */
export function tickText(atMs: number, range: TimeRange): string {
  const isMidnight = new Date(atMs).getHours() === 0 && new Date(atMs).getMinutes() === 0;
  return isMidnight && range.endMs - range.startMs > 3 * 3_600_000 ? day.format(atMs) : time.format(atMs);
}
