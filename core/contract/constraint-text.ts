/** A wish about workers' attributes as one short text: `gpu-model=h100`, `memory>=64`, `zone in a,b`, `nvme`, `!shared`. */
import { ok, refuse, type Result } from './errors.js';
import type { Constraint } from './job-request.js';

const comparisons = [
  ['!=', 'NE'],
  ['>=', 'GE'],
  ['<=', 'LE'],
  ['=', 'EQ'],
  ['>', 'GT'],
  ['<', 'LT'],
] as const;

const expected = "key=value, key!=value, key>=4, key<4, 'key in a,b', key or !key";

/** Values in double quotes are text even when they look like numbers. */
function readValue(text: string): string | number {
  const trimmed = text.trim();
  const quoted = /^"(.*)"$/s.exec(trimmed);
  if (quoted?.[1] !== undefined) return quoted[1];
  return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

function writeValue(value: string | number): string {
  if (typeof value === 'number') return String(value);
  return readValue(value) === value ? value : `"${value}"`;
}

export function textToConstraint(text: string, mode: Constraint['mode']): Result<Constraint> {
  const bad = () =>
    refuse<Constraint>(
      'INVALID_ARGUMENT',
      `${text.trim() === '' ? 'An empty text' : text} is no constraint; expected ${expected}.`,
      [{ field: 'constraints', value: text === '' ? 'empty text' : text, expected }],
    );
  const trimmed = text.trim();
  const listed = /^(\S+)\s+in\s+(.+)$/is.exec(trimmed);
  if (listed?.[1] !== undefined && listed[2] !== undefined) {
    const values = listed[2].split(',').map(readValue);
    return values.includes('') ? bad() : ok({ key: listed[1], op: 'IN', values, mode });
  }
  const match = /^([^\s=!<>"]+)\s*(!=|>=|<=|=|>|<)\s*(.+)$/s.exec(trimmed);
  if (match?.[1] !== undefined && match[3] !== undefined) {
    const op = comparisons.find(([sign]) => sign === match[2])?.[1] ?? 'EQ';
    return ok({ key: match[1], op, values: [readValue(match[3])], mode });
  }
  const exists = /^(!?)([^\s=!<>"]+)$/.exec(trimmed);
  if (exists?.[2] !== undefined)
    return ok({ key: exists[2], op: exists[1] === '!' ? 'NOT_EXISTS' : 'EXISTS', values: [], mode });
  return bad();
}

export function constraintToText(wish: Pick<Constraint, 'key' | 'op' | 'values'>): string {
  switch (wish.op) {
    case 'EXISTS':
      return wish.key;
    case 'NOT_EXISTS':
      return `!${wish.key}`;
    case 'IN':
      return `${wish.key} in ${wish.values.map(writeValue).join(',')}`;
    default: {
      const sign = comparisons.find(([, op]) => op === wish.op)?.[0] ?? '=';
      return `${wish.key}${sign}${wish.values.map(writeValue).join('')}`;
    }
  }
}
