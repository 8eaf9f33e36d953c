/** The group of machines whose victims for a gang cost least. */
import { compareNumbers, SortedList } from '../model/sorted-list.js';
import type { GroupChanges } from './group-changes.js';
import { GroupPlanner, type GroupPlan } from './group-plan.js';
import type { Victim } from './holdings.js';
import type { JobEntry } from './queue.js';
import { isCandidate, type Shape } from './shape.js';
import { compareCosts, newCost, type Cost } from './victim-cost.js';
import type { VictimSets } from './victim-sets.js';
import type { Victims } from './victims.js';
import type { Groups } from './worker-table.js';
import type { Working } from './working.js';

/** Tasks of a shape that each group could hold without the victims of a band, with the group's version at the time; -1 for never. */
interface GroupReach {
  readonly groups: Groups;
  readonly seen: Int32Array;
  readonly room: Int32Array;
  /** Machines of each group that could take a task if they were empty. */
  readonly candidates: readonly Int32Array[];
  /** By machine, with what `Working.touched` was at the time. */
  readonly touched: Int32Array;
  readonly rooms: Int32Array;
}

/** What the victims a group would have to give cost at least: so many of the cheapest as make up for what it has least of. */
interface Bound {
  readonly group: number;
  /** Of the best band among them. */
  readonly rank: number;
  readonly cost: Cost;
}

/** Victims of each group in their order, those taken among them; the first `from` of them are. */
interface GroupVictims {
  readonly epoch: number;
  readonly lists: (Victim[] | undefined)[];
  readonly from: Int32Array;
}

/** What was found for each group of machines; it holds while nothing of the group is touched, and for one pass. */
interface GroupPlans {
  readonly epoch: number;
  readonly groups: Groups;
  readonly reach: GroupReach;
  readonly victims: GroupVictims;
  /** Entries of `GroupChanges.changed` taken into account. */
  read: number;
  /** By group, what its version was; -1 for never. */
  readonly seen: Int32Array;
  readonly bounds: (Bound | null)[];
  readonly plans: (GroupPlan | null)[];
  /** Groups that may hold the gang and were not planned, those that promise to be cheapest first. */
  readonly open: SortedList<Bound>;
  /** Groups with a plan. */
  readonly planned: SortedList<number>;
}

/** Worse than any band: nobody has to go. */
const noVictim = 4;
/** Groups one search plans anew once it has found one: those that promise to be cheapest come first. */
const maxGroups = 3;
const nobody = new Int32Array(0);

export class GroupSearch {
  private readonly planner: GroupPlanner;
  private readonly reaches = new WeakMap<Shape, (GroupReach | undefined)[]>();
  private readonly known = new WeakMap<Shape, Map<number, GroupPlans>>();
  private readonly groupVictims = new Map<string, GroupVictims>();

  constructor(
    private readonly working: Working,
    private readonly victims: Victims,
    private readonly sets: VictimSets,
  ) {
    this.planner = new GroupPlanner(working, victims, sets);
  }

  cheapest(entry: JobEntry, band: number, size: number): GroupPlan | null {
    const { shape } = entry;
    const changes = this.working.groupings.by(shape.gangBy ?? '', this.working.table);
    const known = this.upToDate(shape, band, size, changes);
    let best: GroupPlan | null = null;
    for (const group of known.planned.values) best = better(best, known.plans[group] ?? null);
    let looks = 0;
    for (let bound = known.open.first(); bound !== undefined; bound = known.open.first()) {
      if (best !== null) {
        if (isDearer(bound, best)) break;
        looks += 1;
        if (looks > maxGroups) break;
      }
      const { group } = bound;
      known.open.takeFirst();
      known.bounds[group] = null;
      const machines: number[] = [];
      for (const worker of known.reach.candidates[group] ?? nobody)
        if ((known.reach.rooms[worker] ?? 0) > 0) machines.push(worker);
      const plan = this.planner.planFor(entry, machines, band, size);
      if (plan === null) continue;
      known.plans[group] = plan;
      known.planned.add(group);
      best = better(best, plan);
    }
    return best;
  }

  /** Looks anew at groups that have changed, at all of them the first time. */
  private upToDate(shape: Shape, band: number, size: number, changes: GroupChanges): GroupPlans {
    const { epoch } = this.working;
    let bySize = this.known.get(shape);
    if (bySize === undefined) {
      bySize = new Map();
      this.known.set(shape, bySize);
    }
    const key = size * 4 + band;
    const before = bySize.get(key);
    if (before?.epoch === epoch && before.groups === changes.groups) {
      for (; before.read < changes.changed.length; before.read += 1)
        this.consider(before, changes.changed[before.read] ?? 0, shape, band, size, changes);
      return before;
    }
    // Those of passes before are of no use.
    for (const [other, { epoch: past }] of bySize) if (past !== epoch) bySize.delete(other);
    const made: GroupPlans = {
      epoch,
      groups: changes.groups,
      reach: this.reachOf(shape, band, changes.groups),
      victims: this.victimsFor(shape.gangBy ?? '', band, changes.groups),
      read: changes.changed.length,
      seen: new Int32Array(changes.versions.length).fill(-1),
      bounds: [],
      plans: [],
      open: new SortedList(compareBounds),
      planned: new SortedList(compareNumbers),
    };
    bySize.set(key, made);
    for (let group = 0; group < changes.versions.length; group += 1)
      this.consider(made, group, shape, band, size, changes);
    return made;
  }

  private consider(
    known: GroupPlans,
    group: number,
    shape: Shape,
    band: number,
    size: number,
    { groups, versions }: GroupChanges,
  ): void {
    const version = versions[group] ?? 0;
    if (known.seen[group] === version) return;
    known.seen[group] = version;
    const before = known.bounds[group] ?? null;
    if (before !== null) known.open.remove(before);
    if ((known.plans[group] ?? null) !== null) known.planned.remove(group);
    known.plans[group] = null;
    known.bounds[group] = null;
    const machines = groups.members[group];
    if (machines === undefined || this.roomIn(known.reach, group, version, shape, band) < size) return;
    const bound = this.boundOf(shape, machines, known.victims, band, size, group);
    known.bounds[group] = bound;
    if (bound !== null) known.open.add(bound);
  }

  private reachOf(shape: Shape, band: number, groups: Groups): GroupReach {
    const byBand = this.reaches.get(shape) ?? [];
    this.reaches.set(shape, byBand);
    const known = byBand[band];
    if (known?.groups === groups) return known;
    const { length } = groups.members;
    const { count } = this.working.table;
    const made = {
      groups,
      seen: new Int32Array(length).fill(-1),
      room: new Int32Array(length),
      candidates: groups.members.map((machines) => machines.filter((worker) => isCandidate(shape, worker))),
      touched: new Int32Array(count).fill(-1),
      rooms: new Int32Array(count),
    };
    byBand[band] = made;
    return made;
  }

  private roomIn(reach: GroupReach, group: number, version: number, shape: Shape, band: number): number {
    if (reach.seen[group] === version) return reach.room[group] ?? 0;
    const { reserved, touched } = this.working;
    let room = 0;
    for (const worker of reach.candidates[group] ?? nobody) {
      if (reach.touched[worker] !== touched[worker]) {
        reach.touched[worker] = touched[worker] ?? 0;
        reach.rooms[worker] = (reserved[worker] ?? 0) === 0 ? this.victims.room(shape, worker, band) : 0;
      }
      room += reach.rooms[worker] ?? 0;
    }
    reach.seen[group] = version;
    reach.room[group] = room;
    return room;
  }

  /** Null when all victims of the group together do not make up for what it lacks. */
  private boundOf(
    shape: Shape,
    machines: Int32Array,
    victims: GroupVictims,
    band: number,
    size: number,
    group: number,
  ): Bound | null {
    const cost = newCost();
    const scarce = this.sets.scarcest(shape, machines, size);
    let rank = noVictim;
    if (scarce === null) return { group, rank, cost };
    let gained = 0;
    const list = this.victimsOf(victims, machines, band, group);
    for (let at = victims.from[group] ?? 0; at < list.length && gained < scarce.missing; at += 1) {
      const victim = list[at];
      if (victim === undefined || this.victims.isTaken(victim)) continue;
      rank = victim.rank;
      gained += this.sets.mostGain(shape, victim, scarce.what);
      // No id: of what costs the same the first group is looked at first.
      cost.lost += victim.lost;
      cost.preemptions += victim.preemptions;
      cost.value += victim.value;
      cost.count += 1;
    }
    return gained < scarce.missing ? null : { group, rank, cost };
  }

  private victimsFor(by: string, band: number, groups: Groups): GroupVictims {
    const key = `${band} ${by}`;
    const known = this.groupVictims.get(key);
    const { epoch } = this.working;
    if (known?.epoch === epoch) return known;
    const made = { epoch, lists: [], from: new Int32Array(groups.members.length) };
    this.groupVictims.set(key, made);
    return made;
  }

  /** In order, of one group, with those that were taken since. */
  private victimsOf(
    known: GroupVictims,
    machines: Int32Array,
    band: number,
    group: number,
  ): readonly Victim[] {
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
    let from = known.from[group] ?? 0;
    for (let victim = list[from]; victim !== undefined && this.victims.isTaken(victim); victim = list[from])
      from += 1;
    known.from[group] = from;
    return list;
  }
}

function compareBounds(left: Bound, right: Bound): number {
  return right.rank - left.rank || compareCosts(left.cost, right.cost) || left.group - right.group;
}

/** True when what the group would give at least costs as much as the best plan. */
function isDearer(bound: Bound, best: GroupPlan): boolean {
  if (bound.rank !== best.rank) return bound.rank < best.rank;
  return compareCosts(bound.cost, best.cost) >= 0;
}

function better(left: GroupPlan | null, right: GroupPlan | null): GroupPlan | null {
  if (left === null || right === null) return left ?? right;
  if (right.rank !== left.rank) return right.rank > left.rank ? right : left;
  return compareCosts(right.cost, left.cost) < 0 ? right : left;
}
