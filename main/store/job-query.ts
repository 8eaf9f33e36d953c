/** The job list's filter and order as SQL. Values are always bound; only words of this file become part of a statement. */
import type { JobFilter, JobSort } from '../../core/contract/api.js';
import { stateNumbers } from './codes.js';

export interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** A pattern that finds the text anywhere, taken literally. */
function containing(text: string): string {
  return `*${text.replaceAll(/[*?[]/g, '[$&]')}*`;
}

/** Each word of a search, lower case as the searched text is; the longest first, as it excludes most. */
export function searchWords(search: string): string[] {
  const words = search
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== '');
  return [...new Set(words)].sort((a, b) => b.length - a.length);
}

/** `scan`: not by an index that knows the depth only, as most jobs are roots. */
function filterCondition(filter: JobFilter, scan: boolean): Condition {
  const parts: string[] = [];
  const values: (string | number)[] = [];
  // To SQLite a term with a plus is none an index could serve.
  if (filter.rootsOnly ?? true) parts.push(scan ? '+depth = 1' : 'depth = 1');
  if (filter.states !== undefined) {
    // In order and once each, so that equal filters are one prepared statement.
    const numbers = [...new Set(filter.states.map((state) => stateNumbers[state]))].sort((a, b) => a - b);
    parts.push(`state IN (${numbers.join(', ')})`);
  }
  if (filter.user !== undefined) {
    parts.push('user = ?');
    values.push(filter.user);
  }
  if (filter.sinceMs !== undefined) {
    parts.push('submitted_at_ms >= ?');
    values.push(filter.sinceMs);
  }
  if (filter.finishedSinceMs !== undefined) {
    parts.push('finished_at_ms >= ?');
    values.push(filter.finishedSinceMs);
  }
  for (const word of searchWords(filter.search ?? '')) {
    // GLOB is twice as fast as instr over 100,000 jobs, and unlike LIKE folds no case: both sides are lower case already.
    parts.push('search_text GLOB ?');
    values.push(containing(word));
  }
  return { sql: parts.length === 0 ? 'true' : parts.join(' AND '), values };
}

/** Leaves few of the jobs, which an index finds; mostly they have succeeded. */
function isNarrowed({ states, user, sinceMs, finishedSinceMs }: JobFilter): boolean {
  const someStates = states !== undefined && !states.includes('SUCCEEDED');
  return someStates || [user, sinceMs, finishedSinceMs].some((part) => part !== undefined);
}

/** How many the filter finds. */
export function countQuery(filter: JobFilter): Condition {
  // Every searched text has to be read: in the order of the table that takes half the time of any other.
  const scan = searchWords(filter.search ?? '').length > 0 && !isNarrowed(filter);
  const where = filterCondition(filter, scan);
  return { sql: `SELECT count(*) AS count FROM jobs WHERE ${where.sql}`, values: where.values };
}

/** A page of what it finds. Which rows these are is settled by their keys alone, mostly in an index, before any is read whole. */
export function pageQuery(
  columns: string,
  filter: JobFilter,
  sort: JobSort,
  page: { readonly offset: number; readonly limit: number; readonly nowMs: number },
): Condition {
  // By name: its own index. By duration: no index helps.
  const scan = (sort.key === 'name' || sort.key === 'duration') && !isNarrowed(filter);
  const where = filterCondition(filter, scan);
  const order = sortOrder(sort, page.nowMs);
  return {
    sql: `SELECT ${columns} FROM jobs WHERE seq IN (
       SELECT seq FROM jobs WHERE ${where.sql} ORDER BY ${order.sql} LIMIT ? OFFSET ?)
     ORDER BY ${order.sql}`,
    values: [...where.values, ...order.values, page.limit, page.offset, ...order.values],
  };
}

/** Ends in a unique column, so that pages never repeat or skip a job; within equals the newest first; absent times last. */
function sortOrder(sort: JobSort, nowMs: number): Condition {
  const direction = sort.descending ? 'DESC' : 'ASC';
  const newest = 'submitted_at_ms DESC, seq DESC';
  switch (sort.key) {
    case 'submitted':
      return { sql: `submitted_at_ms ${direction}, seq ${direction}`, values: [] };
    case 'name':
      return { sql: `name_key ${direction}, ${newest}`, values: [] };
    case 'state':
      return { sql: `state ${direction}, ${newest}`, values: [] };
    case 'finished':
      // By seq alone, as the index has them: downwards nothing is left to sort.
      return { sql: `finished_at_ms ${direction} NULLS LAST, seq DESC`, values: [] };
    case 'duration':
      return {
        sql: `coalesce(finished_at_ms, ?) - started_at_ms ${direction} NULLS LAST, ${newest}`,
        values: [nowMs],
      };
  }
}
