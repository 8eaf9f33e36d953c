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
 * Gangs, then large tasks, that have waited long: first what asks for cards of users that hold none, then the longest wait. They are hard to place:
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
  const waiting = { cluster, quotas: new Quotas(cluster), nowMs };
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
      else if (mayTakeCards(waiting, entry)) {
        const first = firsts[rank]?.get(user);
        if (first === undefined || compareAges(entry, first) < 0) firsts[rank]?.set(user, entry);
      }
    }
  }
  const cards = cardsHeld(cluster);
  const byBand = bands.map((_, rank) => {
    let ahead = large[rank] ?? [];
    if (ahead.some(({ shape, user }) => shape.gpus > 0 && cards(user) > 0)) {
      const others = waitersForCards(waiting, rank, (shape) =>
        isNeither(shape) ? rules.reserveAfterMs : Number.POSITIVE_INFINITY,
      );
      nextMs = Math.min(nextMs, others.nextMs());
      const themselves = new Waiters(waiting);
      for (const entry of ahead) themselves.add(entry, nowMs);
      const hasMore = holdersOfMore(cards, others, themselves);
      ahead = ahead.filter(({ shape, user }) => shape.gpus === 0 || !hasMore(shape, user));
    }
    const ofUsers = firsts[rank] ?? new Map<UserEntry, JobEntry>();
    if (ofUsers.size > 0) {
      const hasMore = holdersOfMore(
        cards,
        waitersForCards(waiting, rank, () => 0),
      );
      for (const [user, entry] of ofUsers) if (!hasMore(entry.shape, user)) ahead.push(entry);
    }
    // Who asks for none comes by its wait: however much of that a user is given, it would still hold no card.
    const isFirst = ({ shape, user }: JobEntry) => shape.gpus > 0 && cards(user) === 0;
    return ahead.sort(
      (left, right) =>
        hardnessOf(right) - hardnessOf(left) ||
        Number(isFirst(right)) - Number(isFirst(left)) ||
        compareAges(left, right),
    );
  });
  return { byBand, nextMs };
}

type EldersOf = Pick<Cluster, 'queue' | 'table' | 'holdings' | 'jobState'>;

interface Waiting {
  readonly cluster: EldersOf;
  readonly quotas: Quotas;
  readonly nowMs: number;
}

/** Nothing but room keeps the next task of it, or the gang, from cards. */
function mayTakeCards({ cluster, quotas, nowMs }: Waiting, entry: JobEntry): boolean {
  const { job, shape, ungated, claims, indexes } = entry;
  if (shape.gpus === 0 || shape.impossible) return false;
  const active = (cluster.holdings.active.get(job.id) ?? 0) + claims.length;
  const tasks = job.gangBy === null ? 1 : indexes.length;
  if (job.maxActive !== null && active + tasks > job.maxActive) return false;
  if (!ungated && gateOf(job, nowMs, (id) => cluster.jobState(id)) !== null) return false;
  return quotas.allow(entry, tasks);
}

/** Cards each user holds or is promised. */
function cardsHeld({ queue, holdings }: EldersOf): (user: UserEntry) => number {
  const promised = new Map<UserEntry, number>();
  for (const { jobId, devices } of holdings.allClaims()) {
    const user = queue.jobs.get(jobId)?.user;
    if (user !== undefined) promised.set(user, (promised.get(user) ?? 0) + devices.length);
  }
  return promised.size === 0 ? (user) => user.gpus : (user) => user.gpus + (promised.get(user) ?? 0);
}

/** Users whose work waits for cards, by the machines it could have: these are few, however many shapes wait. */
class Waiters {
  /** For each user the time from which on some of it counts. */
  private readonly groups = new Map<
    string,
    { readonly shape: Shape; readonly from: Map<UserEntry, number> }
  >();

  constructor(private readonly waiting: Waiting) {}

  add(entry: JobEntry, fromMs: number): void {
    const { shape, user } = entry;
    const group = this.groups.get(shape.machines) ?? { shape, from: new Map<UserEntry, number>() };
    const ms = Math.max(fromMs, this.waiting.nowMs);
    if (ms >= (group.from.get(user) ?? Number.POSITIVE_INFINITY) || !mayTakeCards(this.waiting, entry))
      return;
    group.from.set(user, ms);
    this.groups.set(shape.machines, group);
  }

  /** Who waits for some of the machines that a task of the shape could have. */
  near(shape: Shape): UserEntry[] {
    const users: UserEntry[] = [];
    for (const group of this.groups.values()) {
      if (!sharesMachines(shape, group.shape)) continue;
      for (const [user, ms] of group.from) if (ms <= this.waiting.nowMs) users.push(user);
    }
    return users;
  }

  /** When more of them count; Infinity for never. */
  nextMs(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { from } of this.groups.values())
      for (const ms of from.values()) if (ms > this.waiting.nowMs) next = Math.min(next, ms);
    return next;
  }
}

/** Whose work waits for cards in that band, from when it has waited as long as its shape is to. */
function waitersForCards(waiting: Waiting, rank: number, afterMs: (shape: Shape) => number): Waiters {
  const waiters = new Waiters(waiting);
  for (const [shape, entries] of waiting.cluster.queue.alike) {
    const waitMs = afterMs(shape);
    if (shape.gpus === 0 || !Number.isFinite(waitMs)) continue;
    for (const entry of entries) {
      if (entry.indexes.length > 0 && bandRank(bandOf(entry)) === rank)
        waiters.add(entry, entry.job.waitingSinceMs + waitMs);
    }
  }
  return waiters;
}

/**
 * Whether a user whose task of that shape waits has more cards than those who wait near it do on average, `themselves` among them;
 * nobody has where no other waits.
 */
function holdersOfMore(
  cards: (user: UserEntry) => number,
  others: Waiters,
  themselves: Waiters | null = null,
): (shape: Shape, user: UserEntry) => boolean {
  const averages = new Map<string, number>();
  return (shape, user) => {
    let average = averages.get(shape.machines);
    if (average === undefined) {
      const near = others.near(shape);
      const users = new Set(near.length === 0 ? [] : [...near, ...(themselves?.near(shape) ?? [])]);
      const sum = [...users].reduce((all, each) => all + cards(each), 0);
      average = users.size === 0 ? Number.POSITIVE_INFINITY : sum / users.size;
      averages.set(shape.machines, average);
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
