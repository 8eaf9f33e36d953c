/** Points in time as people write them: with their zone, or as a duration from a moment that is known later. */
import { durationToInput, parseDuration } from './durations.js';

/** `at`: epoch milliseconds. `after`: milliseconds from the moment it is about, such as a job's submission. */
export type TimeBound = { readonly kind: 'at' | 'after'; readonly ms: number };

/** What a time may look like, for error texts. */
export const timeBoundExpected =
  'a time with its zone such as 2026-12-01T08:00Z or 2026-12-01T08:00+01:00, or a duration from the submission such as 8h';

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})[t ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?\s*(?:z|([+-])(\d{2}):?(\d{2}))$/i;

const dayMs = 86_400_000;
const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function daysOfMonth(year: number, month: number): number {
  return month === 2 && isLeap(year) ? 29 : (monthDays[month - 1] ?? 0);
}

/** Days from 1970-01-01 to the first of January of a year from 1970 on. */
function daysToYear(year: number): number {
  const before = year - 1;
  const leaps = (to: number) => Math.floor(to / 4) - Math.floor(to / 100) + Math.floor(to / 400);
  return (year - 1970) * 365 + leaps(before) - leaps(1969);
}

/** Reads `2026-12-01T08:00Z`, `2026-12-01 08:00+0100`, `8h`, `1h30m`. Undefined when the text is neither. */
export function parseTimeBound(text: string): TimeBound | undefined {
  const match = pattern.exec(text.trim());
  if (match === null) {
    const ms = parseDuration(text);
    return ms === undefined || ms <= 0 ? undefined : { kind: 'after', ms };
  }
  const number = (at: number) => Number(match[at] ?? 0);
  const [year, month, day] = [number(1), number(2), number(3)];
  const [hour, minute, second] = [number(4), number(5), number(6)];
  const real = year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= daysOfMonth(year, month);
  if (!real || hour > 23 || minute > 59 || second > 59 || number(9) > 14 || number(10) > 59) return undefined;
  let days = daysToYear(year) + day - 1;
  for (let before = 1; before < month; before += 1) days += daysOfMonth(year, before);
  const offset = (match[8] === '-' ? -1 : 1) * (number(9) * 60 + number(10));
  const fraction = Number((match[7] ?? '').padEnd(3, '0'));
  return { kind: 'at', ms: days * dayMs + ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction };
}

interface Calendar {
  readonly date: string;
  readonly time: string;
  readonly fraction: string;
}

function calendarOf(ms: number): Calendar {
  let days = Math.floor(ms / dayMs);
  let year = 1970 + Math.floor(days / 366);
  while (daysToYear(year + 1) <= days) year += 1;
  days -= daysToYear(year);
  let month = 1;
  for (let length = daysOfMonth(year, month); days >= length; length = daysOfMonth(year, month)) {
    days -= length;
    month += 1;
  }
  const rest = ms - Math.floor(ms / dayMs) * dayMs;
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return {
    date: `${year}-${two(month)}-${two(days + 1)}`,
    time: `${two(rest / 3_600_000)}:${two((rest / 60_000) % 60)}:${two((rest / 1000) % 60)}`,
    fraction: String(Math.floor(rest % 1000)).padStart(3, '0'),
  };
}

/** `2026-12-01 08:00:00 UTC`: to the second, so that arithmetic with it can be checked. */
export function timeText(ms: number): string {
  const { date, time } = calendarOf(ms);
  return `${date} ${time} UTC`;
}

const written = /\b\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} UTC\b/g;

/** How a time is written within a sentence, in the window and by the system: `1 Dec 2026, 09:00:00` in the language en-GB. */
export const timeInSentence: Intl.DateTimeFormatOptions = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
};

/**
 * A sentence with each time in it, as `timeText` writes them, in the words of `show`. Sentences are made and kept in UTC, as who reads
 * them may be anywhere; whoever shows one to a person passes it through here.
 */
export function showTimes(sentence: string, show: (ms: number) => string): string {
  if (!sentence.includes(' UTC')) return sentence;
  return sentence.replaceAll(written, (text) => {
    const bound = parseTimeBound(text.replace(' UTC', 'Z'));
    return bound?.kind === 'at' ? show(bound.ms) : text;
  });
}

/** The text that `parseTimeBound` reads back to the same. */
export function timeBoundToInput(bound: TimeBound): string {
  if (bound.kind === 'after') return durationToInput(bound.ms);
  const { date, time, fraction } = calendarOf(bound.ms);
  return `${date}T${time}.${fraction}Z`;
}

/** The point in time that is meant, epoch milliseconds; null for none. */
export function resolveTimeBound(bound: TimeBound | null, fromMs: number): number | null {
  if (bound === null) return null;
  return bound.kind === 'at' ? bound.ms : fromMs + bound.ms;
}
