/**
 * Every refusal the controller, the backends or a host can give: one code, one class. Retry policy reads the class, never
 * the text (Connect's code names are used where they fit, so that the Iris wire can carry them unchanged).
 */
/** What a caller may do about it: try again, give up, change the request, or report a bug. */
export type ErrorClass = 'retryable' | 'permanent' | 'user-fixable' | 'bug';

export const errorCodes = {
  /** A field of the request is wrong; `field`, `value` and `expected` say which, what and what would be right. */
  INVALID_ARGUMENT: 'user-fixable',
  /** No job, task or attempt has that id. */
  NOT_FOUND: 'user-fixable',
  /** A job of that name exists and the policy forbids replacing it. */
  ALREADY_EXISTS: 'user-fixable',
  /** The thing is in a state that does not allow this (stopping a finished job, a child of an ended parent). */
  FAILED_PRECONDITION: 'user-fixable',
  /** The caller may not do this (band above the ceiling, another user's job). */
  PERMISSION_DENIED: 'user-fixable',
  /** A passphrase, password or code is needed, and nobody gave the right one in time. */
  ANSWER_NEEDED: 'user-fixable',
  /** A machine, or what runs tasks and containers on it, does not answer or does not let us in; the controller itself does. */
  UNREACHABLE: 'user-fixable',
  /** A bound was reached (tasks per user, frame size, queue). */
  RESOURCE_EXHAUSTED: 'user-fixable',
  /** No worker of this cluster could ever run it: needs more than there is. */
  INFEASIBLE: 'user-fixable',
  /** Another host owns the data folder. */
  FOLDER_OWNED: 'retryable',
  /** The data folder lies where it must not (network file system) or cannot be used. */
  FOLDER_UNUSABLE: 'user-fixable',
  /** The database was written by a newer version. */
  DATABASE_NEWER: 'user-fixable',
  /** The database failed its integrity check. */
  DATABASE_CORRUPT: 'user-fixable',
  /** A write did not reach the disk (no space, read-only); nothing of it was kept. */
  STORAGE_FAILED: 'retryable',
  /** Client and controller speak different contract versions. */
  VERSION_MISMATCH: 'user-fixable',
  /** Unknown method or topic. */
  UNIMPLEMENTED: 'permanent',
  /** The controller is stopping or not reachable: of that alone, as whoever hears it waits for the next one. */
  UNAVAILABLE: 'retryable',
  /** The connection ended before the answer came. */
  DISCONNECTED: 'retryable',
  /** Something that must not happen; logged with version and ids. */
  INTERNAL: 'bug',
} as const satisfies Record<string, ErrorClass>;

export type ErrorCode = keyof typeof errorCodes;

/** One wrong field: `field` is its name in the job request, `expected` what would be right. */
export interface FieldError {
  field: string;
  value: string;
  expected: string;
}

/** A refusal as it crosses a boundary: plain data. `fields` holds what is wrong where a field is to blame. */
export interface Refusal {
  code: ErrorCode;
  message: string;
  fields: FieldError[];
}

export function refusal(code: ErrorCode, message: string, fields: readonly FieldError[] = []): Refusal {
  return { code, message, fields: [...fields] };
}

/** Carries a refusal through a promise; the only Error a client of the contract has to expect. */
export class RefusalError extends Error {
  readonly refusal: Refusal;
  constructor(value: Refusal) {
    super(value.message);
    this.name = 'RefusalError';
    this.refusal = value;
  }
}

export type Result<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };
export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}
export function refuse<T = never>(
  code: ErrorCode,
  message: string,
  fields: readonly FieldError[] = [],
): Result<T> {
  return { ok: false, refusal: refusal(code, message, fields) };
}
