/** Brings a database to the newest schema: forward only, each step in its own transaction, after a backup when there is data. */
import { refusal, RefusalError } from '../../core/contract/errors.js';
import { backupSync } from './backups.js';
import type { Connection } from './connection.js';
import type { Migration } from './migrations/migration.js';
import type { StoreLog } from './types.js';

/** Marks the file as ours ('IRIS'), so that another program's database is never migrated. */
const applicationId = 0x49524953;

export interface MigrateOptions {
  readonly migrations: readonly Migration[];
  readonly nowMs: () => number;
  readonly log: StoreLog;
  readonly appVersion: string;
}

/** The schema version of a database, 0 when it is empty; refuses what is not ours. Changes nothing. */
export function schemaVersion(connection: Connection): number {
  const id = connection.pragma('application_id');
  if (id === applicationId) {
    const row = connection
      .prepare<{ version: number | null }>(
        'schema version',
        'SELECT max(version) AS version FROM schema_migrations',
      )
      .get();
    return row?.version ?? 0;
  }
  const tables = connection
    .prepare<{ count: number }>('count of tables', 'SELECT count(*) AS count FROM sqlite_schema')
    .get();
  if (id === 0 && tables?.count === 0) return 0;
  throw new RefusalError(
    refusal(
      'FOLDER_UNUSABLE',
      `${connection.path} is a database of another program (application id ${id}). Choose another data folder.`,
    ),
  );
}

/** Refuses a database that a newer version of the program wrote. */
export function refuseNewer(connection: Connection, found: number, known: number): void {
  if (found <= known) return;
  throw new RefusalError(
    refusal(
      'DATABASE_NEWER',
      `The database ${connection.path} has schema version ${found}; this program knows versions up to ${known}. ` +
        'A newer version of Iris Desktop wrote it: start that version, or choose another data folder. Nothing was changed.',
    ),
  );
}

/** Returns the versions applied. */
export function migrate(connection: Connection, options: MigrateOptions): readonly number[] {
  const from = schemaVersion(connection);
  const last = options.migrations.at(-1)?.version ?? 0;
  refuseNewer(connection, from, last);
  const missing = options.migrations.filter((migration) => migration.version > from);
  const first = missing[0];
  if (first === undefined) return [];
  if (from > 0) {
    const file = backupSync(connection, `before-v${first.version}`, options.nowMs());
    options.log.info('database backed up before its migration', { from, to: last, file });
  }
  for (const migration of missing) {
    connection.write(`Migration ${migration.version} (${migration.name})`, () => {
      if (migration.version === 1) {
        connection.database.pragma(`application_id = ${applicationId}`);
        connection.database.exec(
          `CREATE TABLE schema_migrations (
             version INTEGER PRIMARY KEY,
             name TEXT NOT NULL,
             applied_at_ms INTEGER NOT NULL,
             app_version TEXT NOT NULL
           ) STRICT`,
        );
      }
      connection.database.exec(migration.sql);
      connection
        .prepare(
          'record of a migration',
          'INSERT INTO schema_migrations(version, name, applied_at_ms, app_version) VALUES (?, ?, ?, ?)',
        )
        .run(migration.version, migration.name, options.nowMs(), options.appVersion);
    });
    options.log.info('database migrated', { version: migration.version, name: migration.name });
  }
  return missing.map((migration) => migration.version);
}
