/** Wishes about workers' attributes (iris-behaviour 3.7): text is trimmed and compared in lower case, a missing attribute fails. */
import type { Constraint, JobSpec } from '../contract/job-request.js';
import { machineAttribute } from '../model/machine-change.js';

export type Attributes = Readonly<Record<string, string | number>>;

export function meetsConstraint(constraint: Constraint, attributes: Attributes): boolean {
  const found = Object.hasOwn(attributes, constraint.key) ? attributes[constraint.key] : undefined;
  if (found === undefined) return constraint.op === 'NOT_EXISTS';
  const first = constraint.values[0];
  switch (constraint.op) {
    case 'EXISTS':
      return true;
    case 'NOT_EXISTS':
      return false;
    case 'EQ':
      return first !== undefined && same(found, first);
    case 'NE':
      return first !== undefined && !same(found, first);
    case 'IN':
      return constraint.values.some((value) => same(found, value));
    case 'GT':
    case 'GE':
    case 'LT':
    case 'LE':
      return ordered(constraint.op, number(found), number(first));
  }
}

/** Those of a job, with the machine it names as the last of them. */
export function constraintsOf(spec: Pick<JobSpec, 'constraints' | 'machine'>): readonly Constraint[] {
  if (spec.machine === null) return spec.constraints;
  return [...spec.constraints, { key: machineAttribute, op: 'EQ', values: [spec.machine], mode: 'REQUIRED' }];
}

/** The machine that constraints name; null when they name none. */
export function machineOf(constraints: readonly Constraint[]): string | null {
  const only = constraints.find(
    ({ key, op, mode }) => key === machineAttribute && op === 'EQ' && mode === 'REQUIRED',
  );
  return only === undefined ? null : String(only.values[0] ?? '');
}

export interface Taint {
  readonly key: string;
  readonly value: string;
}

/**
 * A taint keeps off whoever does not speak of it: it is tolerated by a constraint, required or preferred, on its key that its value
 * meets. To exclude a value (`!=`, not exists) is no toleration of others.
 */
export function tolerates(constraints: readonly Constraint[], { key, value }: Taint): boolean {
  return constraints.some(
    (constraint) =>
      constraint.key === key &&
      constraint.op !== 'NE' &&
      constraint.op !== 'NOT_EXISTS' &&
      meetsConstraint(constraint, { [key]: value }),
  );
}

/** The first that is not tolerated; null when all are, or there are none. */
export function untolerated(
  constraints: readonly Constraint[],
  taints: readonly Taint[] | undefined,
): Taint | null {
  return taints?.find((taint) => !tolerates(constraints, taint)) ?? null;
}

export function meetsRequired(constraints: readonly Constraint[], attributes: Attributes): boolean {
  return constraints.every(
    (constraint) => constraint.mode === 'PREFERRED' || meetsConstraint(constraint, attributes),
  );
}

/** Number of preferred constraints that hold. */
export function preferenceScore(constraints: readonly Constraint[], attributes: Attributes): number {
  return constraints.filter(
    (constraint) => constraint.mode === 'PREFERRED' && meetsConstraint(constraint, attributes),
  ).length;
}

/** `region = "eu-west4"`, for sentences. */
export function showConstraint(constraint: Constraint): string {
  const { key, op, values } = constraint;
  const shown = values.map((value) => (typeof value === 'number' ? String(value) : `"${value}"`));
  switch (op) {
    case 'EXISTS':
      return `attribute ${key}`;
    case 'NOT_EXISTS':
      return `no attribute ${key}`;
    case 'IN':
      return `${key} among ${shown.join(', ')}`;
    default:
      return `${key} ${signs[op]} ${shown[0] ?? ''}`;
  }
}

const signs = { EQ: '=', NE: 'other than', GT: '>', GE: '>=', LT: '<', LE: '<=' } as const;

function same(left: string | number, right: string | number): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left === right;
  const [a, b] = [number(left), number(right)];
  // A command line has only text: 4 and "4" are the same.
  if (typeof left !== typeof right && a !== null && b !== null) return a === b;
  return String(left).trim().toLowerCase() === String(right).trim().toLowerCase();
}

/** Null for what is no number: an ordered comparison with it is false. */
function number(value: string | number | undefined): number | null {
  if (value === undefined) return null;
  if (typeof value === 'number') return value;
  return value.trim() === '' || !Number.isFinite(Number(value)) ? null : Number(value);
}

function ordered(op: 'GT' | 'GE' | 'LT' | 'LE', left: number | null, right: number | null): boolean {
  if (left === null || right === null) return false;
  switch (op) {
    case 'GT':
      return left > right;
    case 'GE':
      return left >= right;
    case 'LT':
      return left < right;
    case 'LE':
      return left <= right;
  }
}
