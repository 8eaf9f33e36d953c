/** Phase 5 of the original (iris-behaviour 3.8): one solo victim for a solo task; for a gang a whole gang, else squatters of a group. */
import { bandRank, type Band } from '../../contract/states.js';
import type { Cluster } from '../cluster.js';
import type { Held, Victim } from '../holdings.js';
import type { JobEntry } from '../queue.js';
import type { Shape } from '../shape.js';
import { isCandidate } from '../shape.js';
import type { Working } from '../working.js';
import { groupsFor, inMemberOrder } from './placement.js';

export interface Taken {
  readonly victims: readonly Held[];
  readonly workers: readonly number[];
}

export class OriginalPreemption {
  private readonly taken = new Set<Victim>();
  /** Hosts used by gangs of this pass. */
  private readonly hosts = new Set<number>();
  private readonly solo: readonly Victim[];
  private readonly gangs: readonly Victim[];

  constructor(
    private readonly cluster: Cluster,
    private readonly working: Working,
  ) {
    const units = cluster.holdings.units.filter((unit) => unit.members.length > 0);
    for (const unit of units) measure(unit);
    const order = (left: Victim, right: Victim) =>
      right.rank - left.rank || left.value - right.value || (left.id < right.id ? -1 : 1);
    // Only what runs on a machine that is known.
    const running = units.filter((unit) =>
      unit.members.every(({ attempt, worker }) => attempt.state === 'RUNNING' && worker >= 0),
    );
    this.solo = running.filter((unit) => !unit.gang).sort(order);
    this.gangs = running.filter((unit) => unit.gang).sort(order);
  }

  /** Worst band first, then the smallest value; never two for one. */
  forTask(entry: JobEntry, band: Band): Taken | null {
    const { shape } = entry;
    for (const victim of this.solo) {
      if (victim.rank <= bandRank(band)) return null;
      const [held] = victim.members;
      if (held === undefined || this.taken.has(victim) || this.hosts.has(held.worker)) continue;
      if (this.variantOf(held) !== shape.row || (shape.gpus === 0) !== (held.devices.length === 0)) continue;
      const { worker } = held;
      if (!isCandidate(shape, worker) || this.working.fitsNow(shape, worker)) continue;
      if (!this.fitsWithout(shape, worker, [held], 1)) continue;
      this.taken.add(victim);
      this.hosts.add(worker);
      return { victims: [held], workers: [worker] };
    }
    return null;
  }

  forGang(entry: JobEntry, band: Band, size: number): Taken | null {
    return this.wholeSlice(entry, band, size) ?? this.squatters(entry, band, size);
  }

  private wholeSlice(entry: JobEntry, band: Band, size: number): Taken | null {
    const { shape } = entry;
    if (shape.gpus === 0 || shape.row === 0) return null;
    for (const victim of this.gangs) {
      const { members } = victim;
      const [first] = members;
      if (first === undefined || this.taken.has(victim) || members.length < size) continue;
      if (this.variantOf(first) !== shape.row) continue;
      // The best of its members decides: every one is strictly worse.
      if (victim.rank <= bandRank(band)) continue;
      if (!members.every(({ worker }) => isCandidate(shape, worker))) continue;
      // The original takes for granted that a slice's hosts are whole; a smaller gang would leave a place that never starts.
      const hosts = [...new Set(members.map(({ worker }) => worker))].filter((worker) => {
        const there = members.filter((member) => member.worker === worker);
        return this.fitsWithout(shape, worker, there, 1);
      });
      if (hosts.length < size) continue;
      this.taken.add(victim);
      const workers = inMemberOrder(hosts, this.working.table).slice(0, size);
      for (const worker of workers) this.hosts.add(worker);
      return { victims: members, workers };
    }
    return null;
  }

  private squatters(entry: JobEntry, band: Band, size: number): Taken | null {
    const { shape } = entry;
    for (const members of groupsFor(shape, this.working.table)) {
      if (members.length < size) continue;
      const free: number[] = [];
      const recoverable: { readonly worker: number; readonly victims: readonly Victim[] }[] = [];
      for (const worker of members) {
        if (this.hosts.has(worker)) continue;
        if (this.working.fitsNow(shape, worker)) {
          free.push(worker);
          continue;
        }
        const victims = this.clear(shape, worker, band);
        if (victims !== null) recoverable.push({ worker, victims });
      }
      if (free.length >= size) return null;
      if (free.length + recoverable.length < size) continue;
      const value = (victims: readonly Victim[]) => victims.reduce((sum, victim) => sum + victim.value, 0);
      const cheapest = recoverable
        .sort(
          (left, right) =>
            left.victims.length - right.victims.length || value(left.victims) - value(right.victims),
        )
        .slice(0, size - free.length);
      const workers = inMemberOrder([...free, ...cheapest.map(({ worker }) => worker)], this.working.table);
      for (const worker of workers) this.hosts.add(worker);
      const victims = cheapest.flatMap((host) => host.victims);
      for (const victim of victims) this.taken.add(victim);
      return { victims: victims.flatMap((victim) => victim.members), workers };
    }
    return null;
  }

  /** Lowest-priority solo victims of a host until a task fits; build slots are not freed here. */
  private clear(shape: Shape, worker: number, band: Band): Victim[] | null {
    const victims: Victim[] = [];
    for (const victim of this.solo) {
      if (victim.rank <= bandRank(band)) break;
      if (victim.members[0]?.worker !== worker || this.taken.has(victim)) continue;
      victims.push(victim);
      const held = victims.flatMap(({ members }) => members);
      if (this.fitsWithout(shape, worker, held, 0)) return victims;
    }
    return null;
  }

  private fitsWithout(shape: Shape, worker: number, victims: readonly Held[], slots: number): boolean {
    const { working } = this;
    let cpu = working.nowCpu(worker);
    let memory = working.nowMemory(worker);
    // For who shares: whole ones, as what leaves has to be gone before anything counts.
    let cards =
      shape.sharedBytes === null ? (working.nowCards[shape.row * working.table.count + worker] ?? 0) : 0;
    const leaving = new Map<number, number>();
    for (const { attempt, devices } of victims) {
      cpu += attempt.cpuMillicores;
      memory += attempt.memoryBytes;
      for (const at of devices) {
        const model = working.table.deviceRow[at];
        leaving.set(at, (leaving.get(at) ?? 0) + 1);
        if (leaving.get(at) !== working.shared.staying[at]) continue;
        if (working.table.deviceOk[at] === 1 && (shape.row === 0 || model === shape.row)) cards += 1;
      }
    }
    const free = (working.slots[worker] ?? 0) + slots;
    return free > 0 && cpu >= shape.cpu && memory >= shape.memory && cards >= shape.gpus;
  }

  /** Row of the model it holds; 0 without cards. */
  private variantOf(held: Held): number {
    const [device] = held.devices;
    return device === undefined ? 0 : (this.cluster.table.deviceRow[device] ?? 0);
  }
}

function measure(unit: Victim): void {
  unit.rank = Math.min(...unit.members.map(({ attempt }) => bandRank(attempt.band)));
  unit.value = unit.members.reduce((sum, { value }) => sum + value, 0);
}
