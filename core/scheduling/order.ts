/** Phase 3: effective bands, and within each the users in turn, whoever uses least first. */
import { isOverLimit, isUpperBand } from '../budget/effective-band.js';
import { bandRank, bands, type Band } from '../contract/states.js';
import { compareTexts } from '../model/sorted-list.js';
import type { Cluster } from './cluster.js';
import { gateOf } from './gates.js';
import { compareAge, type JobEntry, type UserEntry } from './queue.js';
import type { Rules } from './rules.js';
import { Quotas } from './quota.js';
import { sharesMachines, type Shape } from './shape.js';

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
 * a machine free beside, those whose smaller work has waited as long. Only who waits for some of the same machines counts. Looked for by
 * shape: a long queue is mostly small work of few shapes.
 */
export function eldersOf(cluster: EldersOf, nowMs: number, rules: Rules): Elders {
  const large: JobEntry[][] = bands.map(() => []);
  const firsts = bands.map(() => new Map<UserEntry, JobEntry>());
  const quotas = new Quotas(cluster);
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
      else if (mayTakeCards(cluster, quotas, entry, nowMs)) {
        const first = firsts[rank]?.get(user);
        if (first === undefined || compareAges(entry, first) < 0) firsts[rank]?.set(user, entry);
      }
    }
  }
  const cards = cardsHeld(cluster);
  const byBand = bands.map((_, rank) => {
    let ahead = large[rank] ?? [];
    if (ahead.some(({ shape, user }) => shape.gpus > 0 && cards(user) > 0)) {
      const others = waitersForCards(cluster, quotas, rank, nowMs, (shape) =>
        isNeither(shape) ? rules.reserveAfterMs : Number.POSITIVE_INFINITY,
      );
      nextMs = Math.min(nextMs, others.nextMs);
      const themselves = new Waiters();
      for (const { shape, user } of ahead) themselves.add(shape, user);
      const hasMore = holdersOfMore(cards, others.waiters, themselves);
      ahead = ahead.filter(({ shape, user }) => shape.gpus === 0 || !hasMore(shape, user));
    }
    const ofUsers = firsts[rank] ?? new Map<UserEntry, JobEntry>();
    if (ofUsers.size > 0) {
      const hasMore = holdersOfMore(cards, waitersForCards(cluster, quotas, rank, nowMs, () => 0).waiters);
      for (const [user, entry] of ofUsers) if (!hasMore(entry.shape, user)) ahead.push(entry);
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

/** Nothing but room keeps the next task of it, or the gang, from cards. */
function mayTakeCards(cluster: EldersOf, quotas: Quotas, entry: JobEntry, nowMs: number): boolean {
  const { job, shape, ungated, claims, indexes } = entry;
  if (shape.gpus === 0 || shape.impossible) return false;
  const active = (cluster.holdings.active.get(job.id) ?? 0) + claims.length;
  if (job.maxActive !== null && active >= job.maxActive) return false;
  if (!quotas.allow(entry, job.gangBy === null ? 1 : indexes.length)) return false;
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

/** Users by the shape of what they wait for. */
class Waiters {
  readonly byShape = new Map<Shape, Set<UserEntry>>();

  add(shape: Shape, user: UserEntry): void {
    const users = this.byShape.get(shape);
    if (users === undefined) this.byShape.set(shape, new Set([user]));
    else users.add(user);
  }

  /** Who waits for some of the machines that a task of the shape could have. */
  near(shape: Shape): UserEntry[] {
    return [...this.byShape].flatMap(([other, users]) => (sharesMachines(shape, other) ? [...users] : []));
  }
}

/** Whose work waits for cards in that band, as long as its shape is to; and when the next one will have. */
function waitersForCards(
  cluster: EldersOf,
  quotas: Quotas,
  rank: number,
  nowMs: number,
  afterMs: (shape: Shape) => number,
): { readonly waiters: Waiters; readonly nextMs: number } {
  const waiters = new Waiters();
  let nextMs = Number.POSITIVE_INFINITY;
  for (const [shape, entries] of cluster.queue.alike) {
    const waitMs = afterMs(shape);
    if (!Number.isFinite(waitMs)) continue;
    for (const entry of entries) {
      const { job, user, indexes } = entry;
      if (indexes.length === 0 || waiters.byShape.get(shape)?.has(user) === true) continue;
      if (bandRank(bandOf(entry)) !== rank || !mayTakeCards(cluster, quotas, entry, nowMs)) continue;
      const fromMs = job.waitingSinceMs + waitMs;
      if (fromMs > nowMs) nextMs = Math.min(nextMs, fromMs);
      else waiters.add(shape, user);
    }
  }
  return { waiters, nextMs };
}

/**
 * Whether a user whose task of that shape waits has more cards than those who wait near it do on average, `themselves` among them;
 * nobody has where no other waits.
 */
function holdersOfMore(
  cards: (user: UserEntry) => number,
  others: Waiters,
  themselves = new Waiters(),
): (shape: Shape, user: UserEntry) => boolean {
  const averages = new Map<Shape, number>();
  return (shape, user) => {
    let average = averages.get(shape);
    if (average === undefined) {
      const near = others.near(shape);
      const users = new Set(near.length === 0 ? [] : [...near, ...themselves.near(shape)]);
      const sum = [...users].reduce((all, each) => all + cards(each), 0);
      average = users.size === 0 ? Number.POSITIVE_INFINITY : sum / users.size;
      averages.set(shape, average);
    }
    return cards(user) > average;
  };
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
