/** Use over time on a real database: kept with the round it belongs to, and begun from the attempts there were. */
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AuditEntry, UserUse } from '../../core/model/entities.js';
import { openConnection } from '../../main/store/connection.js';
import { migrate } from '../../main/store/migrate.js';
import { migrations } from '../../main/store/migrations/index.js';
import { userUses } from '../../main/store/migrations/008-user-uses.js';
import { changes, makeFolder, openTestStore, silent, startMs, type Folder } from './builders.js';

const hour = 3_600_000;
let folder: Folder;

beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => {
  folder.remove();
});

const use = (user: string, gpus: number): UserUse => ({
  user,
  used: { gpus, memory: 2 ** 60 + 0.5, processors: 0.1 },
  faded: { gpus: 1e-300, memory: 2 ** 200, processors: -1e-12 },
});

it('comes back to the last digit, one row a user, the last one', () => {
  const store = openTestStore(folder.database);
  expect(store.loadLive().uses).toEqual([]);
  store.commit(changes({ uses: [use('bob', 1), use('Bob', 2), use('Zoë', 3)] }));
  store.commit(changes({ uses: [use('bob', 4)] }));
  store.close();
  const again = openTestStore(folder.database);
  expect(again.loadLive().uses).toEqual([use('Bob', 2), use('Zoë', 3), use('bob', 4)]);
  again.close();
});

it('is kept with its round or not at all', () => {
  const store = openTestStore(folder.database);
  const entry: AuditEntry = { atMs: startMs, actor: 'ann', action: 'budget_set', entity: '/bob', detail: {} };
  const unwritable = { ...entry, detail: null } as unknown as AuditEntry;
  expect(() => store.commit(changes({ uses: [use('bob', 1)], audit: [unwritable] }))).toThrow();
  expect(store.loadLive().uses).toEqual([]);
  store.close();
});

it('begins with what the attempts of an older database tell of', () => {
  const path = folder.database;
  const older = migrations.filter(({ version }) => version < userUses.version);
  const options = { nowMs: () => startMs, log: silent, appVersion: '0.1.0' };
  new Database(path).close();
  const before = openConnection(path, silent, { readOnly: false });
  migrate(before, { ...options, migrations: older });
  before.close();
  // A row written by hand, since the store of today writes what was not there then.
  const database = new Database(path);
  const insert = (table: string, row: Record<string, unknown>) =>
    database
      .prepare(
        `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row)
          .map(() => '?')
          .join(', ')})`,
      )
      .run(...Object.values(row));
  const job = (id: string, band: number, submittedBy: string) =>
    insert('jobs', {
      id,
      user: 'ann',
      submitted_by: submittedBy,
      root_id: id,
      depth: 1,
      name: id,
      name_key: id,
      state: 4,
      band,
      submitted_at_ms: startMs,
      root_submitted_at_ms: startMs,
      num_tasks: 1,
      gpu_count: 0,
      command_line: '',
      search_text: '',
    });
  let uids = 0;
  const attempt = (jobId: string, number: number, hours: number | null, devices: string | null) =>
    insert('attempts', {
      job_id: jobId,
      task_index: 0,
      number,
      uid: `u${(uids += 1)}`,
      state: 4,
      backend_id: 'b',
      worker_id: 'w',
      created_at_ms: startMs,
      finished_at_ms: hours === null ? null : startMs + hours * hour,
      devices,
      cpu_millicores: 4500,
      memory_bytes: 8.5 * 2 ** 30,
    });
  database.pragma('foreign_keys = OFF');
  job('/ann/own', 2, 'ann');
  job('/ann/batch', 3, 'ann');
  job('/ann/others', 1, 'bob');
  job('/ann/admins', 2, 'local_admin');
  attempt('/ann/own', 0, 2, '["GPU-1","GPU-2"]');
  attempt('/ann/own', 1, 1, null);
  attempt('/ann/own', 2, null, '["GPU-1"]');
  attempt('/ann/batch', 0, 100, '["GPU-1"]');
  attempt('/ann/others', 0, 3, '["GPU-3"]');
  attempt('/ann/admins', 0, -1, '["GPU-3"]');
  database.close();
  const now = openConnection(path, silent, { readOnly: false });
  migrate(now, { ...options, migrations: [...older, userUses] });
  now.close();
  const read = new Database(path, { readonly: true });
  const rows = read.prepare('SELECT * FROM user_uses ORDER BY user_id').all();
  read.close();
  const faded = { faded_gpus: 0, faded_memory: 0, faded_processors: 0 };
  expect(rows).toEqual([
    { user_id: 'ann', gpus: 4000 * hour, memory: 24 * hour, processors: 60 * hour, ...faded },
    { user_id: 'bob', gpus: 3000 * hour, memory: 24 * hour, processors: 60 * hour, ...faded },
  ]);
});
