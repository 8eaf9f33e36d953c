/**
 * Phase 5 of our rules: one search for one task and for a gang. It finds the cheapest set of strictly worse victims that, with what is
 * free and what is on its way out, makes room: on one machine, or for all members in one group of machines.
 */
import type { Victim } from './holdings.js';
import type { JobEntry } from './queue.js';
import { isCandidate, type Shape } from './shape.js';
import { addCost, compareCosts, costOf, newCost, type Cost } from './victim-cost.js';
import { VictimSets } from './victim-sets.js';
import type { Victims } from './victims.js';
import type { Working } from './working.js';

export interface Plan {
  /** Machines for the tasks, one entry each. */
  readonly workers: readonly number[];
  /** Empty: what is on its way out already makes room. */
  readonly victims: readonly Victim[];
}

interface GroupPlan extends Plan {
  /** Rank of the best band among the victims: the lower, the dearer. */
  readonly rank: number;
  readonly cost: Cost;
}

/** What was found for each group of machines; it holds while nothing of the group is touched. */
interface GroupPlans {
  readonly epoch: number;
  readonly seen: Int32Array;
  readonly plans: (GroupPlan | null)[];
  /** Groups that cost at least as much as some plan, as long as nothing of them is touched. */
  readonly bounds: ({ readonly version: number; readonly plan: GroupPlan } | undefined)[];
}

interface MachinePlan {
  readonly worker: number;
  readonly victims: readonly Victim[];
  readonly rank: number;
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
/** Groups of machines one search for a gang looks at anew once it has found one. */
const maxGroups = 12;
/** Entries of what past passes found before they are thrown away. */
const maxKept = 1000;

export class VictimSearch {
  private readonly sets: VictimSets;
  private readonly machines = new Map<string, KnownMachines>();
  private readonly known = new Map<string, GroupPlans>();
  private readonly groupVictims = new Map<string, { epoch: number; lists: Victim[][] }>();

  constructor(
    private readonly working: Working,
    private readonly victims: Victims,
  ) {
    this.sets = new VictimSets(working, victims);
  }

  /** For one task of the job; null when no allowed set of victims makes room. */
  forTask(entry: JobEntry, band: number): Plan | null {
    const { shape } = entry;
    const { working } = this;
    for (const worker of working.leavers) {
      if (working.fitsLater(shape, worker) && isCandidate(shape, worker))
        return { workers: [worker], victims: [] };
    }
    if (!this.victims.couldFit(shape, band)) return null;
    this.sets.begin(shape);
    const found = this.onOneMachine(entry, band);
    return found === null ? null : { workers: [found.worker], victims: found.victims };
  }

  /**
   * Machines in the order of their cheapest victims, until that one alone costs more than the best set found, or that many machines
   * were looked at.
   */
  private onOneMachine(entry: JobEntry, band: number): MachinePlan | null {
    const { shape } = entry;
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
      if (best !== null && (first.rank < best.rank || this.sets.compareOne(first, best.cost) >= 0)) break;
      if (!isCandidate(shape, worker) || !this.isOpen(shape, worker, band)) continue;
      const machine: KnownMachine = { worker, seen: -1, plan: null };
      known.list.push(machine);
      this.lookAt(machine, entry, band);
      best = cheaper(best, machine.plan);
      if (best !== null) looks += 1;
    }
    return best;
  }

  private isOpen(shape: Shape, worker: number, band: number): boolean {
    return (this.working.reserved[worker] ?? 0) === 0 && this.victims.room(shape, worker, band) > 0;
  }

  private lookAt(known: KnownMachine, entry: JobEntry, band: number): void {
    const { worker } = known;
    known.seen = this.working.touched[worker] ?? 0;
    known.plan = null;
    for (let threshold = worstBand; threshold > band; threshold -= 1) {
      const found = this.sets.cheapest(worker, 1, band, threshold, entry.job.id);
      if (found === null) continue;
      const rank = found.reduce((least, victim) => Math.min(least, victim.rank), worstBand);
      known.plan = { worker, victims: found, cost: costOf(found), rank };
      return;
    }
  }

  private machinesFor(shape: Shape, band: number): KnownMachines {
    const key = `${band} ${shape.key}`;
    const known = this.machines.get(key);
    if (known?.epoch === this.working.epoch) return known;
    const made = { epoch: this.working.epoch, list: [], next: 0 };
    if (this.machines.size > maxKept) this.machines.clear();
    this.machines.set(key, made);
    return made;
  }

  /** For all members of a gang together, in one group. */
  forGang(entry: JobEntry, band: number, size: number): Plan | null {
    const { shape } = entry;
    if (!this.victims.couldFit(shape, band)) return null;
    const { members } = this.working.table.groups(shape.gangBy ?? '');
    const known = this.plansOf(`${band} ${size} ${shape.key}`, members.length);
    let best: GroupPlan | null = null;
    const stale: number[] = [];
    for (let group = 0; group < members.length; group += 1) {
      if (known.seen[group] !== this.versionOf(members[group])) stale.push(group);
      else best = better(best, known.plans[group] ?? null);
    }
    let looks = 0;
    for (const group of stale) {
      const machines = members[group] ?? new Int32Array(0);
      const version = this.versionOf(machines);
      // What cannot be cheaper need not be looked at; it stays stale.
      if (best !== null) {
        const bound = known.bounds[group];
        if (bound?.version === version && better(bound.plan, best) === best) continue;
        looks += 1;
        if (looks > maxGroups) break;
        if (this.isDearer(shape, machines, band, size, group, best)) {
          known.bounds[group] = { version, plan: best };
          continue;
        }
      }
      const plan = this.planGroup(entry, machines, band, size);
      known.seen[group] = version;
      known.plans[group] = plan;
      best = better(best, plan);
    }
    return best;
  }

  private plansOf(key: string, groups: number): GroupPlans {
    const { epoch } = this.working;
    const known = this.known.get(key);
    if (known?.epoch === epoch) return known;
    const made = {
      epoch,
      seen: new Int32Array(groups).fill(-1),
      plans: Array.from({ length: groups }, () => null),
      bounds: [],
    };
    // Those of passes before are of no use.
    for (const [other, { epoch: past }] of this.known) if (past !== epoch) this.known.delete(other);
    this.known.set(key, made);
    return made;
  }

  private versionOf(machines: Int32Array | undefined): number {
    let sum = 0;
    for (const worker of machines ?? []) sum += this.working.touched[worker] ?? 0;
    return sum;
  }

  /** True when even the cheapest victims of the group, as many as are needed at least, cost as much as the best plan. */
  private isDearer(
    shape: Shape,
    machines: Int32Array,
    band: number,
    size: number,
    group: number,
    best: GroupPlan,
  ): boolean {
    const list = this.victimsOf(shape.gangBy ?? '', machines, band, group);
    const scarce = this.sets.scarcest(shape, machines, size);
    if (scarce === null) return false;
    let gained = 0;
    const cost = newCost();
    for (const victim of list) {
      if (gained >= scarce.missing) return false;
      if (!this.victims.isPossible(victim, band)) continue;
      if (victim.rank < best.rank) return true;
      gained += this.sets.mostGain(shape, victim, scarce.what);
      addCost(cost, victim);
      if (victim.rank === best.rank && compareCosts(cost, best.cost) >= 0) return true;
    }
    return gained < scarce.missing;
  }

  /** In order, of one group; those taken since are among them. */
  private victimsOf(by: string, machines: Int32Array, band: number, group: number): readonly Victim[] {
    const key = `${band} ${by}`;
    let known = this.groupVictims.get(key);
    if (known?.epoch !== this.working.epoch) {
      known = { epoch: this.working.epoch, lists: [] };
      this.groupVictims.set(key, known);
    }
    let list = known.lists[group];
    if (list === undefined) {
      const found = new Set<Victim>();
      for (const worker of machines) {
        for (const victim of this.victims.on(worker))
          if (this.victims.isPossible(victim, band)) found.add(victim);
      }
      list = [...found].sort((left, right) => left.place - right.place);
      known.lists[group] = list;
    }
    return list;
  }

  /** Null when the group cannot hold all; else the plan of the worst victims' bands that can. */
  private planGroup(entry: JobEntry, machines: Int32Array, band: number, size: number): GroupPlan | null {
    const { shape } = entry;
    const members: number[] = [];
    let most = 0;
    for (const worker of machines) {
      if ((this.working.reserved[worker] ?? 0) > 0 || !isCandidate(shape, worker)) continue;
      const room = this.victims.room(shape, worker, band);
      if (room === 0) continue;
      most += room;
      members.push(worker);
    }
    if (most < size) return null;
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
    const { shape, job } = entry;
    const { sets } = this;
    sets.begin(shape);
    let total = 0;
    for (const worker of members) total += sets.room(worker);
    const chosen: Victim[] = [];
    const next: (Step | null | undefined)[] = members.map(() => undefined);
    while (total < size) {
      let best: Step | null = null;
      const missing = size - total;
      for (const [at, worker] of members.entries()) {
        let step = next[at];
        if (step === undefined) {
          const set = sets.cheapest(worker, sets.room(worker) + 1, band, threshold, job.id, chosen);
          step =
            set === null
              ? null
              : { victims: set, cost: costOf(set), gain: Math.max(1, sets.gain(worker, set)) };
          next[at] = step;
        }
        if (step !== null && (best === null || perTask(step, best, missing) < 0)) best = step;
      }
      if (best === null) return null;
      for (const victim of best.victims) {
        chosen.push(victim);
        for (const [at, worker] of members.entries()) {
          if (!victim.members.some((member) => member.worker === worker)) continue;
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

  /** Drops victims that the others make needless, the dearest first. */
  private thinOut(members: readonly number[], chosen: Victim[], total: number, size: number): void {
    const { sets } = this;
    let left = total;
    for (let at = chosen.length - 1; at >= 0; at -= 1) {
      const victim = chosen[at];
      if (victim === undefined) continue;
      const workers = members.filter((worker) => victim.members.some((member) => member.worker === worker));
      let without = left;
      for (const worker of workers) {
        const before = sets.room(worker);
        sets.shiftOn(worker, victim, -1);
        without += sets.room(worker) - before;
      }
      if (without >= size) {
        chosen.splice(at, 1);
        left = without;
      } else {
        for (const worker of workers) sets.shiftOn(worker, victim, 1);
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

function cheaper(left: MachinePlan | null, right: MachinePlan | null): MachinePlan | null {
  if (left === null || right === null) return left ?? right;
  if (right.rank !== left.rank) return right.rank > left.rank ? right : left;
  return compareCosts(right.cost, left.cost) < 0 ? right : left;
}

function better(left: GroupPlan | null, right: GroupPlan | null): GroupPlan | null {
  if (left === null || right === null) return left ?? right;
  if (right.rank !== left.rank) return right.rank > left.rank ? right : left;
  return compareCosts(right.cost, left.cost) < 0 ? right : left;
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
    left.cost.preemptions * b - right.cost.preemptions * a ||
    left.cost.lost * b - right.cost.lost * a ||
    left.cost.value * b - right.cost.value * a ||
    left.cost.count * b - right.cost.count * a
  );
}
