/** How the database goes about the job list: by an index where there is one, whole rows only for what is shown. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobFilter, JobSort } from '../../core/contract/api.js';
import { openConnection, type Connection } from '../../main/store/connection.js';
import { openReads } from '../../main/store/reads.js';
import type { Reads } from '../../main/store/types.js';
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

const newest: JobSort = { key: 'submitted', descending: true };
const keys = ['submitted', 'name', 'state', 'finished', 'duration'] as const;

let folder: Folder;
let reads: Reads;
let database: Connection;
let statements: string[] = [];

beforeAll(() => {
  folder = makeFolder();
  const store = openTestStore(folder.database, { nowMs: () => startMs });
  store.commit(changes(labRecords()));
  // Equal in all but their ids.
  store.commit(together(['/ann/x', '/bob/x', '/carl/x'].flatMap((id) => lifeOfJob(id))));
  store.close();
  const options = { path: folder.database, nowMs: () => startMs, log: silent };
  reads = openReads({ ...options, trace: (sql) => statements.push(sql) });
  database = openConnection(folder.database, silent, { readOnly: true });
});
afterAll(() => {
  reads.close();
  database.close();
  folder.remove();
});

/** The plans of the statements about the list itself, a line a step. */
function plansOf(work: () => void): string[] {
  statements = [];
  work();
  const own = statements.filter((sql) => sql.includes('FROM jobs WHERE') && !sql.includes('json_each'));
  return own.map((sql) =>
    database
      .prepare<{ detail: string }>('plan', `EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map((step) => step.detail)
      .join('\n'),
  );
}

const listed = (filter: JobFilter, sort: JobSort) => plansOf(() => reads.jobList(filter, sort, 0, 1));

describe('a page of the job list', () => {
  it.each<[string, JobFilter, JobSort, string]>([
    ['of roots, newest first', {}, newest, 'COVERING INDEX jobs_by_submission'],
    ['of all, newest first', { rootsOnly: false }, newest, 'COVERING INDEX jobs_by_time'],
    ['of a user', { user: 'ann' }, newest, 'COVERING INDEX jobs_by_user'],
    ['of a state', { states: ['SUCCEEDED'] }, newest, 'COVERING INDEX jobs_by_state'],
    ['by name', {}, { key: 'name', descending: false }, 'COVERING INDEX jobs_by_name'],
    ['by state', {}, { key: 'state', descending: true }, 'COVERING INDEX jobs_by_state'],
    ['by end', {}, { key: 'finished', descending: true }, 'COVERING INDEX jobs_by_finish'],
  ])('%s is found in an index alone', (_name, filter, sort, index) => {
    const [page, count] = listed(filter, sort);
    expect(page).toContain(`USING ${index}`);
    expect(count).toContain('USING COVERING INDEX');
  });

  it('is not sorted anew where the index has its order', () => {
    const end: JobSort = { key: 'finished', descending: true };
    for (const [filter, sort] of [
      [{}, newest],
      [{ rootsOnly: false }, newest],
      [{}, end],
    ] as const) {
      // The one sort is that of the rows on the page.
      const sorts = listed(filter, sort)[0]?.match(/USE TEMP B-TREE/g);
      expect([filter, sort, sorts?.length]).toEqual([filter, sort, 1]);
    }
  });

  it('reads every searched text in the order of the table', () => {
    for (const filter of [
      {},
      { rootsOnly: false },
      { states: ['SUCCEEDED', 'FAILED'] },
    ] satisfies JobFilter[])
      expect(listed({ ...filter, search: 'train' }, newest)[1]).toBe('SCAN jobs');
    // Few are running: those are looked through.
    expect(listed({ states: ['SUCCEEDED'], user: 'ann', search: 'x' }, newest)[1]).not.toBe('SCAN jobs');
  });

  it('says by itself how many there are when it is the last', () => {
    const { total } = reads.jobList({}, newest, 0, 100);
    expect(plansOf(() => reads.jobList({}, newest, total - 1, 2))).toHaveLength(1);
    expect(plansOf(() => reads.jobList({ search: 'nothing of the kind' }, newest, 0, 2))).toHaveLength(1);
    // It may be full by chance, or lie behind the end.
    expect(plansOf(() => reads.jobList({}, newest, total - 2, 2))).toHaveLength(2);
    expect(reads.jobList({}, newest, total + 5, 2)).toEqual({ total, rows: [] });
  });

  it.each(keys)('neither repeats nor skips a job in the order by %s', (key) => {
    for (const descending of [true, false])
      for (const filter of [
        {},
        { rootsOnly: false },
        { search: 'x' },
        { states: ['SUCCEEDED'] },
      ] satisfies JobFilter[]) {
        const sort: JobSort = { key, descending };
        const whole = reads.jobList(filter, sort, 0, 100);
        expect(whole.total).toBe(whole.rows.length);
        const pages: string[] = [];
        for (let offset = 0; offset < whole.total; offset += 2) {
          const page = reads.jobList(filter, sort, offset, 2);
          expect(page.total).toBe(whole.total);
          pages.push(...page.rows.map((row) => row.id));
        }
        expect(pages).toEqual(whole.rows.map((row) => row.id));
      }
  });
});

it('finds a job by its name, not among all of its user', () => {
  expect(plansOf(() => reads.resolveJob('x', 'ann')).at(-1)).toContain('jobs_by_name (name_key=?)');
  expect(reads.resolveJob('X', 'bob')).toBe('/bob/x');
  expect(reads.resolveJob('x', 'nobody')).toBeNull();
});
