/** What the controller reads at its start and in its rounds takes as long as what it reads, however many jobs are over. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openConnection, type Connection } from '../../main/store/connection.js';
import { createLoader, type Loader } from '../../main/store/loads.js';
import {
  changes,
  lifeOfJob,
  makeFolder,
  openTestStore,
  silent,
  startMs,
  together,
  type Folder,
} from './builders.js';
import { labRecords } from './fixtures/lab.js';

let folder: Folder;
let database: Connection;
let loader: Loader;
let statements: string[] = [];

beforeAll(() => {
  folder = makeFolder();
  const store = openTestStore(folder.database, { nowMs: () => startMs });
  store.commit(changes(labRecords()));
  store.commit(together(['/ann/x', '/bob/x', '/ann/y'].flatMap((id) => lifeOfJob(id))));
  store.close();
  database = openConnection(folder.database, silent, {
    readOnly: true,
    trace: (sql) => statements.push(sql),
  });
  loader = createLoader(database);
});
afterAll(() => {
  database.close();
  folder.remove();
});

/** A line a step of every statement about jobs, tasks or attempts. */
function stepsOf(work: () => void): string[] {
  statements = [];
  work();
  const own = statements.filter((sql) => /FROM (jobs|roots)\b/.test(sql));
  return own.flatMap((sql) =>
    database
      .prepare<{ detail: string }>('plan', `EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map((step) => step.detail),
  );
}

it('finds what lives through the indexes of that, and of each tree what belongs to it', () => {
  const scans = stepsOf(() => loader.live(startMs)).filter((step) => /^SCAN (?!roots)/.test(step));
  expect([...new Set(scans)].sort()).toEqual([
    'SCAN a USING INDEX attempts_unfinished',
    // The counts are of all there are.
    'SCAN jobs USING COVERING INDEX jobs_by_state',
    'SCAN jobs USING INDEX jobs_live',
  ]);
});

it('finds a tree, and the latest job of a name, without looking at any other', () => {
  expect(
    stepsOf(() => loader.tree('/ann/Train')).filter((step) => /^SCAN (jobs|j|t|a)\b/.test(step)),
  ).toEqual([]);
  expect(stepsOf(() => loader.latestNamed('ann', null, 'X'))[0]).toContain('jobs_by_name (name_key=?)');
  expect(loader.latestNamed('bob', null, 'X')?.id).toBe('/bob/x');
  expect(loader.latestNamed('ann', '/ann/Train', 'EVAL')?.id).toBe('/ann/Train/eval');
  expect(loader.latestNamed('ann', null, 'eval')).toBeNull();
});
