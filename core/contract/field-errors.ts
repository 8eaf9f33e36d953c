/** Zod's issues as the contract's field errors. */
import type { z } from 'zod';
import type { FieldError } from './errors.js';

const named: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/** What would be right, for the fields whose schema has no words of its own: zod's speak of its types. */
export const expectedWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return named[issue.expected] ?? 'another kind of value';
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'a text that is not empty';
      return `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unitOf(issue.origin, issue.minimum)}`;
    case 'too_big':
      return `${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unitOf(issue.origin, issue.maximum)}`;
    case 'invalid_format':
      return typeof issue.pattern === 'string'
        ? `a text of the form ${issue.pattern}`
        : 'a text of another form';
    case 'invalid_value':
      return issue.values.length === 1 ? String(issue.values[0]) : `one of ${issue.values.join(', ')}`;
    case 'not_multiple_of':
      return issue.divisor === 1 ? 'a whole number' : `a multiple of ${issue.divisor}`;
    default:
      return 'another value';
  }
};

function unitOf(origin: string, count: number | bigint): string {
  const one = Number(count) === 1;
  if (origin === 'string') return one ? ' character' : ' characters';
  return origin === 'array' || origin === 'map' || origin === 'set' ? (one ? ' entry' : ' entries') : '';
}

/** Says what is wrong with the first, and how many more there are. `what`: the whole, where no field is to blame. */
export function fieldSentence([first, ...others]: readonly FieldError[], what: string): string {
  if (first === undefined) return `${what} is not valid.`;
  const sentence = `${first.field}: ${first.value} is not valid; expected ${first.expected}.`;
  return others.length > 0 ? `${sentence} (and ${others.length} more)` : sentence;
}

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
