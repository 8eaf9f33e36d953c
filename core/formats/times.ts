/** Points in time as people write them: with their zone, or as a duration from a moment that is known later. */
import { durationToInput, parseDuration } from './durations.js';

/** `at`: epoch milliseconds. `after`: milliseconds from the moment it is about, such as a job's submission. */
export type TimeBound = { readonly kind: 'at' | 'after'; readonly ms: number };

/** What a time may look like, for error texts. */
export const timeBoundExpected =
  'a time with its zone such as 2026-12-01T08:00Z or 2026-12-01T08:00+01:00, or a duration from the submission such as 8h';

const pattern = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)\s*(z|[+-]\d{2}:?\d{2})$/i;

/** Reads `2026-12-01T08:00Z`, `2026-12-01 08:00+0100`, `8h`, `1h30m`. Undefined when the text is neither. */
export function parseTimeBound(text: string): TimeBound | undefined {
  const match = pattern.exec(text.trim());
  if (match === null) {
    const ms = parseDuration(text);
    return ms === undefined || ms <= 0 ? undefined : { kind: 'after', ms };
  }
  const [, date = '', time = '', zone = ''] = match;
  const offset = zone.toUpperCase() === 'Z' ? 'Z' : zone.replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2');
  const seconds = time.length === 5 ? `${time}:00` : time;
  const ms = Date.parse(`${date}T${seconds}${offset}`);
  if (!Number.isFinite(ms)) return undefined;
  // A day that the month does not have would silently become another.
  const day = Date.parse(`${date}T00:00:00Z`);
  return new Date(day).toISOString().startsWith(date) ? { kind: 'at', ms } : undefined;
}

/** The text that `parseTimeBound` reads back to the same. */
export function timeBoundToInput(bound: TimeBound): string {
  return bound.kind === 'after' ? durationToInput(bound.ms) : new Date(bound.ms).toISOString();
}

/** The point in time that is meant, epoch milliseconds; null for none. */
export function resolveTimeBound(bound: TimeBound | null, fromMs: number): number | null {
  if (bound === null) return null;
  return bound.kind === 'at' ? bound.ms : fromMs + bound.ms;
}
