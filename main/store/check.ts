/** Whether a database is sound, as far as a look at its structure tells. */
import { refusal, RefusalError } from '../../core/contract/errors.js';
import type { Connection } from './connection.js';

/** Throws DATABASE_CORRUPT with the first problems. Reads every page: a second for some hundred megabytes. */
export function refuseUnsound(connection: Connection): void {
  const problems = checkLines(connection, 'quick_check(5)');
  if (problems.length === 0) return;
  throw new RefusalError(
    refusal('DATABASE_CORRUPT', `The database ${connection.path} failed its check: ${problems.join('; ')}.`),
  );
}

/** Problems that one of SQLite's checks has found, empty when there are none. */
export function checkLines(connection: Connection, pragma: string): string[] {
  const rows: unknown = connection.guard('Checking the database', () => connection.database.pragma(pragma));
  if (!Array.isArray(rows)) return [];
  const lines = rows.flatMap((row: unknown) =>
    typeof row === 'object' && row !== null ? [Object.values(row).join(' ')] : [],
  );
  return lines.length === 1 && lines[0] === 'ok' ? [] : lines;
}
