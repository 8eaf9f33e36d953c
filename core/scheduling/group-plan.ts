/** The victims that make room for a gang in one group of machines. */
import type { Victim } from './holdings.js';
import type { Plan } from './preemption.js';
import type { JobEntry } from './queue.js';
import type { Shape } from './shape.js';
import { costOf, type Cost } from './victim-cost.js';
import type { VictimSets } from './victim-sets.js';
import type { Victims } from './victims.js';
import type { Working } from './working.js';

export interface GroupPlan extends Plan {
  /** Rank of the best band among the victims: the lower, the dearer. */
  readonly rank: number;
  readonly cost: Cost;
}

const worstBand = 3;

/** What would be given first on each machine, with what `Working.touched` was at the time; it holds for one pass. */
interface FirstSteps {
  readonly epoch: number;
  readonly seen: Int32Array;
  readonly steps: (Step | null)[];
}

export class GroupPlanner {
  private readonly firstSteps = new WeakMap<Shape, FirstSteps[]>();

  constructor(
    private readonly working: Working,
    private readonly victims: Victims,
    private readonly sets: VictimSets,
  ) {}

  /** Over those machines of a group that could hold any: the plan of the worst victims' bands that makes room; null for none. */
  planFor(entry: JobEntry, members: readonly number[], band: number, size: number): GroupPlan | null {
    const { shape } = entry;
    for (let threshold = worstBand; threshold > band; threshold -= 1) {
      const chosen = this.chooseFor(entry, members, band, threshold, size);
      if (chosen === null) continue;
      const rank = chosen.reduce((least, victim) => Math.min(least, victim.rank), worstBand);
      return { workers: this.spread(shape, members, size), victims: chosen, rank, cost: costOf(chosen) };
    }
    return null;
  }

  /** Again and again what costs least for each task it makes room for; then without what was not needed. */
  private chooseFor(
    entry: JobEntry,
    members: readonly number[],
    band: number,
    threshold: number,
    size: number,
  ): Victim[] | null {
    const { sets } = this;
    sets.begin(entry.shape);
    const first = this.firstStepsOf(entry.shape, band, threshold);
    let total = 0;
    for (const worker of members) total += sets.room(worker);
    const chosen: Victim[] = [];
    const next: (Step | null | undefined)[] = members.map(() => undefined);
    while (total < size) {
      let best: Step | null = null;
      const missing = size - total;
      for (let at = 0; at < members.length; at += 1) {
        let step = next[at];
        if (step === undefined) {
          const worker = members[at] ?? 0;
          step =
            chosen.length === 0
              ? this.firstStep(first, entry, worker, band, threshold)
              : this.stepOn(entry, worker, band, threshold, chosen);
          next[at] = step;
        }
        if (step !== null && (best === null || perTask(step, best, missing) < 0)) best = step;
      }
      if (best === null) return null;
      for (const victim of best.victims) {
        chosen.push(victim);
        for (const worker of machinesOf(victim)) {
          const at = members.indexOf(worker);
          if (at < 0) continue;
          const before = sets.room(worker);
          sets.shiftOn(worker, victim, 1);
          total += sets.room(worker) - before;
          next[at] = undefined;
        }
      }
    }
    if (chosen.length > 1) this.thinOut(members, chosen, total, size);
    return chosen;
  }

  private firstStepsOf(shape: Shape, band: number, threshold: number): FirstSteps {
    const { epoch } = this.working;
    const byKind = this.firstSteps.get(shape) ?? [];
    this.firstSteps.set(shape, byKind);
    const kind = band * (worstBand + 1) + threshold;
    const known = byKind[kind];
    if (known?.epoch === epoch) return known;
    const made = { epoch, seen: new Int32Array(this.working.table.count).fill(-1), steps: [] };
    byKind[kind] = made;
    return made;
  }

  /** With nothing given yet it is the same for all gangs of the shape. */
  private firstStep(
    known: FirstSteps,
    entry: JobEntry,
    worker: number,
    band: number,
    threshold: number,
  ): Step | null {
    const touched = this.working.touched[worker] ?? 0;
    // What only that job may evict makes a difference.
    if (this.victims.hasGuests(worker)) return this.stepOn(entry, worker, band, threshold, []);
    if (known.seen[worker] === touched) return known.steps[worker] ?? null;
    const step = this.stepOn(entry, worker, band, threshold, []);
    known.seen[worker] = touched;
    known.steps[worker] = step;
    return step;
  }

  private stepOn(
    { shape, job }: JobEntry,
    worker: number,
    band: number,
    threshold: number,
    chosen: readonly Victim[],
  ): Step | null {
    const { sets } = this;
    const wanted = sets.room(worker) + 1;
    if (this.victims.room(shape, worker, band) < wanted) return null;
    const set = sets.cheapest(worker, wanted, band, threshold, job.id, chosen);
    if (set === null) return null;
    return { victims: set, cost: costOf(set), gain: Math.max(1, sets.gain(worker, set)) };
  }

  /** Drops victims that the others make needless, the dearest first. */
  private thinOut(members: readonly number[], chosen: Victim[], total: number, size: number): void {
    const { sets } = this;
    let left = total;
    for (let at = chosen.length - 1; at >= 0; at -= 1) {
      const victim = chosen[at];
      if (victim === undefined) continue;
      const workers = machinesOf(victim);
      let without = left;
      for (const worker of workers) {
        if (!members.includes(worker)) continue;
        const before = sets.room(worker);
        sets.shiftOn(worker, victim, -1);
        without += sets.room(worker) - before;
      }
      if (without >= size) {
        chosen.splice(at, 1);
        left = without;
      } else {
        for (const worker of workers) if (members.includes(worker)) sets.shiftOn(worker, victim, 1);
      }
    }
  }

  /** Machines with room at once first; else in their order. */
  private spread(shape: Shape, members: readonly number[], size: number): number[] {
    const places: number[] = [];
    for (const worker of members) {
      for (let room = this.working.roomNow(shape, worker); room > 0 && places.length < size; room -= 1)
        places.push(worker);
    }
    for (const worker of members) {
      let room = this.sets.room(worker) - this.working.roomNow(shape, worker);
      for (; room > 0 && places.length < size; room -= 1) places.push(worker);
    }
    return places.sort((left, right) => left - right);
  }
}

function machinesOf(victim: Victim): readonly number[] {
  const [only] = victim.members;
  if (only !== undefined && victim.members.length === 1) return [only.worker];
  return [...new Set(victim.members.map(({ worker }) => worker))];
}

/** Victims of one machine, and the tasks they make room for. */
interface Step {
  readonly victims: readonly Victim[];
  readonly cost: Cost;
  readonly gain: number;
}

/** Costs for each task they make room for, of those that are missing. */
function perTask(left: Step, right: Step, missing: number): number {
  const [a, b] = [Math.min(left.gain, missing), Math.min(right.gain, missing)];
  return (
    left.cost.lost * b - right.cost.lost * a ||
    left.cost.preemptions * b - right.cost.preemptions * a ||
    left.cost.value * b - right.cost.value * a ||
    left.cost.count * b - right.cost.count * a
  );
}
