/** Who may be evicted, in the order they would be, and what each machine could give to a band at most. */
import { bandRank } from '../contract/states.js';
import type { Held, Victim } from './holdings.js';
import type { Cluster } from './cluster.js';
import type { Rules } from './rules.js';
import type { Shape } from './shape.js';
import { compareVictims } from './victim-cost.js';
import type { Working } from './working.js';

const batch = bandRank('BATCH');
const production = bandRank('PRODUCTION');

/** Free and reclaimable by one band, by machine. */
class Reach {
  readonly cpu: Float64Array;
  readonly memory: Float64Array;
  readonly cards: Int32Array;
  /** When time alone makes it more: a victim will have run long enough. Infinity for never. */
  readonly moreFromMs: Float64Array;
  /** 1: it holds a victim that has not started, whose minimum time has not begun. */
  readonly unstarted: Uint8Array;
  /** What `Working.touched` was when the machine was last looked at; -1 for never. */
  readonly seen: Int32Array;

  constructor(rows: number, count: number) {
    this.cpu = new Float64Array(count);
    this.memory = new Float64Array(count);
    this.cards = new Int32Array(rows * count);
    this.moreFromMs = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
    this.unstarted = new Uint8Array(count);
    this.seen = new Int32Array(count).fill(-1);
  }
}

/** The most that machines with at least so many cards could give, `[row * steps + cards]`. */
interface Ceiling {
  readonly cpu: Float64Array;
  readonly memory: Float64Array;
}

export class Victims {
  /** When the first of those that were asked for and have not run long enough may be evicted. */
  nextEligibleMs = Number.POSITIVE_INFINITY;
  private readonly reaches: (Reach | null)[] = [null, null, null];
  private readonly machines: number[] = [];
  private table: Cluster['table'] | null = null;
  private sorted = false;
  private readonly ceilings: (Ceiling | null)[] = [null, null, null];
  private cardSteps = 0;
  private pass = -1;
  private nowMs = 0;
  private minRun = 0;

  constructor(
    private readonly cluster: Cluster,
    private readonly working: Working,
  ) {}

  /** After `Working.start`. */
  start(pass: number, nowMs: number, rules: Rules): void {
    const anew = this.table !== this.cluster.table;
    const { working } = this;
    // A clock that went back makes nothing more eligible, but what was may not be any longer.
    const isVoid = nowMs < this.nowMs || rules.minRunMs !== this.minRun;
    this.table = this.cluster.table;
    this.pass = pass;
    this.nowMs = nowMs;
    this.minRun = rules.minRunMs;
    this.sorted = false;
    this.ceilings.fill(null);
    this.nextEligibleMs = Number.POSITIVE_INFINITY;
    if (anew) this.reaches.fill(null);
    for (let worker = 0; worker < this.table.count; worker += 1) {
      const more = this.reaches.some((reach) => reach !== null && (reach.moreFromMs[worker] ?? 0) <= nowMs);
      if (isVoid || more) working.noteGrowth(worker);
    }
  }

  /** In no order, of that machine. */
  anyOn(worker: number): readonly Victim[] {
    return this.cluster.holdings.unitsOn[worker] ?? [];
  }

  /** True when some of it may be evicted by one job alone. */
  hasGuests(worker: number): boolean {
    if (this.cluster.holdings.guests === 0) return false;
    return this.anyOn(worker).some(({ members }) =>
      members.some(({ attempt }) => attempt.evictableBy !== null),
    );
  }

  /** In order, of that machine. */
  on(worker: number): readonly Victim[] {
    this.sort();
    return this.cluster.holdings.unitsOn[worker] ?? [];
  }

  isEligible(victim: Victim, band: number, jobId: string): boolean {
    if (!this.isTakeable(victim, band)) return false;
    if (this.ranLongEnough(victim, band)) return true;
    return victim.members.every(({ attempt }) => attempt.evictableBy === jobId);
  }

  /** By some job of the band. */
  isPossible(victim: Victim, band: number): boolean {
    if (!this.isTakeable(victim, band)) return false;
    if (this.ranLongEnough(victim, band)) return true;
    return victim.members.every(({ attempt }) => attempt.evictableBy !== null);
  }

  /** In this pass. */
  isTaken(victim: Victim): boolean {
    return victim.taken === this.pass;
  }

  take(victim: Victim): void {
    victim.taken = this.pass;
    for (const member of victim.members) this.working.leave(member);
  }

  /** When it may be evicted by that band; Infinity for never. */
  evictableFromMs(victim: Victim, band: number): number {
    if (victim.rank <= band || victim.fixed) return Number.POSITIVE_INFINITY;
    // One that has not started has run for no time.
    const startedMs = Number.isFinite(victim.startedMs) ? victim.startedMs : this.nowMs;
    return startedMs + this.minRunMs(victim, band);
  }

  /** Tasks of the shape that machine could hold if every victim of the band were gone. */
  room(shape: Shape, worker: number, band: number): number {
    const reach = this.reach(worker, band);
    let room = Number.POSITIVE_INFINITY;
    if (shape.cpu > 0) room = Math.min(room, Math.floor((reach.cpu[worker] ?? 0) / shape.cpu));
    if (shape.memory > 0) room = Math.min(room, Math.floor((reach.memory[worker] ?? 0) / shape.memory));
    if (shape.gpus > 0) {
      const cards = reach.cards[shape.row * this.working.table.count + worker] ?? 0;
      room = Math.min(room, Math.floor(cards / shape.gpus));
    }
    return Math.max(0, room);
  }

  private reach(worker: number, band: number): Reach {
    const { table } = this.working;
    let reach = this.reaches[band] ?? null;
    if (reach === null) {
      reach = new Reach(table.rows, table.count);
      this.reaches[band] = reach;
    }
    const touched = this.working.touched[worker] ?? 0;
    if (reach.seen[worker] === touched) return reach;
    reach.seen[worker] = touched;
    let cpu = this.working.laterCpu[worker] ?? 0;
    let memory = this.working.laterMemory[worker] ?? 0;
    for (let row = 0; row < table.rows; row += 1) {
      const at = row * table.count + worker;
      reach.cards[at] = this.working.laterCards[at] ?? 0;
    }
    let moreFromMs = Number.POSITIVE_INFINITY;
    reach.unstarted[worker] = 0;
    for (const victim of this.cluster.holdings.unitsOn[worker] ?? []) {
      if (this.isTakeable(victim, band) && !this.ranLongEnough(victim, band)) {
        if (Number.isFinite(victim.startedMs))
          moreFromMs = Math.min(moreFromMs, this.evictableFromMs(victim, band));
        else reach.unstarted[worker] = 1;
      }
      if (!this.isPossible(victim, band)) continue;
      for (const member of victim.members) {
        if (member.worker !== worker) continue;
        cpu += member.attempt.cpuMillicores;
        memory += member.attempt.memoryBytes;
        for (const device of member.devices) {
          if (table.deviceOk[device] === 0) continue;
          const model = (table.deviceRow[device] ?? 0) * table.count + worker;
          reach.cards[worker] = (reach.cards[worker] ?? 0) + 1;
          reach.cards[model] = (reach.cards[model] ?? 0) + 1;
        }
      }
    }
    reach.cpu[worker] = cpu;
    reach.memory[worker] = memory;
    reach.moreFromMs[worker] = moreFromMs;
    return reach;
  }

  /** Machines with victims, those with the cheapest first. */
  machinesInOrder(): readonly number[] {
    this.sort();
    return this.machines;
  }

  /** Only a search that finds something worth looking at needs the order. */
  private sort(): void {
    if (this.sorted) return;
    this.sorted = true;
    this.cluster.holdings.sweep();
    const { units, unitsOn } = this.cluster.holdings;
    // Who was hit often is spared, but not at any price: no gang that was never preempted goes for the place of one card.
    for (const unit of units) unit.lost = this.lostOf(unit) * (1 + unit.preemptions);
    sortIfNeeded(units, compareVictims);
    for (const [place, unit] of units.entries()) unit.place = place;
    for (const list of unitsOn) sortIfNeeded(list, comparePlaces);
    this.machines.length = 0;
    for (const [worker, list] of unitsOn.entries()) if (list.length > 0) this.machines.push(worker);
    const first = (worker: number) => unitsOn[worker]?.[0]?.place ?? 0;
    this.machines.sort((left, right) => first(left) - first(right) || left - right);
  }

  /**
   * False when no machine could hold one task of the shape for the band, constraints aside. What machines could give only shrinks
   * while a band is served, so that a ceiling once found stands.
   */
  couldFit(shape: Shape, band: number): boolean {
    const ceiling = this.ceilings[band] ?? this.makeCeiling(band);
    const at = shape.row * this.cardSteps + Math.min(shape.gpus, this.cardSteps - 1);
    return shape.cpu <= (ceiling.cpu[at] ?? 0) && shape.memory <= (ceiling.memory[at] ?? 0);
  }

  private makeCeiling(band: number): Ceiling {
    const { table } = this.working;
    this.cardSteps = table.maxDevices + 2;
    const made = {
      cpu: new Float64Array(table.rows * this.cardSteps).fill(-1),
      memory: new Float64Array(table.rows * this.cardSteps).fill(-1),
    };
    let unstarted = false;
    for (let worker = 0; worker < table.count; worker += 1) {
      if (table.healthy[worker] === 0) continue;
      const reach = this.reach(worker, band);
      this.nextEligibleMs = Math.min(this.nextEligibleMs, reach.moreFromMs[worker] ?? 0);
      if (reach.unstarted[worker] === 1) unstarted = true;
      for (let row = 0; row < table.rows; row += 1) {
        const at =
          row * this.cardSteps + Math.min(reach.cards[row * table.count + worker] ?? 0, this.cardSteps - 1);
        made.cpu[at] = Math.max(made.cpu[at] ?? 0, reach.cpu[worker] ?? 0);
        made.memory[at] = Math.max(made.memory[at] ?? 0, reach.memory[worker] ?? 0);
      }
    }
    // Those that need no minimum time are never among the unstarted ones that wait.
    if (unstarted) this.nextEligibleMs = Math.min(this.nextEligibleMs, this.nowMs + this.minRun);
    // Who has more cards has as many.
    for (let row = 0; row < table.rows; row += 1) {
      for (let step = this.cardSteps - 2; step >= 0; step -= 1) {
        const at = row * this.cardSteps + step;
        made.cpu[at] = Math.max(made.cpu[at] ?? 0, made.cpu[at + 1] ?? 0);
        made.memory[at] = Math.max(made.memory[at] ?? 0, made.memory[at + 1] ?? 0);
      }
    }
    this.ceilings[band] = made;
    return made;
  }

  /** Whole seconds: a sum of whole numbers is the same in every order. */
  private lostOf(victim: Victim): number {
    let lost = 0;
    for (const member of victim.members) lost += Math.floor(lostMs(member, this.nowMs) / 1000) * member.value;
    return lost;
  }

  /** Time aside. */
  private isTakeable(victim: Victim, band: number): boolean {
    return victim.rank > band && victim.taken !== this.pass && !victim.fixed;
  }

  private ranLongEnough(victim: Victim, band: number): boolean {
    const minRunMs = this.minRunMs(victim, band);
    return Number.isFinite(victim.startedMs) ? this.nowMs - victim.startedMs >= minRunMs : minRunMs <= 0;
  }

  private minRunMs(victim: Victim, band: number): number {
    return victim.rank === batch && band <= production ? 0 : this.minRun;
  }
}

/** Most are in order from the pass before, and sorting copies them all the same. */
function sortIfNeeded(list: Victim[], compare: (left: Victim, right: Victim) => number): void {
  let before: Victim | undefined;
  for (const victim of list) {
    if (before !== undefined && compare(before, victim) > 0) {
      list.sort(compare);
      return;
    }
    before = victim;
  }
}

function comparePlaces(left: Victim, right: Victim): number {
  return left.place - right.place;
}

/** Since its last checkpoint, or its start; nothing of what has not started. */
function lostMs({ attempt }: Held, nowMs: number): number {
  if (attempt.startedAtMs === null) return 0;
  return Math.max(0, nowMs - Math.max(attempt.startedAtMs, attempt.checkpointAtMs ?? 0));
}
