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
  /** What `Working.touched` was when the machine was last looked at; -1 for never. */
  readonly seen: Int32Array;

  constructor(rows: number, count: number) {
    this.cpu = new Float64Array(count);
    this.memory = new Float64Array(count);
    this.cards = new Int32Array(rows * count);
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
  private ready = false;
  private sorted = false;
  private readonly ceilings: (Ceiling | null)[] = [null, null, null];
  private cardSteps = 0;
  private pass = -1;
  private nowMs = 0;
  private rules: Rules | null = null;

  constructor(
    private readonly cluster: Cluster,
    private readonly working: Working,
  ) {}

  start(pass: number, nowMs: number, rules: Rules): void {
    this.pass = pass;
    this.nowMs = nowMs;
    this.rules = rules;
    this.ready = false;
    this.sorted = false;
    this.ceilings.fill(null);
    this.nextEligibleMs = Number.POSITIVE_INFINITY;
    if (this.table !== this.cluster.table) this.reaches.fill(null);
    this.table = this.cluster.table;
    for (const reach of this.reaches) reach?.seen.fill(-1);
  }

  /** In no order, of that machine. */
  anyOn(worker: number): readonly Victim[] {
    this.prepare();
    return this.cluster.holdings.unitsOn[worker] ?? [];
  }

  /** In order, of that machine. */
  on(worker: number): readonly Victim[] {
    this.sort();
    return this.cluster.holdings.unitsOn[worker] ?? [];
  }

  isEligible(victim: Victim, band: number, jobId: string): boolean {
    if (victim.rank <= band || victim.taken === this.pass || victim.fixed) return false;
    if (this.ranLongEnough(victim, band)) return true;
    return victim.members.every(({ attempt }) => attempt.evictableBy === jobId);
  }

  /** By some job of the band. */
  isPossible(victim: Victim, band: number): boolean {
    if (victim.rank <= band || victim.taken === this.pass || victim.fixed) return false;
    if (this.ranLongEnough(victim, band)) return true;
    this.nextEligibleMs = Math.min(this.nextEligibleMs, this.evictableFromMs(victim, band));
    return victim.members.every(({ attempt }) => attempt.evictableBy !== null);
  }

  take(victim: Victim): void {
    victim.taken = this.pass;
    for (const member of victim.members) this.working.leave(member);
  }

  /** When it may be evicted by that band; Infinity for never. */
  evictableFromMs(victim: Victim, band: number): number {
    if (victim.rank <= band || victim.fixed) return Number.POSITIVE_INFINITY;
    return victim.startedMs + this.minRunMs(victim, band);
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
    this.prepare();
    for (const victim of this.cluster.holdings.unitsOn[worker] ?? []) {
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
    return reach;
  }

  /** Machines with victims, those with the cheapest first. */
  machinesInOrder(): readonly number[] {
    this.sort();
    return this.machines;
  }

  private prepare(): void {
    if (this.ready) return;
    this.ready = true;
    this.cluster.holdings.sweep();
    for (const unit of this.cluster.holdings.units) this.measure(unit);
  }

  /** Only a search that finds something worth looking at needs the order. */
  private sort(): void {
    if (this.sorted) return;
    this.sorted = true;
    this.prepare();
    const { units, unitsOn } = this.cluster.holdings;
    units.sort(compareVictims);
    for (const [place, unit] of units.entries()) unit.place = place;
    for (const list of unitsOn) if (list.length > 1) list.sort(comparePlaces);
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
    for (let worker = 0; worker < table.count; worker += 1) {
      if (table.healthy[worker] === 0) continue;
      const reach = this.reach(worker, band);
      for (let row = 0; row < table.rows; row += 1) {
        const at =
          row * this.cardSteps + Math.min(reach.cards[row * table.count + worker] ?? 0, this.cardSteps - 1);
        made.cpu[at] = Math.max(made.cpu[at] ?? 0, reach.cpu[worker] ?? 0);
        made.memory[at] = Math.max(made.memory[at] ?? 0, reach.memory[worker] ?? 0);
      }
    }
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

  private measure(victim: Victim): void {
    victim.rank = batch;
    victim.preemptions = 0;
    victim.lost = 0;
    victim.value = 0;
    victim.startedMs = Number.NEGATIVE_INFINITY;
    victim.fixed = false;
    for (const member of victim.members) {
      const { attempt } = member;
      victim.rank = Math.min(victim.rank, bandRank(attempt.band));
      victim.preemptions = Math.max(victim.preemptions, attempt.preemptions);
      victim.value += member.value;
      // Whole seconds: a sum of whole numbers is the same in every order.
      victim.lost += Math.floor(lostMs(member, this.nowMs) / 1000) * member.value;
      victim.startedMs = Math.max(victim.startedMs, attempt.startedAtMs ?? this.nowMs);
      if (member.worker < 0) victim.fixed = true;
    }
  }

  private ranLongEnough(victim: Victim, band: number): boolean {
    return this.nowMs - victim.startedMs >= this.minRunMs(victim, band);
  }

  private minRunMs(victim: Victim, band: number): number {
    return victim.rank === batch && band <= production ? 0 : (this.rules?.minRunMs ?? 0);
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
