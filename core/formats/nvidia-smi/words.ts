/** Cells of the tool's answers: a number with its unit, or a word in its place that says why there is none. */

/** Only a whole number with its unit is a value; every other word (N/A, ERR!, [Not Supported] ...) means unknown. */
export function numberOf(text: string | undefined, unit: string): number | null {
  const match = /^(-?\d+(?:\.\d+)?)\s*(\S*)$/.exec(text ?? '');
  return match !== null && match[2] === unit ? Number(match[1]) : null;
}

/** The same where the unit may stand in the column's name instead. */
export function looseNumberOf(text: string | undefined, unit: string): number | null {
  return numberOf(text, '') ?? numberOf(text, unit);
}

const mebibyte = 1024 * 1024;

export function bytesOf(mebibytes: number | null): number | null {
  return mebibytes === null ? null : mebibytes * mebibyte;
}

const wordsForUnknown =
  /^\[?(N\/A|Not Supported|Unknown Error|Unknown|ERR!|GPU is lost|GPU requires reset|Insufficient Permissions|Requested functionality has been deprecated)\]?$/i;

/** Words in the place of a value by which the tool says that the card cannot be used as it is; null: it says nothing of the kind. */
export function brokenWord(text: string): string | null {
  return /GPU is lost|GPU requires reset/i.exec(text)?.[0] ?? null;
}

/** Null for a word that stands for an unknown value. */
export function knownText(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' || wordsForUnknown.test(trimmed) ? null : trimmed;
}

/** `0000:cf:00.0` for every way the tool writes a bus address: with eight or four digits of domain, with `GPU` before it. */
export function busIdOf(text: string): string | null {
  const match = /([0-9a-f]{4,8}):([0-9a-f]{2}):([0-9a-f]{2})(?:\.([0-9a-f]))?/i.exec(text);
  if (match === null) return null;
  const [, domain = '', bus = '', device = '', part = '0'] = match;
  return `${domain.padStart(8, '0').slice(-8)}:${bus}:${device}.${part}`.toUpperCase();
}
