/** Opening a database: made new, brought up from each earlier version, and refused when it must not be touched. */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RefusalError, type Refusal } from '../../core/contract/errors.js';
import { backupBeside } from '../../main/store/backups.js';
import { openConnection } from '../../main/store/connection.js';
import { copySnapshot } from '../../main/store/copy-snapshot.js';
import { migrate, schemaVersion } from '../../main/store/migrate.js';
import { migrations } from '../../main/store/migrations/index.js';
import type { Migration } from '../../main/store/migrations/migration.js';
import { openReads } from '../../main/store/reads.js';
import {
  lifeOfJob,
  makeFolder,
  openTestStore,
  recordingLog,
  silent,
  startMs,
  together,
  type Folder,
} from './builders.js';
import { buildVersion1, version1Content, version1Schema } from './fixtures/version-1.js';

let folder: Folder;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => {
  folder.remove();
});

function refusalOf(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    if (error instanceof RefusalError) return error.refusal;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** What a database is made of, without the layout of its text. */
function schemaOf(path: string): string[] {
  const database = new Database(path, { readonly: true });
  const rows = database
    .prepare<[], { sql: string | null }>('SELECT sql FROM sqlite_schema ORDER BY name')
    .all();
  database.close();
  return rows.flatMap(({ sql }) => (sql === null ? [] : sql.replaceAll(/\s+/g, ' ')));
}

describe('a new database', () => {
  it('is made for its owner only, with settings that keep what was acknowledged', () => {
    const store = openTestStore(folder.database);
    store.commit(together(lifeOfJob('/alice/one')));
    for (const name of ['iris.db', 'iris.db-wal', 'iris.db-shm']) {
      expect([name, statSync(join(folder.path, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
    expect(store.pragmas).toMatchObject({
      journal_mode: 'wal',
      synchronous: 2,
      foreign_keys: 1,
      busy_timeout: 5000,
    });
    expect(store.integrity()).toEqual([]);
    store.close();
    expect(readdirSync(folder.path)).toEqual(['iris.db']);
  });

  it('takes away what others could read of an existing file', () => {
    openTestStore(folder.database).close();
    chmodSync(folder.database, 0o644);
    openTestStore(folder.database).close();
    expect(statSync(folder.database).mode & 0o777).toBe(0o600);
  });
});

describe('a database of version 1', () => {
  it('has the schema the first migration makes', () => {
    const first = migrations.filter((migration) => migration.version === 1);
    writeFileSync(folder.database, '');
    const connection = openConnection(folder.database, silent, { readOnly: false });
    migrate(connection, { nowMs: () => startMs, log: silent, appVersion: '0.1.0', migrations: first });
    connection.close();
    const frozen = join(folder.path, 'frozen.db');
    buildVersion1(frozen);
    expect(first.map((migration) => migration.sql)).toEqual([version1Schema]);
    expect(schemaOf(folder.database)).toEqual(schemaOf(frozen));
  });

  it('has the schema of a new one after its migration', () => {
    buildVersion1(folder.database);
    openTestStore(folder.database).close();
    const fresh = join(folder.path, 'fresh.db');
    openTestStore(fresh).close();
    expect(schemaOf(folder.database)).toEqual(schemaOf(fresh));
  });

  it('opens with all it held', () => {
    buildVersion1(folder.database);
    const store = openTestStore(folder.database);
    const live = store.loadLive();
    expect(live.jobs.map((job) => job.id)).toEqual([version1Content.waiting]);
    expect(live.jobs[0]).toMatchObject({
      spec: version1Content.spec,
      retryOf: version1Content.finished,
      band: 'BATCH',
    });
    expect(live.tasks[0]?.waiting).toEqual({ code: 'WAITS_FOR_CAPACITY', message: 'It waits for 2 GPUs.' });
    expect(live.meta).toEqual({ nextInsertion: 2 });
    expect(live.budgets).toEqual([]);
    expect(live.counts).toEqual({ running: 0, waiting: 1, finished: 1, failedUnseen: 1 });
    expect(live.receipts).toEqual([
      { requestId: 'request-1', atMs: startMs + 1, answer: { jobId: version1Content.finished } },
    ]);
    const done = store.loadTree(version1Content.finished);
    expect(done?.attempts[0]).toMatchObject({
      uid: version1Content.attemptUid,
      devices: ['GPU-1', 'GPU-2'],
      ports: { http: 30001 },
      durationMs: 988.5,
      warnings: [],
    });
    expect(store.integrity()).toEqual([]);
    store.close();
  });
});

describe('migrating', () => {
  const options = { nowMs: () => startMs, log: silent, appVersion: '0.2.0' };
  const [initial] = migrations;
  if (initial === undefined) throw new Error('there is no first migration');
  const second: Migration = {
    version: 2,
    name: 'notes',
    sql: 'ALTER TABLE jobs ADD COLUMN note TEXT; CREATE TABLE notes (x)',
  };
  const broken: Migration = {
    version: 3,
    name: 'broken',
    sql: 'CREATE TABLE half (x); CREATE TABLE notes (x)',
  };

  it('goes forward one version a step, after a backup of what was there', () => {
    buildVersion1(folder.database);
    const log = recordingLog();
    const connection = openConnection(folder.database, silent, { readOnly: false });
    expect(migrate(connection, { ...options, log, migrations: [initial, second] })).toEqual([2]);
    expect(schemaVersion(connection)).toBe(2);
    connection.close();

    const [backup = ''] = readdirSync(join(folder.path, 'backups'));
    expect(backup).toBe('iris-before-v2-2026-01-05T09-00-00.000Z.db');
    const file = join(folder.path, 'backups', backup);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(schemaOf(file)).toEqual(schemaOf(buildFrozen()));
    expect(log.lines.map((line) => line.message)).toEqual([
      'database backed up before its migration',
      'database migrated',
    ]);
    // The copy is a whole database that the version before opens.
    const store = openTestStore(file);
    expect(store.findJob(version1Content.finished)).toEqual({
      state: 'FAILED',
      rootId: version1Content.finished,
    });
    store.close();
  });

  it('leaves the version before when a step fails, and its backup', () => {
    buildVersion1(folder.database);
    const connection = openConnection(folder.database, silent, { readOnly: false });
    const refused = refusalOf(() =>
      migrate(connection, { ...options, migrations: [initial, second, broken] }),
    );
    expect(refused.message).toContain('Migration 3 (broken)');
    expect(refused.message).toContain('notes');
    expect(schemaVersion(connection)).toBe(2);
    connection.close();
    expect(schemaOf(folder.database).join('\n')).not.toContain('half');
    expect(readdirSync(join(folder.path, 'backups'))).toHaveLength(1);
  });

  it('keeps the newest three copies of a step that fails at each start', () => {
    buildVersion1(folder.database);
    for (let second = 1; second <= 5; second += 1) {
      const connection = openConnection(folder.database, silent, { readOnly: false });
      const nowMs = () => startMs + second * 1000;
      refusalOf(() =>
        migrate(connection, {
          ...options,
          nowMs,
          migrations: [initial, { ...broken, version: 2, sql: 'CREATE TABLE jobs (x)' }],
        }),
      );
      connection.close();
    }
    expect(readdirSync(join(folder.path, 'backups')).sort()).toEqual(
      [3, 4, 5].map((second) => `iris-before-v2-2026-01-05T09-00-0${second}.000Z.db`),
    );
  });

  it('leaves nothing of a copy that was broken off by the end of its program', () => {
    buildVersion1(folder.database);
    const backups = join(folder.path, 'backups');
    mkdirSync(backups);
    for (const ending of ['', '-journal'])
      writeFileSync(join(backups, `iris-before-v2-2026-01-04T09-00-00.000Z.db.partial${ending}`), 'half');
    openTestStore(folder.database).close();
    expect(readdirSync(backups)).toEqual(['iris-before-v2-2026-01-05T09-00-00.000Z.db']);
  });

  it('makes no backup of a new database', () => {
    openTestStore(folder.database).close();
    expect(existsSync(join(folder.path, 'backups'))).toBe(false);
  });

  it('numbers its steps from 1 without gaps', () => {
    expect(migrations.map((migration) => migration.version)).toEqual(migrations.map((_, index) => index + 1));
  });

  function buildFrozen(): string {
    const path = join(folder.path, 'frozen.db');
    buildVersion1(path);
    return path;
  }
});

describe('a database that must not be opened', () => {
  it('is refused when a newer version wrote it, and left as it is', () => {
    buildVersion1(folder.database);
    const database = new Database(folder.database);
    database.exec(`INSERT INTO schema_migrations VALUES (99, 'of the future', 1, '9.0.0')`);
    database.close();
    const before = readFileSync(folder.database);
    const refused = refusalOf(() => openTestStore(folder.database));
    expect(refused.code).toBe('DATABASE_NEWER');
    expect(refused.message).toContain('version 99');
    expect(refused.message).toContain(`up to ${migrations.length}`);
    expect(readFileSync(folder.database).equals(before)).toBe(true);
    expect(
      refusalOf(() => openReads({ path: folder.database, nowMs: () => startMs, log: silent })).code,
    ).toBe('DATABASE_NEWER');
  });

  it('is refused when pages of it are damaged, naming the newest backup', async () => {
    const store = openTestStore(folder.database);
    store.commit(
      together(Array.from({ length: 200 }, (_, number) => lifeOfJob(`/alice/job-${number}`)).flat()),
    );
    const backup = await backupBeside(folder.database, 'daily', startMs, (to) =>
      copySnapshot(folder.database, to, silent),
    );
    store.close();
    damage(folder.database, 4096 * 3, 4096 * 4);
    const before = readFileSync(folder.database);
    const refused = refusalOf(() => openTestStore(folder.database));
    expect(refused.code).toBe('DATABASE_CORRUPT');
    expect(refused.message).toContain(backup);
    expect(refused.message).toContain('Nothing was changed or deleted');
    expect(readFileSync(folder.database).equals(before)).toBe(true);
    const restored = openTestStore(backup);
    expect(restored.findJob('/alice/job-199')?.state).toBe('SUCCEEDED');
    restored.close();
  });

  it.each([
    ['gone', () => rmSync(folder.database), 'There is no database'],
    ['empty', () => truncateSync(folder.database), 'is empty'],
  ])('is not begun anew when it is %s and there are copies of it', async (_what, lose, said) => {
    const store = openTestStore(folder.database);
    store.commit(together(lifeOfJob('/alice/one')));
    store.close();
    lose();
    // As a start that ended before it had made anything leaves it.
    openTestStore(folder.database).close();
    rmSync(folder.database);
    const again = openTestStore(folder.database);
    again.commit(together(lifeOfJob('/alice/two')));
    const backup = await backupBeside(folder.database, 'daily', startMs, (to) =>
      copySnapshot(folder.database, to, silent),
    );
    again.close();
    lose();
    const before = readdirSync(folder.path).sort();
    const refused = refusalOf(() => openTestStore(folder.database));
    expect(refused.code).toBe('DATABASE_CORRUPT');
    expect(refused.message).toContain(said);
    expect(refused.message).toContain(`copy ${backup} to ${folder.database}`);
    expect(readdirSync(folder.path).sort()).toEqual(before);
    // Another one beside it has nothing to do with those.
    openTestStore(join(folder.path, 'other.db')).close();
    copyFileSync(backup, folder.database);
    const restored = openTestStore(folder.database);
    expect(restored.findJob('/alice/two')?.state).toBe('SUCCEEDED');
    restored.close();
  });

  it('is refused when it is no database at all', () => {
    writeFileSync(folder.database, 'These are notes of somebody, not a database.'.repeat(100));
    const refused = refusalOf(() => openTestStore(folder.database));
    expect(refused.code).toBe('DATABASE_CORRUPT');
    expect(refused.message).toContain('There is no backup of it yet');
    expect(readFileSync(folder.database, 'utf8')).toContain('These are notes');
  });

  it('is refused when it is another program’s', () => {
    const database = new Database(folder.database);
    database.exec('CREATE TABLE recipes (name TEXT)');
    database.close();
    const refused = refusalOf(() => openTestStore(folder.database));
    expect(refused.code).toBe('FOLDER_UNUSABLE');
    expect(schemaOf(folder.database)).toEqual(['CREATE TABLE recipes (name TEXT)']);
  });

  it('is refused when its folder is missing', () => {
    const refused = refusalOf(() => openTestStore(join(folder.path, 'nowhere', 'iris.db')));
    expect(refused.code).toBe('STORAGE_FAILED');
    expect(refused.message).toContain('nowhere');
  });

  it('is not read before the store has made it', () => {
    const refused = refusalOf(() => openReads({ path: folder.database, nowMs: () => startMs, log: silent }));
    expect(refused.code).toBe('STORAGE_FAILED');
  });
});

function damage(path: string, from: number, length: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(length, 0xa5), 0, length, from);
  closeSync(file);
}
