/** Budgets of users on a real database. */
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { noQuota } from '../../core/contract/budgets.js';
import type { AuditEntry, UserBudget } from '../../core/model/entities.js';
import type { Store } from '../../main/store/types.js';
import { changes, makeFolder, openTestStore, startMs, type Folder } from './builders.js';

let folder: Folder;
let store: Store;

beforeEach(() => {
  folder = makeFolder();
  store = openTestStore(folder.database);
});
afterEach(() => {
  store.close();
  folder.remove();
});

const row = (part: Partial<UserBudget>): UserBudget => ({
  user: 'bob',
  limit: 700,
  maxBand: 'INTERACTIVE',
  allow: [],
  quota: noQuota,
  updatedAtMs: startMs,
  ...part,
});

function read(): readonly UserBudget[] {
  store.close();
  store = openTestStore(folder.database);
  return store.loadLive().budgets;
}

it('there are none until one is set', () => {
  expect(store.loadLive().budgets).toEqual([]);
});

it.each<Partial<UserBudget>>([
  { limit: 700 },
  { limit: 'unlimited' },
  { limit: 'default' },
  { maxBand: 'BATCH' },
  { maxBand: 'SYSTEM' },
  { allow: ['SYSTEM', 'PRODUCTION'] },
  { quota: { tasks: 10, gpus: 4, cpuMillicores: 1500, memoryBytes: 64_000_000_000 } },
  { quota: { ...noQuota, gpus: 0 } },
  { user: 'Zoë von Ä', updatedAtMs: startMs + 5 },
])('come back as they were written: %j', (part) => {
  store.commit(changes({ budgets: [row(part)] }));
  expect(read()).toEqual([row(part)]);
});

it('one row a user: the last one counts, names differ by case', () => {
  store.commit(changes({ budgets: [row({ allow: ['PRODUCTION'] }), row({ user: 'Bob', limit: 3 })] }));
  store.commit(
    changes({ budgets: [row({ limit: 'unlimited', maxBand: 'BATCH', updatedAtMs: startMs + 1 })] }),
  );
  expect(read()).toEqual([
    row({ user: 'Bob', limit: 3 }),
    row({ limit: 'unlimited', maxBand: 'BATCH', updatedAtMs: startMs + 1 }),
  ]);
});

it('are kept with their audit row or not at all', () => {
  const entry: AuditEntry = { atMs: startMs, actor: 'ann', action: 'budget_set', entity: '/bob', detail: {} };
  const unwritable = { ...entry, detail: null } as unknown as AuditEntry;
  expect(() => store.commit(changes({ budgets: [row({})], audit: [unwritable] }))).toThrow();
  expect(read()).toEqual([]);
  store.commit(changes({ budgets: [row({})], audit: [entry] }));
  expect(read()).toEqual([row({})]);
});

it('no limit is stored as 0, the default as nothing, as the original has it', () => {
  store.commit(changes({ budgets: [row({ limit: 'unlimited' }), row({ user: 'eve', limit: 'default' })] }));
  const database = new Database(folder.database, { readonly: true });
  const stored = database.prepare('SELECT user_id, budget_limit, max_band FROM user_budgets').all();
  database.close();
  expect(stored).toEqual([
    { user_id: 'bob', budget_limit: 0, max_band: 2 },
    { user_id: 'eve', budget_limit: null, max_band: 2 },
  ]);
});
