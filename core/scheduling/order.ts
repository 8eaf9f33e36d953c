/** Phase 3: effective bands, and within each the users in turn, whoever uses least first. */
import { isOverLimit, isUpperBand } from '../budget/effective-band.js';
import { bandRank, bands, type Band } from '../contract/states.js';
import { compareTexts } from '../model/sorted-list.js';
import { compareAge, type JobEntry, type Queue, type UserEntry } from './queue.js';
import type { WorkerTable } from './worker-table.js';

/** Where one user stands in a band. */
export interface Cursor {
  readonly user: UserEntry;
  /** A demoted user has two lists in BATCH: what was asked for in a better band goes first. */
  readonly lists: readonly (readonly JobEntry[])[];
  listAt: number;
  jobAt: number;
  /** Position in the job's waiting tasks. */
  taskAt: number;
}

export function isDemoted(user: UserEntry, requested: Band): boolean {
  return requested !== 'BATCH' && !isUpperBand(requested) && isOverLimit(user.spend, user.budget.limit);
}

/** The users with waiting work in the band, in their order. */
export function cursorsOf(users: Iterable<UserEntry>, band: Band): Cursor[] {
  const cursors: Cursor[] = [];
  for (const user of users) {
    const lists = listsOf(user, band);
    if (lists.length > 0) cursors.push({ user, lists, listAt: 0, jobAt: 0, taskAt: 0 });
  }
  return cursors.sort(compareCursors);
}

export function headOf(cursor: Cursor): JobEntry | undefined {
  for (; cursor.listAt < cursor.lists.length; cursor.listAt += 1, cursor.jobAt = 0) {
    const entry = cursor.lists[cursor.listAt]?.[cursor.jobAt];
    if (entry !== undefined) return entry;
  }
  return undefined;
}

export function nextJob(cursor: Cursor): void {
  cursor.jobAt += 1;
  cursor.taskAt = 0;
}

/** The band it competes in. */
export function bandOf({ user, job }: JobEntry): Band {
  return isDemoted(user, job.band) ? 'BATCH' : job.band;
}

/**
 * Gangs, then large tasks, that have waited since `sinceMs`, the longest wait first; by rank of the band they compete in. They are hard to
 * place: were they tried in their users' turns, small work would take what becomes free, and another one would hold the band's
 * reservation in each pass. Looked for by shape: a long queue is mostly small work of few shapes.
 */
export function eldersOf(queue: Queue, table: WorkerTable, sinceMs: number): readonly JobEntry[][] {
  const elders: JobEntry[][] = bands.map(() => []);
  for (const [shape, entries] of queue.alike) {
    shape.refresh(table);
    if (shape.gangBy === null && !shape.isLarge) continue;
    for (const entry of entries)
      if (entry.indexes.length > 0 && entry.job.waitingSinceMs <= sinceMs)
        elders[bandRank(bandOf(entry))]?.push(entry);
  }
  for (const list of elders) list.sort(compareElders);
  return elders;
}

function compareElders({ job: left }: JobEntry, { job: right }: JobEntry): number {
  return (
    Number(right.gangBy !== null) - Number(left.gangBy !== null) ||
    left.waitingSinceMs - right.waitingSinceMs ||
    compareAge(left, right)
  );
}

const interactive = bandRank('INTERACTIVE');

function listsOf(user: UserEntry, band: Band): (readonly JobEntry[])[] {
  const demoted = isDemoted(user, 'INTERACTIVE');
  if (band === 'INTERACTIVE' && demoted) return [];
  const lists = band === 'BATCH' && demoted ? [interactive, bandRank(band)] : [bandRank(band)];
  return lists.flatMap((rank) => {
    const jobs = user.lists[rank]?.values ?? [];
    return jobs.length === 0 ? [] : [jobs];
  });
}

function compareCursors(left: Cursor, right: Cursor): number {
  const use = weightOf(left.user) - weightOf(right.user);
  if (use !== 0) return use;
  const [a, b] = [left.lists[0]?.[0]?.job, right.lists[0]?.[0]?.job];
  if (a === undefined || b === undefined) return compareTexts(left.user.id, right.user.id);
  return bandRank(a.band) - bandRank(b.band) || compareAge(a, b);
}

/** Spend decides who is demoted; who goes first is decided by use over time where that is on (never under the original's rules). */
function weightOf(user: UserEntry): number {
  return user.budget.cumulative ?? user.spend;
}

export const bandsInOrder: readonly Band[] = bands;
