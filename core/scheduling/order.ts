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
 * Gangs, then large tasks, that have waited long, the longest wait first. They are hard to place: were they tried in their users' turns,
 * small work would take what becomes free, and another one would hold the band's reservation in each pass. So would it take each single
 * card from who needs several: of these the first of each user comes as well, while that user holds no more than a share of the cards;
 * or a queue of them would leave nobody else any for as long as it lasts. Looked for by shape: a long queue is mostly small work of few
 * shapes.
 */
export function eldersOf(cluster: EldersOf, nowMs: number, rules: Rules): Elders {
  const byBand: JobEntry[][] = bands.map(() => []);
  const firsts = bands.map(() => new Map<UserEntry, JobEntry>());
  let nextMs = Number.POSITIVE_INFINITY;
  for (const [shape, entries] of cluster.queue.alike) {
    shape.refresh(cluster.table);
    const afterMs = waitToReserveMs(shape, rules);
    if (!Number.isFinite(afterMs)) continue;
    const several = shape.gangBy === null && !shape.isLarge;
    for (const entry of entries) {
      const { job, user, indexes } = entry;
      if (indexes.length === 0) continue;
      const rank = bandRank(bandOf(entry));
      if (job.waitingSinceMs + afterMs > nowMs) {
        if (several) nextMs = Math.min(nextMs, job.waitingSinceMs + afterMs);
      } else if (!several) byBand[rank]?.push(entry);
      else if (mayTakeCards(cluster, entry, nowMs)) {
        const first = firsts[rank]?.get(user);
        if (first === undefined || compareElders(entry, first) < 0) firsts[rank]?.set(user, entry);
      }
    }
  }
  for (const [rank, ofUsers] of firsts.entries()) {
    if (ofUsers.size === 0) continue;
    const hasMore = holdersOfMore(cluster, rank, nowMs);
    for (const [user, entry] of ofUsers) if (!hasMore(user)) byBand[rank]?.push(entry);
  }
  for (const list of byBand) list.sort(compareElders);
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

/** Whether a user holds more cards, or is promised them, than those who wait for some in that band do on average. */
function holdersOfMore(cluster: EldersOf, rank: number, nowMs: number): (user: UserEntry) => boolean {
  const { queue, holdings } = cluster;
  const held = new Map<UserEntry, number>();
  for (const entries of queue.alike.values()) {
    for (const entry of entries) {
      const { user, indexes } = entry;
      if (indexes.length === 0 || held.has(user) || bandRank(bandOf(entry)) !== rank) continue;
      if (mayTakeCards(cluster, entry, nowMs)) held.set(user, user.gpus);
    }
  }
  for (const { jobId, devices } of holdings.allClaims()) {
    const user = queue.jobs.get(jobId)?.user;
    const cards = user === undefined ? undefined : held.get(user);
    if (user !== undefined && cards !== undefined) held.set(user, cards + devices.length);
  }
  const all = [...held.values()].reduce((sum, cards) => sum + cards, 0);
  return (user) => (held.get(user) ?? 0) * held.size > all;
}

/** Gangs, then large tasks, then those that ask for several cards. */
function hardnessOf({ job, shape }: JobEntry): number {
  return job.gangBy !== null ? 2 : Number(shape.isLarge);
}

function compareElders(left: JobEntry, right: JobEntry): number {
  return (
    hardnessOf(right) - hardnessOf(left) ||
    left.job.waitingSinceMs - right.job.waitingSinceMs ||
    compareAge(left.job, right.job)
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
