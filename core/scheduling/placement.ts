/**
 * Phase 4 of our rules. One task goes to the machine that meets most preferences, then to the one with the fewest free cards, so that
 * whole machines stay whole, then to the first by id. A gang goes to the tightest group that holds all of it.
 */
import { cardsToJoin } from './open-cards.js';
import { isCandidate, type Shape } from './shape.js';
import type { Working } from './working.js';

/** Machines that may have more to give than before are looked at again; what failed before may not fail again in a new pass. */
function begin(shape: Shape, working: Working): void {
  shape.refresh(working.table);
  const { grown, grownBase } = working;
  if (shape.grownSeen < grownBase) shape.forget();
  else
    for (let at = shape.grownSeen - grownBase; at < grown.length; at += 1) shape.reconsider(grown[at] ?? 0);
  shape.grownSeen = grownBase + grown.length;
  if (shape.epoch === working.epoch) return;
  shape.epoch = working.epoch;
  shape.failedBand = -1;
  shape.failedSize = 0;
  shape.tooLarge = Number.POSITIVE_INFINITY;
}

/** A machine on which a task of the shape can start at once; -1 for none. */
export function findMachine(shape: Shape, working: Working): number {
  begin(shape, working);
  if (shape.exhausted) return -1;
  if (shape.sharedBytes !== null) return findShare(shape, working);
  const { words } = working.table;
  const first = shape.gpus === 0 ? 0 : shape.gpus + 1;
  for (const alive of shape.alive) {
    for (let bucket = first; bucket < working.bucketCount; bucket += 1) {
      const set = shape.row * working.bucketCount + bucket;
      if (working.bucketSizes[set] === 0) continue;
      const base = set * words;
      for (let word = 0; word < words; word += 1) {
        let bits = (working.buckets[base + word] ?? 0) & (alive[word] ?? 0);
        while (bits !== 0) {
          const bit = bits & -bits;
          const worker = (word << 5) + 31 - Math.clz32(bit);
          if (working.fitsNow(shape, worker)) return worker;
          // It stays too full until something of it is freed.
          alive[word] = (alive[word] ?? 0) & ~bit;
          bits ^= bit;
        }
      }
    }
  }
  shape.exhausted = true;
  return -1;
}

/** A machine on which cards are shared already comes first, so that whole cards stay whole. */
function findShare(shape: Shape, working: Working): number {
  for (const alive of shape.alive) {
    let best = -1;
    let most = -1;
    for (let word = 0; word < alive.length; word += 1) {
      for (let bits = alive[word] ?? 0; bits !== 0;) {
        const bit = bits & -bits;
        bits ^= bit;
        const worker = (word << 5) + 31 - Math.clz32(bit);
        if ((working.reserved[worker] ?? 0) > 0) continue;
        if (!working.fitsNow(shape, worker)) {
          alive[word] = (alive[word] ?? 0) & ~bit;
          continue;
        }
        const shared = cardsToJoin(working, shape, worker);
        if (shared > most) [best, most] = [worker, shared];
      }
    }
    if (best >= 0) return best;
  }
  return -1;
}

/** Machines for all members of a gang, one entry each and in order; null when no group holds them at once. */
export function findGroup(shape: Shape, size: number, working: Working): readonly number[] | null {
  begin(shape, working);
  // Room only shrinks within a pass.
  if (size >= shape.tooLarge) return null;
  const { groups, versions } = working.groupings.by(shape.gangBy ?? '', working.table);
  const { members } = groups;
  if (shape.groupSlots.length !== members.length) {
    shape.groupSlots = new Int32Array(members.length);
    shape.groupSeen = new Int32Array(members.length).fill(-1);
  }
  let best = -1;
  let bestScore = 0;
  for (let group = 0; group < members.length; group += 1) {
    if (shape.groupSeen[group] !== versions[group]) {
      shape.groupSeen[group] = versions[group] ?? 0;
      shape.groupSlots[group] = roomOf(shape, members[group], working);
    }
    const room = shape.groupSlots[group] ?? 0;
    if (room < size) continue;
    const score = shape.scores.length > 1 ? scoreOf(shape, members[group]) : 0;
    const tighter = best >= 0 && room < (shape.groupSlots[best] ?? 0);
    if (best < 0 || score > bestScore || (score === bestScore && tighter)) {
      best = group;
      bestScore = score;
    }
  }
  if (best >= 0) return fillGroup(shape, size, members[best], working);
  shape.tooLarge = size;
  return null;
}

function roomOf(shape: Shape, members: Int32Array | undefined, working: Working): number {
  let room = 0;
  for (const worker of members ?? [])
    if (mayTake(shape, worker, working)) room += working.roomNow(shape, worker);
  return room;
}

/** Preferences met by all machines of the group together. */
function scoreOf(shape: Shape, members: Int32Array | undefined): number {
  let sum = 0;
  for (const worker of members ?? []) {
    const level = shape.levels.findIndex((set) => hasBit(set, worker));
    sum += shape.scores[level] ?? 0;
  }
  return sum;
}

/** On as few machines as hold them: the roomiest first, and for the rest the one that it fills best. */
function fillGroup(
  shape: Shape,
  size: number,
  members: Int32Array | undefined,
  working: Working,
): readonly number[] {
  const rooms = Array.from(members ?? [])
    .filter((worker) => mayTake(shape, worker, working))
    .map((worker) => ({ worker, room: working.roomNow(shape, worker) }))
    .filter(({ room }) => room > 0)
    .sort((left, right) => right.room - left.room || left.worker - right.worker);
  const places: number[] = [];
  for (let at = 0; at < rooms.length && places.length < size; at += 1) {
    const rest = size - places.length;
    const roomiest = rooms[at];
    if (roomiest === undefined) break;
    let chosen = roomiest;
    if (roomiest.room > rest) {
      for (const other of rooms.slice(at)) if (other.room >= rest && other.room < chosen.room) chosen = other;
    }
    for (let count = Math.min(rest, chosen.room); count > 0; count -= 1) places.push(chosen.worker);
  }
  return places.sort((left, right) => left - right);
}

function mayTake(shape: Shape, worker: number, working: Working): boolean {
  return (working.reserved[worker] ?? 0) === 0 && isCandidate(shape, worker);
}

function hasBit(set: Uint32Array, worker: number): boolean {
  return ((set[worker >>> 5] ?? 0) & (1 << (worker & 31))) !== 0;
}
