/** Zod's issues as the contract's field errors. */
import type { z } from 'zod';
import type { FieldError } from './errors.js';

/** Turns zod's issues into field errors that name the field, the value as given and what would be right; the first of each field. */
export function fieldErrors(error: z.ZodError, input: unknown): FieldError[] {
  const result = new Map<string, FieldError>();
  const note = (path: readonly PropertyKey[], expected: string) => {
    const field = path.length === 0 ? 'request' : path.join('.');
    if (!result.has(field)) result.set(field, { field, value: showValue(valueAt(input, path)), expected });
  };
  for (const issue of error.issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) note([...issue.path, key], 'no such field');
    } else {
      // A wrong key carries what would be right inside.
      note(
        issue.path,
        issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message,
      );
    }
  }
  return [...result.values()];
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** A value as the user gave it, short enough for one line; nothing given reads as `nothing`. */
function showValue(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  const text =
    typeof value === 'string' ? value : typeof value === 'number' ? String(value) : JSON.stringify(value);
  if (text === '') return 'empty text';
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
