/**
 * Numbers as text, and formatters made when first asked for. The engine reads its tables of languages with the first formatter there is,
 * which takes longer than drawing the first page: that page has none.
 */
import { formatWhole } from '../../core/formats/counts.js';

/** The same value each time, made the first time. */
export function made<T>(make: () => T): () => T {
  let value: { readonly it: T } | null = null;
  return () => (value ??= { it: make() }).it;
}

export const timeFormat = (parts: Intl.DateTimeFormatOptions): (() => Intl.DateTimeFormat) =>
  made(() => new Intl.DateTimeFormat('en-GB', parts));

const rounded = made(() => new Intl.NumberFormat('en-US'));

/** `1,234`. */
export function formatCount(value: number): string {
  if (value < 1000) return String(value);
  return Number.isSafeInteger(value) ? formatWhole(value) : rounded().format(value);
}

/** `1.5`, `2`, `1,024`: processors to a tenth. */
export function formatCores(millicores: number): string {
  const tenths = Math.round(millicores / 100);
  const whole = formatCount(Math.floor(tenths / 10));
  return tenths % 10 === 0 ? whole : `${whole}.${tenths % 10}`;
}
