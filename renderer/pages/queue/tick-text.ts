import { timeFormat } from '../../strings/numbers.js';
import type { TimeRange } from './time-scale.js';

const time = timeFormat({ hour: '2-digit', minute: '2-digit' });
const day = timeFormat({ weekday: 'short', day: 'numeric', month: 'short' });

/** `14:30`; at midnight, and where ticks are days apart, the day. */
export function tickText(atMs: number, range: TimeRange): string {
  const isMidnight = new Date(atMs).getHours() === 0 && new Date(atMs).getMinutes() === 0;
  return isMidnight && range.endMs - range.startMs > 3 * 3_600_000 ? day().format(atMs) : time().format(atMs);
}

/** Half of what the mark of now takes, and what a letter of a label takes at most. */
const halfMark = 18;
const letter = 6.5;
const labelStart = 4;

/** False: the mark of now would cover a part of the label, which is then better left out. In pixels from the left. */
export function isClearOfNow(labelLeft: number, text: string, nowLeft: number | null): boolean {
  if (nowLeft === null) return true;
  const from = labelLeft + labelStart;
  return from > nowLeft + halfMark || from + text.length * letter < nowLeft - halfMark;
}
