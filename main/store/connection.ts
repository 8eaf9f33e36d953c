/** One connection to the database: opened with the settings durability rests on, its statements named and timed. */
import Database from 'better-sqlite3';
import { refusal, RefusalError } from '../../core/contract/errors.js';
import { asRefusal } from './failures.js';
import type { StoreLog } from './types.js';

/** Statements slower than this are logged with name and duration. */
export const slowStatementMs = 40;
const busyTimeoutMs = 5000;

type Value = string | number | null;

/** A prepared statement with positional parameters. */
export interface Query<Row> {
  /** Rows changed, and the key of the last row inserted. */
  run(...values: Value[]): { readonly changes: number; readonly lastId: number };
  get(...values: Value[]): Row | undefined;
  all(...values: Value[]): Row[];
}

export interface Connection {
  readonly path: string;
  readonly database: Database.Database;
  /** The row type is the caller's promise about the columns it names. */
  prepare<Row = unknown>(name: string, sql: string): Query<Row>;
  /** Runs `work` in a write transaction; any error rolls back and is thrown as a refusal. */
  write<T>(name: string, work: () => T): T;
  /** Runs `work` on one snapshot of the database. */
  read<T>(name: string, work: () => T): T;
  /** Runs `work` outside of a transaction, errors as refusals. */
  guard<T>(name: string, work: () => T): T;
  pragma(name: string): string | number;
  close(): void;
}

export interface ConnectionOptions {
  readonly readOnly: boolean;
  /** Told of every statement as it runs. */
  readonly trace?: ((sql: string) => void) | undefined;
}

export function openConnection(path: string, log: StoreLog, options: ConnectionOptions): Connection {
  const { readOnly, trace } = options;
  let database: Database.Database;
  try {
    database = new Database(path, {
      timeout: busyTimeoutMs,
      fileMustExist: true,
      readonly: readOnly,
      ...(trace === undefined
        ? {}
        : {
            verbose: (sql: unknown) => {
              trace(String(sql));
            },
          }),
    });
  } catch (error) {
    throw asRefusal(error, 'Opening the database', path);
  }

  function tell(name: string, start: number): void {
    const durationMs = performance.now() - start;
    if (durationMs > slowStatementMs)
      log.warn('slow statement', { name, durationMs: Math.round(durationMs * 10) / 10 });
  }

  // Timed in place: dozens of statements are run for each job, and a function made for each run costs as much as some of them.
  function prepare<Row>(name: string, sql: string): Query<Row> {
    const statement = database.prepare<Value[], Row>(sql);
    return {
      run: (...values) => {
        const start = performance.now();
        try {
          const result = statement.run(...values);
          return { changes: result.changes, lastId: Number(result.lastInsertRowid) };
        } finally {
          tell(name, start);
        }
      },
      get: (...values) => {
        const start = performance.now();
        try {
          return statement.get(...values);
        } finally {
          tell(name, start);
        }
      },
      all: (...values) => {
        const start = performance.now();
        try {
          return statement.all(...values);
        } finally {
          tell(name, start);
        }
      },
    };
  }

  const begin = prepare('begin', 'BEGIN');
  const beginImmediate = prepare('begin immediate', 'BEGIN IMMEDIATE');
  const rollback = prepare('rollback', 'ROLLBACK');

  function transaction<T>(name: string, start: Query<unknown>, work: () => T): T {
    try {
      start.run();
      const result = work();
      commitOf(name).run();
      return result;
    } catch (error) {
      // Some failures (a full disk) have rolled back already.
      if (database.inTransaction) rollback.run();
      throw asRefusal(error, name, path);
    }
  }

  const commits = new Map<string, Query<unknown>>();
  function commitOf(name: string): Query<unknown> {
    let commit = commits.get(name);
    if (commit === undefined) {
      commit = prepare(`commit of ${name}`, 'COMMIT');
      commits.set(name, commit);
    }
    return commit;
  }

  const connection: Connection = {
    path,
    database,
    prepare: (name, sql) => connection.guard(`Preparing '${name}'`, () => prepare(name, sql)),
    write: (name, work) => transaction(name, beginImmediate, work),
    read: (name, work) => transaction(name, begin, work),
    guard: (name, work) => {
      try {
        return work();
      } catch (error) {
        throw asRefusal(error, name, path);
      }
    },
    pragma: (name) => {
      const value: unknown = connection.guard(`Reading ${name}`, () =>
        database.pragma(name, { simple: true }),
      );
      return typeof value === 'number' ? value : String(value);
    },
    close: () => {
      if (database.open) connection.guard('Closing the database', () => database.close());
    },
  };
  return connection;
}

/**
 * Settings of the writing connection. A commit returns only when it is on disk: better-sqlite3 is built with NORMAL for write-ahead
 * logging, which would lose the last commits at a power cut, so FULL is set and read back.
 */
export function makeDurable(connection: Connection): Readonly<Record<string, string | number>> {
  const { database } = connection;
  connection.guard('Setting up the database', () => {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    // On macOS fsync does not reach the platters; these do, and mean nothing elsewhere.
    database.pragma('fullfsync = ON');
    database.pragma('checkpoint_fullfsync = ON');
    // The controller moves the log into the database when idle; this bounds it under steady load.
    database.pragma('wal_autocheckpoint = 4000');
    database.pragma('journal_size_limit = 67108864');
    database.pragma('temp_store = MEMORY');
    database.pragma('trusted_schema = OFF');
  });
  const required = {
    journal_mode: 'wal',
    synchronous: 2,
    foreign_keys: 1,
    busy_timeout: busyTimeoutMs,
  } as const;
  for (const [name, expected] of Object.entries(required)) {
    const found = connection.pragma(name);
    if (found !== expected) {
      throw new RefusalError(
        refusal(
          'STORAGE_FAILED',
          `The database ${connection.path} does not take the setting ${name}: it reads ${found} where ${expected} is ` +
            'needed to keep acknowledged jobs safe. Put the data folder on a local disk.',
        ),
      );
    }
  }
  const read: Record<string, string | number> = {};
  for (const name of [...Object.keys(required), 'wal_autocheckpoint', 'page_size', 'fullfsync']) {
    read[name] = connection.pragma(name);
  }
  return read;
}
