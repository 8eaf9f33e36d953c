/** The half-life of past use as people write it. */
import { durationToInput, parseDuration } from '../formats/durations.js';
import { ok, refuse, type Result } from './errors.js';

/** Between an hour and ten years. */
export const halfLife = {
  shortestMs: 3_600_000,
  longestMs: 3650 * 86_400_000,
  expected: 'a duration from 1h to 3650d such as 7d, or off',
} as const;

/** Reads `7d`, `36h` or `off`; null: past use does not count. */
export function textToHalfLife(text: string): Result<number | null> {
  const word = text.trim().toLowerCase();
  if (word === 'off') return ok(null);
  const ms = parseDuration(word);
  if (ms !== undefined && Number.isSafeInteger(ms) && ms >= halfLife.shortestMs && ms <= halfLife.longestMs)
    return ok(ms);
  return refuse('INVALID_ARGUMENT', `half-life: ${text} is not valid; expected ${halfLife.expected}.`, [
    { field: 'half-life', value: text, expected: halfLife.expected },
  ]);
}

export function halfLifeToText(halfLifeMs: number | null): string {
  return halfLifeMs === null ? 'off' : durationToInput(halfLifeMs);
}
