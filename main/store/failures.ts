/** SQLite's errors as refusals of the contract. */
import Database from 'better-sqlite3';
import { refusal, RefusalError, type ErrorCode } from '../../core/contract/errors.js';

const storageCodes = [
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_READONLY',
  'SQLITE_CANTOPEN',
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
];
const corruptCodes = ['SQLITE_CORRUPT', 'SQLITE_NOTADB'];

function startsWithOne(code: string, prefixes: readonly string[]): boolean {
  // Extended codes append to the primary one: SQLITE_IOERR_WRITE.
  return prefixes.some((prefix) => code === prefix || code.startsWith(`${prefix}_`));
}

function codeOf(error: unknown): string {
  return error instanceof Database.SqliteError ? error.code : '';
}

export function isCorrupt(error: unknown): boolean {
  return startsWithOne(codeOf(error), corruptCodes);
}

export function isBusy(error: unknown): boolean {
  return startsWithOne(codeOf(error), ['SQLITE_BUSY']);
}

/** What went wrong at `what` with the database at `path`; a refusal passes through unchanged. */
export function asRefusal(error: unknown, what: string, path: string): RefusalError {
  if (error instanceof RefusalError) return error;
  const code = codeOf(error);
  const reason = error instanceof Error ? error.message : String(error);
  const cause = code === '' ? reason : `${code}: ${reason}`;
  let failure: { code: ErrorCode; message: string };
  if (startsWithOne(code, storageCodes)) {
    failure = {
      code: 'STORAGE_FAILED',
      message: `${what} failed on ${path} (${cause}). ${storageAdvice(code)} Nothing of it was kept.`,
    };
  } else if (isCorrupt(error)) {
    failure = {
      code: 'DATABASE_CORRUPT',
      message: `${what} failed: the database ${path} is damaged (${cause}).`,
    };
  } else {
    failure = { code: 'INTERNAL', message: `${what} failed on ${path}: ${cause}` };
  }
  const result = new RefusalError(refusal(failure.code, failure.message));
  result.cause = error;
  return result;
}

function storageAdvice(code: string): string {
  if (code.startsWith('SQLITE_FULL')) return 'The disk is full: free some space there.';
  if (code.startsWith('SQLITE_READONLY'))
    return 'It cannot be written: check its permissions and how the disk is mounted.';
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'Another program holds it.';
  return 'Check the disk and its free space.';
}
