/** The group of machines whose victims for a gang cost least. */
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
}

/** What the victims a group would have to give cost at least: so many of the cheapest as make up for what it has least of. */
interface Bound {
  readonly group: number;
  /** Of the best band among them. */
  readonly rank: number;
  readonly cost: Cost;
}

/** What was found for each group of machines; it holds while nothing of the group is touched, and for one pass. */
interface GroupPlans {
  readonly epoch: number;
  readonly groups: Groups;
  readonly boundSeen: Int32Array;
  readonly bounds: (Bound | null)[];
  readonly planSeen: Int32Array;
  readonly plans: (GroupPlan | null)[];
}

/** Worse than any band: nobody has to go. */
const noVictim = 4;
/** Groups one search plans anew once it has found one: those that promise to be cheapest come first. */
const maxGroups = 3;

export class GroupSearch {
  private readonly planner: GroupPlanner;
  private readonly reaches = new WeakMap<Shape, (GroupReach | undefined)[]>();
  private readonly known = new WeakMap<Shape, Map<number, GroupPlans>>();
  private readonly groupVictims = new Map<string, { epoch: number; lists: Victim[][] }>();

  constructor(
    private readonly working: Working,
    private readonly victims: Victims,
    private readonly sets: VictimSets,
  ) {
    this.planner = new GroupPlanner(working, victims, sets);
  }

  cheapest(entry: JobEntry, band: number, size: number): GroupPlan | null {
    const { shape } = entry;
    const { room } = this.reachOf(shape, band);
    if (!room.some((tasks) => tasks >= size)) return null;
    const { members } = this.working.table.groups(shape.gangBy ?? '');
    const versions = this.working.groupVersions(shape.gangBy ?? '');
    const known = this.plansOf(shape, band, size);
    let best: GroupPlan | null = null;
    for (let group = 0; group < members.length; group += 1)
      if (known.planSeen[group] === versions[group]) best = better(best, known.plans[group] ?? null);
    const open: Bound[] = [];
    for (let group = 0; group < members.length; group += 1) {
      const version = versions[group] ?? 0;
      if ((room[group] ?? 0) < size || known.planSeen[group] === version) continue;
      if (known.boundSeen[group] !== version) {
        known.boundSeen[group] = version;
        known.bounds[group] = this.boundOf(shape, members[group], band, size, group);
      }
      const bound = known.bounds[group] ?? null;
      if (bound !== null && (best === null || !isDearer(bound, best))) open.push(bound);
    }
    open.sort(compareBounds);
    let looks = 0;
    for (const bound of open) {
      if (best !== null) {
        if (isDearer(bound, best)) break;
        looks += 1;
        if (looks > maxGroups) break;
      }
      const { group } = bound;
      const plan = this.planner.planFor(entry, members[group] ?? new Int32Array(0), band, size);
      known.planSeen[group] = versions[group] ?? 0;
      known.plans[group] = plan;
      best = better(best, plan);
    }
    return best;
  }

  private reachOf(shape: Shape, band: number): GroupReach {
    const groups = this.working.table.groups(shape.gangBy ?? '');
    const versions = this.working.groupVersions(shape.gangBy ?? '');
    const byBand = this.reaches.get(shape) ?? [];
    this.reaches.set(shape, byBand);
    let known = byBand[band];
    if (known?.groups !== groups) {
      const count = groups.members.length;
      known = { groups, seen: new Int32Array(count).fill(-1), room: new Int32Array(count) };
      byBand[band] = known;
    }
    for (let group = 0; group < versions.length; group += 1) {
      if (known.seen[group] === versions[group]) continue;
      known.seen[group] = versions[group] ?? 0;
      let room = 0;
      for (const worker of groups.members[group] ?? []) {
        if ((this.working.reserved[worker] ?? 0) === 0 && isCandidate(shape, worker))
          room += this.victims.room(shape, worker, band);
      }
      known.room[group] = room;
    }
    return known;
  }

  private plansOf(shape: Shape, band: number, size: number): GroupPlans {
    const { epoch } = this.working;
    const groups = this.working.table.groups(shape.gangBy ?? '');
    let bySize = this.known.get(shape);
    if (bySize === undefined) {
      bySize = new Map();
      this.known.set(shape, bySize);
    }
    const key = size * 4 + band;
    const known = bySize.get(key);
    if (known?.epoch === epoch && known.groups === groups) return known;
    // Those of passes before are of no use.
    for (const [other, { epoch: past }] of bySize) if (past !== epoch) bySize.delete(other);
    const count = groups.members.length;
    const made: GroupPlans = {
      epoch,
      groups,
      boundSeen: new Int32Array(count).fill(-1),
      bounds: [],
      planSeen: new Int32Array(count).fill(-1),
      plans: [],
    };
    bySize.set(key, made);
    return made;
  }

  /** Null when all victims of the group together do not make up for what it lacks. */
  private boundOf(
    shape: Shape,
    machines: Int32Array | undefined,
    band: number,
    size: number,
    group: number,
  ): Bound | null {
    if (machines === undefined) return null;
    const cost = newCost();
    const scarce = this.sets.scarcest(shape, machines, size);
    let rank = noVictim;
    if (scarce === null) return { group, rank, cost };
    let gained = 0;
    for (const victim of this.victimsOf(shape.gangBy ?? '', machines, band, group)) {
      if (gained >= scarce.missing) break;
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

  /** In order, of one group. */
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
    } else if (list.some((victim) => this.victims.isTaken(victim))) {
      list = list.filter((victim) => !this.victims.isTaken(victim));
      known.lists[group] = list;
    }
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
