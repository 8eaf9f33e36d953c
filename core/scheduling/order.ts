/** Phase 3: effective bands, and within each the users in turn, whoever uses least first. */
import { isOverLimit, isUpperBand } from '../budget/effective-band.js';
import { bandRank, bands, type Band } from '../contract/states.js';
import { compareTexts } from '../model/sorted-list.js';
import type { Cluster } from './cluster.js';
import { gateOf } from './gates.js';
import { compareAge, type JobEntry, type UserEntry } from './queue.js';
import type { Rules } from './rules.js';
import type { Shape } from './shape.js';

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

/** Who asks for several cards, of less than half a machine, waits so many times as long as who asks for more. */
const patienceOfSeveral = 4;

/** The wait from which on machines are kept for it; Infinity: never, as what becomes free by itself serves it sooner or later. */
export function waitToReserveMs({ gangBy, isLarge, sharedBytes, gpus }: Shape, rules: Rules): number {
  if (gangBy !== null || isLarge) return rules.reserveAfterMs;
  return sharedBytes === null && gpus > 1
    ? patienceOfSeveral * rules.reserveAfterMs
    : Number.POSITIVE_INFINITY;
}

export interface Elders {
  /** By rank of the band they compete in. */
  readonly byBand: readonly JobEntry[][];
  /** When there will be another one that asks for several cards; Infinity for never. */
  readonly nextMs: number;
}

/**
 * Gangs, then large tasks, that have waited long: of users that hold no card first, then the longest wait first. They are hard to place:
 * were they tried in their users' turns, small work would take what becomes free, and another one would hold the band's reservation in
 * each pass. So would it take each single card from who needs several: of these the first of each user comes as well.
 *
 * A queue of either would leave smaller work no card for as long as it lasts. So nobody comes before the turns who holds more cards than
 * the others that wait do on average: all of them where several cards are asked for; where more is, and all would be too many to keep
 * a machine free beside, those whose smaller work has waited as long. Looked for by shape: a long queue is mostly small work of few shapes.
 */
export function eldersOf(cluster: EldersOf, nowMs: number, rules: Rules): Elders {
  const large: JobEntry[][] = bands.map(() => []);
  const firsts = bands.map(() => new Map<UserEntry, JobEntry>());
  let nextMs = Number.POSITIVE_INFINITY;
  for (const [shape, entries] of cluster.queue.alike) {
    shape.refresh(cluster.table);
    const afterMs = waitToReserveMs(shape, rules);
    if (!Number.isFinite(afterMs)) continue;
    const several = isNeither(shape);
    for (const entry of entries) {
      const { job, user, indexes } = entry;
      if (indexes.length === 0) continue;
      const rank = bandRank(bandOf(entry));
      if (job.waitingSinceMs + afterMs > nowMs) {
        if (several) nextMs = Math.min(nextMs, job.waitingSinceMs + afterMs);
      } else if (!several) large[rank]?.push(entry);
      else if (mayTakeCards(cluster, entry, nowMs)) {
        const first = firsts[rank]?.get(user);
        if (first === undefined || compareAges(entry, first) < 0) firsts[rank]?.set(user, entry);
      }
    }
  }
  const cards = cardsHeld(cluster);
  const byBand = bands.map((_, rank) => {
    let ahead = large[rank] ?? [];
    if (ahead.some(({ shape, user }) => shape.gpus > 0 && cards(user) > 0)) {
      const others = waitersForCards(cluster, rank, nowMs, (shape) =>
        isNeither(shape) ? rules.reserveAfterMs : Number.POSITIVE_INFINITY,
      );
      nextMs = Math.min(nextMs, others.nextMs);
      if (others.users.size > 0) {
        const has = hasMoreOf([...ahead.map(({ user }) => user), ...others.users], cards);
        ahead = ahead.filter(({ shape, user }) => shape.gpus === 0 || !has(user));
      }
    }
    const ofUsers = firsts[rank] ?? new Map<UserEntry, JobEntry>();
    if (ofUsers.size > 0) {
      const has = hasMoreOf(waitersForCards(cluster, rank, nowMs, () => 0).users, cards);
      for (const [user, entry] of ofUsers) if (!has(user)) ahead.push(entry);
    }
    return ahead.sort(
      (left, right) =>
        hardnessOf(right) - hardnessOf(left) ||
        Number(cards(left.user) > 0) - Number(cards(right.user) > 0) ||
        compareAges(left, right),
    );
  });
  return { byBand, nextMs };
}

type EldersOf = Pick<Cluster, 'queue' | 'table' | 'holdings' | 'jobState'>;

/** Nothing but room keeps the next task of it from cards, as far as its job tells. */
function mayTakeCards(cluster: EldersOf, { job, shape, ungated, claims }: JobEntry, nowMs: number): boolean {
  if (shape.gpus === 0 || shape.impossible) return false;
  const active = (cluster.holdings.active.get(job.id) ?? 0) + claims.length;
  if (job.maxActive !== null && active >= job.maxActive) return false;
  return ungated || gateOf(job, nowMs, (id) => cluster.jobState(id)) === null;
}

/** Cards each user holds or is promised. */
function cardsHeld({ queue, holdings }: EldersOf): (user: UserEntry) => number {
  const promised = new Map<UserEntry, number>();
  for (const { jobId, devices } of holdings.allClaims()) {
    const user = queue.jobs.get(jobId)?.user;
    if (user !== undefined) promised.set(user, (promised.get(user) ?? 0) + devices.length);
  }
  return (user) => user.gpus + (promised.get(user) ?? 0);
}

/** Whose work waits for cards in that band, as long as its shape is to; and when the next one will have. */
function waitersForCards(
  cluster: EldersOf,
  rank: number,
  nowMs: number,
  afterMs: (shape: Shape) => number,
): { readonly users: ReadonlySet<UserEntry>; readonly nextMs: number } {
  const users = new Set<UserEntry>();
  let nextMs = Number.POSITIVE_INFINITY;
  for (const [shape, entries] of cluster.queue.alike) {
    const waitMs = afterMs(shape);
    if (!Number.isFinite(waitMs)) continue;
    for (const entry of entries) {
      const { job, user, indexes } = entry;
      if (indexes.length === 0 || users.has(user) || bandRank(bandOf(entry)) !== rank) continue;
      if (!mayTakeCards(cluster, entry, nowMs)) continue;
      const fromMs = job.waitingSinceMs + waitMs;
      if (fromMs > nowMs) nextMs = Math.min(nextMs, fromMs);
      else users.add(user);
    }
  }
  return { users, nextMs };
}

/** Whether a user has more than all of them do on average. */
function hasMoreOf(
  users: Iterable<UserEntry>,
  cards: (user: UserEntry) => number,
): (user: UserEntry) => boolean {
  const all = new Set(users);
  let sum = 0;
  for (const user of all) sum += cards(user);
  return (user) => all.has(user) && cards(user) * all.size > sum;
}

function isNeither({ gangBy, isLarge }: Shape): boolean {
  return gangBy === null && !isLarge;
}

/** Gangs, then large tasks, then those that ask for several cards. */
function hardnessOf({ job, shape }: JobEntry): number {
  return job.gangBy !== null ? 2 : Number(shape.isLarge);
}

function compareAges(left: JobEntry, right: JobEntry): number {
  return left.job.waitingSinceMs - right.job.waitingSinceMs || compareAge(left.job, right.job);
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
