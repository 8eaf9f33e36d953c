/** The cheapest victims on one machine that make room there, over a copy of what will be free. */
import type { Held, Victim } from './holdings.js';
import { cardsLater } from './open-cards.js';
import type { Shape } from './shape.js';
import { couldHold } from './sharing.js';
import { addCost, compareWith, costOf, newCost, type Cost } from './victim-cost.js';
import type { Victims } from './victims.js';
import type { Working } from './working.js';

/** Sets compared one by one before the best so far is taken: victims on a machine are few, and cheap sets come first. */
const maxTried = 100;

type Resource = 'gpus' | 'cpu' | 'memory';

export class VictimSets {
  private shape: Shape | null = null;
  private search = 0;
  private tried = 0;
  private cpu = new Float64Array(0);
  private memory = new Float64Array(0);
  private cards = new Int32Array(0);
  /** Victims shifted from each device. */
  private gone = new Uint8Array(0);
  /** The search a machine's numbers are of. */
  private loaded = new Int32Array(0);

  constructor(
    private readonly working: Working,
    private readonly victims: Victims,
  ) {}

  begin(shape: Shape): void {
    this.shape = shape;
    this.search += 1;
    const { count, deviceRow } = this.working.table;
    if (this.gone.length !== deviceRow.length) this.gone = new Uint8Array(deviceRow.length);
    if (this.loaded.length === count) return;
    this.cpu = new Float64Array(count);
    this.memory = new Float64Array(count);
    this.cards = new Int32Array(count);
    this.loaded = new Int32Array(count);
  }

  /** Tasks the machine could hold with what was shifted so far. */
  room(worker: number): number {
    this.load(worker);
    return roomOf(this.shape, this.cpu[worker] ?? 0, this.memory[worker] ?? 0, this.cards[worker] ?? 0);
  }

  /** What of the three the group has least of for that many tasks of the shape; null when all would do. */
  scarcest(shape: Shape, machines: Int32Array, size: number): { what: Resource; missing: number } | null {
    const { working } = this;
    const { laterCpu, laterMemory } = working;
    if (shape.gpus > 0) {
      let gpus = 0;
      for (const worker of machines) gpus += Math.floor(cardsLater(working, shape, worker) / shape.gpus);
      if (gpus < size) return { what: 'gpus', missing: size - gpus };
    }
    if (shape.cpu > 0) {
      let cpu = 0;
      for (const worker of machines) cpu += Math.max(0, Math.floor((laterCpu[worker] ?? 0) / shape.cpu));
      if (cpu < size) return { what: 'cpu', missing: size - cpu };
    }
    if (shape.memory > 0) {
      let memory = 0;
      for (const worker of machines)
        memory += Math.max(0, Math.floor((laterMemory[worker] ?? 0) / shape.memory));
      if (memory < size) return { what: 'memory', missing: size - memory };
    }
    return null;
  }

  compareOne(victim: Victim, cost: Cost): number {
    return (
      victim.lost - cost.lost ||
      victim.preemptions - cost.preemptions ||
      victim.value - cost.value ||
      1 - cost.count ||
      (victim.id < cost.id ? -1 : victim.id > cost.id ? 1 : 0)
    );
  }

  /** Tasks one victim could make room for at most, as far as that resource goes. */
  mostGain(shape: Shape, victim: Victim, what: Resource): number {
    if (victim.members.length === 1) return gainOf(shape, what, victim.cpu, victim.memory, victim.cards);
    let gain = 0;
    for (const { attempt } of victim.members)
      gain += gainOf(shape, what, attempt.cpuMillicores, attempt.memoryBytes, attempt.devices.length);
    return gain;
  }

  gain(worker: number, victims: readonly Victim[]): number {
    const before = this.room(worker);
    const [only] = victims;
    if (only !== undefined && victims.length === 1) return this.roomWithout(worker, only) - before;
    for (const victim of victims) this.shiftOn(worker, victim, 1);
    const after = this.room(worker);
    for (const victim of victims) this.shiftOn(worker, victim, -1);
    return after - before;
  }

  shiftOn(worker: number, victim: Victim, step: 1 | -1): void {
    this.load(worker);
    for (const member of victim.members) {
      if (member.worker !== worker) continue;
      this.cpu[worker] = (this.cpu[worker] ?? 0) + step * member.attempt.cpuMillicores;
      this.memory[worker] = (this.memory[worker] ?? 0) + step * member.attempt.memoryBytes;
      this.shiftCards(worker, member, step);
    }
  }

  /**
   * The cheapest victims on one machine for `wanted` tasks on it, none better than `threshold`; null when there are none. Those of `taken` are gone already;
   * no gang is among them when they are `single`.
   */
  cheapest(
    worker: number,
    wanted: number,
    band: number,
    threshold: number,
    jobId: string,
    taken: readonly Victim[] = [],
    single = false,
  ): readonly Victim[] | null {
    const candidates: Victim[] = [];
    for (const victim of this.victims.on(worker)) {
      if (victim.rank < threshold) break;
      if ((single && victim.gang) || taken.includes(victim) || !this.victims.isEligible(victim, band, jobId))
        continue;
      // The cheapest of all, alone: no set can cost less.
      if (candidates.length === 0 && this.roomWithout(worker, victim) >= wanted) return [victim];
      candidates.push(victim);
    }
    const greedy = this.greedySet(worker, wanted, candidates);
    if (greedy === null) return null;
    this.tried = 0;
    return this.bestOf(worker, wanted, candidates, costOf(greedy)) ?? greedy;
  }

  /** Tasks the machine could hold if that one were gone as well. */
  private roomWithout(worker: number, victim: Victim): number {
    this.load(worker);
    let cpu = this.cpu[worker] ?? 0;
    let memory = this.memory[worker] ?? 0;
    let cards = this.cards[worker] ?? 0;
    for (const member of victim.members) {
      if (member.worker !== worker) continue;
      cpu += member.attempt.cpuMillicores;
      memory += member.attempt.memoryBytes;
      cards += this.cardsOf(member);
    }
    return roomOf(this.shape, cpu, memory, cards);
  }

  /** Cheap ones until there is room, then without those that were not needed. */
  private greedySet(worker: number, wanted: number, candidates: readonly Victim[]): Victim[] | null {
    const chosen: Victim[] = [];
    for (const victim of candidates) {
      if (this.room(worker) >= wanted) break;
      chosen.push(victim);
      this.shiftOn(worker, victim, 1);
    }
    const enough = this.room(worker) >= wanted;
    const needed: Victim[] = [];
    for (const victim of chosen.reverse()) {
      this.shiftOn(worker, victim, -1);
      if (!enough || this.room(worker) >= wanted) continue;
      this.shiftOn(worker, victim, 1);
      needed.push(victim);
    }
    for (const victim of needed) this.shiftOn(worker, victim, -1);
    return enough ? needed.reverse() : null;
  }

  /** Every set in turn, left as soon as it costs as much as `limit`; null when none costs less. */
  private bestOf(
    worker: number,
    wanted: number,
    candidates: readonly Victim[],
    limit: Cost,
  ): readonly Victim[] | null {
    let best: readonly Victim[] | null = null;
    let bound = limit;
    const chosen: Victim[] = [];
    const oneBand = candidates[0]?.rank === candidates.at(-1)?.rank;
    const walk = (from: number, cost: Cost): void => {
      for (let at = from; at < candidates.length && this.tried < maxTried; at += 1) {
        const victim = candidates[at];
        if (victim === undefined) return;
        this.tried += 1;
        if (compareWith(cost, victim, bound) >= 0) {
          // In order of cost within a band: no later one makes a cheaper sum.
          if (oneBand) return;
          continue;
        }
        const sum = { ...cost };
        addCost(sum, victim);
        chosen.push(victim);
        this.shiftOn(worker, victim, 1);
        if (this.room(worker) >= wanted) {
          best = [...chosen];
          bound = sum;
        } else walk(at + 1, sum);
        this.shiftOn(worker, victim, -1);
        chosen.pop();
      }
    };
    walk(0, newCost());
    return best;
  }

  private load(worker: number): void {
    if (this.loaded[worker] === this.search) return;
    this.loaded[worker] = this.search;
    const { working } = this;
    const { deviceStart } = working.table;
    this.gone.fill(0, deviceStart[worker], deviceStart[worker + 1]);
    const cards = this.shape === null ? 0 : cardsLater(working, this.shape, worker);
    this.cpu[worker] = working.laterCpu[worker] ?? 0;
    this.memory[worker] = working.laterMemory[worker] ?? 0;
    this.cards[worker] = cards;
  }

  /** Cards of the model asked for that would be given to somebody. */
  private cardsOf({ devices }: Held): number {
    const { shape, gone } = this;
    const { staying } = this.working.shared;
    if (shape === null || shape.gpus === 0) return 0;
    let count = 0;
    // A card that is shared becomes free with the last who stays on it.
    for (const at of devices)
      if ((staying[at] ?? 0) - (gone[at] ?? 0) === 1 && this.isOfUse(shape, at)) count += 1;
    return count;
  }

  private shiftCards(worker: number, { devices }: Held, step: 1 | -1): void {
    const { shape, gone } = this;
    const { staying } = this.working.shared;
    let count = 0;
    for (const at of devices) {
      const before = gone[at] ?? 0;
      gone[at] = before + step;
      // The last who stays on it goes, or has come back.
      const last = (staying[at] ?? 0) - (step === 1 ? before : before - 1) === 1;
      if (last && shape !== null && shape.gpus > 0 && this.isOfUse(shape, at)) count += step;
    }
    this.cards[worker] = (this.cards[worker] ?? 0) + count;
  }

  private isOfUse(shape: Shape, at: number): boolean {
    const { table } = this.working;
    if (table.deviceOk[at] === 0 || (shape.row !== 0 && table.deviceRow[at] !== shape.row)) return false;
    return shape.sharedBytes === null || couldHold(table.deviceMemory[at], shape.sharedBytes);
  }
}

function gainOf(shape: Shape, what: Resource, cpu: number, memory: number, cards: number): number {
  if (what === 'gpus') return Math.floor((shape.gpus - 1 + cards) / shape.gpus);
  return what === 'cpu' ? Math.ceil(cpu / shape.cpu) : Math.ceil(memory / shape.memory);
}

function roomOf(shape: Shape | null, cpu: number, memory: number, cards: number): number {
  if (shape === null) return 0;
  let room = 10_000;
  if (shape.cpu > 0) room = Math.min(room, Math.floor(cpu / shape.cpu));
  if (shape.memory > 0) room = Math.min(room, Math.floor(memory / shape.memory));
  if (shape.gpus > 0) room = Math.min(room, Math.floor(cards / shape.gpus));
  return Math.max(0, room);
}
