/** The machine whose victims for one task cost least. */
import type { Victim } from './holdings.js';
import type { Plan } from './preemption.js';
import type { JobEntry } from './queue.js';
import type { Shape } from './shape.js';
import { compareCosts, costOf, type Cost } from './victim-cost.js';
import type { VictimSets } from './victim-sets.js';
import type { Victims } from './victims.js';
import type { Working } from './working.js';

interface MachinePlan {
  readonly worker: number;
  readonly victims: readonly Victim[];
  /** Rank of the best band among the victims: the lower, the dearer. */
  readonly rank: number;
  /** A gang is among them that a small task would rather leave alone. */
  readonly hitsGang: boolean;
  readonly cost: Cost;
}

interface KnownMachine {
  readonly worker: number;
  /** What `Working.touched` was when the plan was made. */
  seen: number;
  plan: MachinePlan | null;
}

/** Those of a pass that were looked at and may still make room, and how far the order of machines was followed. */
interface KnownMachines {
  readonly epoch: number;
  readonly list: KnownMachine[];
  next: number;
}

const worstBand = 3;
/** Machines one search looks at once it has found one: the cheapest victims come first, so the rest would hardly be cheaper. */
const maxMachines = 32;

export class MachineSearch {
  private readonly known = new WeakMap<Shape, (KnownMachines | undefined)[]>();

  constructor(
    private readonly working: Working,
    private readonly victims: Victims,
    private readonly sets: VictimSets,
  ) {}

  /**
   * Machines in the order of their cheapest victims, until that one alone costs more than the best set found, or that many machines
   * were looked at.
   */
  cheapest(entry: JobEntry, band: number): Plan | null {
    const { shape } = entry;
    const reachable = shape.reachableBy(band);
    if (!this.anyOpen(shape, band, reachable)) return null;
    this.sets.begin(shape);
    const known = this.machinesFor(shape, band);
    let best: MachinePlan | null = null;
    let kept = 0;
    for (const machine of known.list) {
      if (!this.isOpen(shape, machine.worker, band)) continue;
      known.list[kept] = machine;
      kept += 1;
      if (machine.seen !== (this.working.touched[machine.worker] ?? 0)) this.lookAt(machine, entry, band);
      best = cheaper(best, machine.plan);
    }
    known.list.length = kept;
    const order = this.victims.machinesInOrder();
    for (let looks = 0; looks < maxMachines && known.next < order.length; known.next += 1) {
      const worker = order[known.next] ?? 0;
      const first = this.victims.on(worker)[0];
      if (first === undefined) continue;
      if (best !== null && isDearer(first.rank, this.sets.compareOne(first, best.cost), best)) break;
      if (((reachable[worker >>> 5] ?? 0) & (1 << (worker & 31))) === 0) continue;
      if (!this.isOpen(shape, worker, band)) continue;
      const machine: KnownMachine = { worker, seen: -1, plan: null };
      known.list.push(machine);
      this.lookAt(machine, entry, band);
      best = cheaper(best, machine.plan);
      if (best !== null) looks += 1;
    }
    return best === null ? null : { workers: [best.worker], victims: best.victims };
  }

  /** False when no machine has room for the shape even without all its victims: then their order is not asked for. */
  private anyOpen(shape: Shape, band: number, reachable: Uint32Array): boolean {
    for (let word = 0; word < reachable.length; word += 1) {
      for (let bits = reachable[word] ?? 0; bits !== 0;) {
        const bit = bits & -bits;
        const worker = (word << 5) + 31 - Math.clz32(bit);
        if (this.isOpen(shape, worker, band)) return true;
        if ((this.working.reserved[worker] ?? 0) === 0) reachable[word] = (reachable[word] ?? 0) & ~bit;
        bits ^= bit;
      }
    }
    return false;
  }

  private isOpen(shape: Shape, worker: number, band: number): boolean {
    return (this.working.reserved[worker] ?? 0) === 0 && this.victims.room(shape, worker, band) > 0;
  }

  private lookAt(known: KnownMachine, entry: JobEntry, band: number): void {
    const { worker } = known;
    const { id } = entry.job;
    // All members of a gang need their places at once: for one card of it, it would wait again far longer than a single task.
    const spares = !entry.shape.isLarge;
    known.seen = this.working.touched[worker] ?? 0;
    known.plan = null;
    for (let threshold = worstBand; threshold > band; threshold -= 1) {
      const single = spares ? this.sets.cheapest(worker, 1, band, threshold, id, [], true) : null;
      const found = single ?? this.sets.cheapest(worker, 1, band, threshold, id);
      if (found === null) continue;
      const rank = found.reduce((least, victim) => Math.min(least, victim.rank), worstBand);
      const hitsGang = spares && found.some(({ gang }) => gang);
      known.plan = { worker, victims: found, cost: costOf(found), rank, hitsGang };
      return;
    }
  }

  private machinesFor(shape: Shape, band: number): KnownMachines {
    const byBand = this.known.get(shape) ?? [];
    this.known.set(shape, byBand);
    const known = byBand[band];
    const { epoch } = this.working;
    if (known?.epoch === epoch) return known;
    const made = { epoch, list: [], next: 0 };
    byBand[band] = made;
    return made;
  }
}

function cheaper(left: MachinePlan | null, right: MachinePlan | null): MachinePlan | null {
  if (left === null || right === null) return left ?? right;
  if (right.rank !== left.rank) return right.rank > left.rank ? right : left;
  if (right.hitsGang !== left.hitsGang) return right.hitsGang ? left : right;
  return compareCosts(right.cost, left.cost) < 0 ? right : left;
}

/** True when no machine whose first victim is of that rank, and compares so with the best set, can have a better one. */
function isDearer(rank: number, compared: number, best: MachinePlan): boolean {
  return rank < best.rank || (!best.hitsGang && compared >= 0);
}
