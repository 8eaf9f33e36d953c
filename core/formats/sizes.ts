/** Sizes in bytes to and from text. G and GB are 10^9, Gi and GiB 2^30 (as Kubernetes and the tools print them). */

const decimal = 1000;
const binary = 1024;
const letters = ['k', 'm', 'g', 't', 'p'] as const;

/** What a size may look like, for error texts. */
export const sizeExpected = 'a size such as 512M, 8G, 8GB (10^9 bytes) or 8GiB (2^30 bytes)';

/**
 * Reads `8G`, `8GB`, `8GiB`, `1.5 g`, `512M`, `1024` (bytes). Undefined when the text is no size or not a whole number of
 * bytes that a double holds exactly.
 */
export function parseSize(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(?:([kmgtp])(i?)(b?)|b)?\s*$/i.exec(text);
  if (match === null) return undefined;
  const letter = match[2]?.toLowerCase();
  const power = letter === undefined ? 0 : letters.indexOf(letter as (typeof letters)[number]) + 1;
  const base = match[3] === undefined || match[3] === '' ? decimal : binary;
  const bytes = Math.round(Number(match[1]) * base ** power);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Binary units as the tools print them: `61 MiB`, `1.5 GiB`. Never negative. */
export function formatSize(bytes: number): string {
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= binary && unit < 5) {
    value /= binary;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const text = value.toFixed(digits);
  return `${text.includes('.') ? text.replace(/\.?0+$/, '') : text} ${['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][unit] ?? 'B'}`;
}

/** The shortest text that `parseSize` reads back to the same number: `64M`, `8GiB`, `123456`. */
export function sizeToInput(bytes: number): string {
  for (let power = 5; power >= 1; power -= 1) {
    const letter = (letters[power - 1] ?? '').toUpperCase();
    if (bytes > 0 && bytes % decimal ** power === 0) return `${bytes / decimal ** power}${letter}`;
    if (bytes > 0 && bytes % binary ** power === 0) return `${bytes / binary ** power}${letter}iB`;
  }
  return String(bytes);
}
