/** Durations in milliseconds to and from text. */

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** What a duration may look like, for error texts. */
export const durationExpected = 'a duration such as 90, 90s, 15m, 2h, 1h30m or 1d (a bare number is seconds)';

/** Reads `90` (seconds), `90s`, `1h30m`, `250ms`. Undefined when the text is no duration. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase();
  if (/^\d+(\.\d+)?$/.test(trimmed)) {
    const ms = Math.round(Number(trimmed) * 1000);
    return Number.isSafeInteger(ms) ? ms : undefined;
  }
  if (!/^(\d+(\.\d+)?\s*(ms|s|m|h|d)\s*)+$/.test(trimmed)) return undefined;
  let total = 0;
  for (const part of trimmed.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)/g)) {
    total += Number(part[1]) * (units[part[2] ?? ''] ?? Number.NaN);
  }
  const ms = Math.round(total);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/**
 * `1h 23m`, `4m 05s`, `12s`, `0.4s`: the two largest units. What is too short for that, but not nothing, is `<0.1s`. A negative value (a
 * clock set back) reads as 0.
 */
export function formatDuration(ms: number): string {
  const value = Math.max(0, ms);
  if (value > 0 && value < 100) return '<0.1s';
  if (value < 10_000) {
    const tenths = Math.floor(value / 100) / 10;
    return `${Number.isInteger(tenths) ? tenths : tenths.toFixed(1)}s`;
  }
  const seconds = Math.floor(value / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${String(seconds % 60).padStart(2, '0')}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ${String(minutes % 60).padStart(2, '0')}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** The shortest text that `parseDuration` reads back to the same number: `2h`, `90s`, `250ms`. */
export function durationToInput(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const size = units[unit] ?? 1;
    if (ms > 0 && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}
