/**
 * What a client needs of the protocol. Apart from the rest, which brings the schemas of the whole contract: window and desktop start
 * without them.
 */
import { errorCodes, type FieldError, type Refusal } from './errors.js';

/** Longest frame either side accepts; staged files of one request fit. */
export const maxFrameBytes = 32 * 1024 * 1024;

/** `id` is the one the client chose for its call or subscription. */
export type HostFrame =
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  /** Ends a call or a subscription. */
  | { readonly kind: 'refused'; readonly id: number; readonly refusal: Refusal }
  | { readonly kind: 'snapshot'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'delta'; readonly id: number; readonly seq: number; readonly value: unknown };

/** Null for what is no frame of a host, surplus fields included. */
export function readHostFrame(input: unknown): HostFrame | null {
  if (!isRecord(input) || !isPositive(input['id'])) return null;
  const { kind, id, value, seq } = input;
  switch (kind) {
    case 'result':
    case 'snapshot':
      return hasOnly(input, ['kind', 'id', 'value']) ? { kind, id, value } : null;
    case 'delta':
      return isPositive(seq) && hasOnly(input, ['kind', 'id', 'seq', 'value'])
        ? { kind, id, seq, value }
        : null;
    case 'refused': {
      const refusal = readRefusal(input['refusal']);
      return refusal !== null && hasOnly(input, ['kind', 'id', 'refusal']) ? { kind, id, refusal } : null;
    }
    default:
      return null;
  }
}

/** Null for what is no refusal. */
export function readRefusal(input: unknown): Refusal | null {
  if (!isRecord(input) || !hasOnly(input, ['code', 'message', 'fields'])) return null;
  const { code, message, fields = [] } = input;
  if (!isErrorCode(code) || typeof message !== 'string' || !Array.isArray(fields)) return null;
  return fields.every(isFieldError) ? { code, message, fields: [...fields] } : null;
}

function isFieldError(input: unknown): input is FieldError {
  return (
    isRecord(input) &&
    hasOnly(input, ['field', 'value', 'expected']) &&
    typeof input['field'] === 'string' &&
    typeof input['value'] === 'string' &&
    typeof input['expected'] === 'string'
  );
}

const isErrorCode = (input: unknown): input is Refusal['code'] =>
  typeof input === 'string' && Object.hasOwn(errorCodes, input);

const isPositive = (input: unknown): input is number => Number.isSafeInteger(input) && Number(input) >= 1;

const isRecord = (input: unknown): input is Record<string, unknown> =>
  typeof input === 'object' && input !== null && !Array.isArray(input);

function hasOnly(record: Record<string, unknown>, names: readonly string[]): boolean {
  for (const name in record) if (!names.includes(name)) return false;
  return true;
}
