/** What attempts and provisional places hold of each machine, counted while they change. */
import { countsAsSpend } from '../budget/spend.js';
import { resourceValue } from '../budget/value.js';
import { bandRank } from '../contract/states.js';
import type { Claim, HeldAttempt, QueuedJob } from './inputs.js';
import type { UserEntry } from './queue.js';
import type { WorkerTable } from './worker-table.js';

export interface Held {
  readonly attempt: HeldAttempt;
  readonly user: UserEntry;
  /** -1 while its machine is not among those known. */
  worker: number;
  /** Positions of its devices in the table. */
  devices: readonly number[];
  readonly value: number;
  unit: Victim | null;
}

/** What falls together: one attempt, or the running members of a gang. */
export interface Victim {
  /** Of the task, or of the gang's job. */
  readonly id: string;
  readonly gang: boolean;
  readonly members: Held[];
  /** Of its best band; kept as members come and go, like all up to `fixed`. */
  rank: number;
  preemptions: number;
  value: number;
  /** What all its members hold. */
  cpu: number;
  memory: number;
  cards: number;
  /** When the last of them started; Infinity while one has not. */
  startedMs: number;
  /** Some member may not be taken: its machine is not known. */
  fixed: boolean;
  /** Value x seconds of work since the last checkpoints; computed when a pass compares victims. */
  lost: number;
  /** Among all, in the order they would be evicted. */
  place: number;
  /** Taken in the pass of that number. */
  taken: number;
}

/** Nothing of it runs any more. */
export function isGone(victim: Victim): boolean {
  return victim.members.length === 0;
}

/** A device is held, held by what is on its way out, or claimed. */
export const deviceBits = { held: 1, leaving: 2, claimed: 4 } as const;

export class Holdings {
  readonly held = new Map<string, Held>();
  /** Victims on each machine, in the order of the last pass that sorted them. */
  unitsOn: Victim[][] = [];
  readonly gangs = new Map<string, Victim>();
  /** Every victim there may be, ended ones among them until `sweep`. */
  units: Victim[] = [];
  /** Attempts in somebody's reservation, who may evict them at any time. */
  guests = 0;
  private gone = 0;
  /** Those whose eviction is decided, the notice not sent. */
  readonly asked = new Map<string, Held>();
  /** Active attempts by job. */
  readonly active = new Map<string, number>();
  /** Held, of that on its way out, and claimed, by machine. */
  heldCpu = new Float64Array(0);
  heldMemory = new Float64Array(0);
  leavingCpu = new Float64Array(0);
  leavingMemory = new Float64Array(0);
  claimedCpu = new Float64Array(0);
  claimedMemory = new Float64Array(0);
  /** ASSIGNED and BUILDING. */
  building = new Int32Array(0);
  devices = new Uint8Array(0);
  /** Who holds each device: several only where all of them share it. */
  holdersAt: Held[][] = [];
  private readonly claims = new Map<string, { readonly claim: Claim; readonly job: QueuedJob }>();

  constructor(private table: WorkerTable) {
    this.reset(table);
  }

  /** Counts anew over other machines. */
  reset(table: WorkerTable): void {
    this.table = table;
    this.unitsOn = Array.from({ length: table.count }, () => []);
    for (const name of [
      'heldCpu',
      'heldMemory',
      'leavingCpu',
      'leavingMemory',
      'claimedCpu',
      'claimedMemory',
    ] as const)
      this[name] = new Float64Array(table.count);
    this.building = new Int32Array(table.count);
    this.devices = new Uint8Array(table.deviceRow.length);
    this.holdersAt = Array.from({ length: table.deviceRow.length }, () => []);
    for (const held of this.held.values()) {
      held.worker = table.positions.get(held.attempt.workerId) ?? -1;
      held.devices = this.positionsOf(held.worker, held.attempt.devices);
      this.count(held, 1);
      if (held.unit !== null) this.listUnit(held.unit, held.worker);
    }
    for (const unit of this.units) sumUp(unit);
    for (const { claim, job } of this.claims.values()) this.countClaim(claim, job, 1);
  }

  put(attempt: HeldAttempt, user: UserEntry): void {
    this.remove(attempt.uid);
    const worker = this.table.positions.get(attempt.workerId) ?? -1;
    const held: Held = {
      attempt,
      user,
      worker,
      devices: this.positionsOf(worker, attempt.devices),
      value: resourceValue({
        cpuMillicores: attempt.cpuMillicores,
        memoryBytes: attempt.memoryBytes,
        gpuCount: attempt.devices.length,
      }),
      unit: null,
    };
    this.held.set(attempt.uid, held);
    if (attempt.evictableBy !== null) this.guests += 1;
    this.count(held, 1);
    this.charge(held, 1);
    if (attempt.leaving === 'asked' && attempt.state !== 'ENDING') this.asked.set(attempt.uid, held);
    if (attempt.state === 'ENDING' || attempt.leaving !== 'no') return;
    const unit = attempt.gang ? (this.gangs.get(attempt.jobId) ?? newVictim(attempt.jobId, true)) : null;
    held.unit = unit ?? newVictim(attempt.taskId, false);
    if (unit !== null) this.gangs.set(attempt.jobId, unit);
    if (held.unit.members.length === 0) this.units.push(held.unit);
    held.unit.members.push(held);
    const alike = held.unit.members[0]?.attempt.evictableBy === attempt.evictableBy;
    if (addUp(held.unit, held) || !alike) this.markMembers(held.unit);
    this.listUnit(held.unit, worker);
  }

  get(uid: string): Held | undefined {
    return this.held.get(uid);
  }

  remove(uid: string): void {
    const held = this.held.get(uid);
    if (held === undefined) return;
    this.held.delete(uid);
    if (held.attempt.evictableBy !== null) this.guests -= 1;
    this.asked.delete(uid);
    this.count(held, -1);
    this.charge(held, -1);
    const { unit, worker } = held;
    if (unit === null) return;
    unit.members.splice(unit.members.indexOf(held), 1);
    sumUp(unit);
    this.markMembers(unit);
    if (unit.members.length === 0) {
      if (unit.gang) this.gangs.delete(unit.id);
      this.gone += 1;
      if (this.gone * 2 > this.units.length) this.sweep();
    }
    if (unit.members.some((member) => member.worker === worker)) return;
    const list = this.unitsOn[worker];
    if (list !== undefined) list.splice(list.indexOf(unit), 1);
  }

  sweep(): void {
    this.gone = 0;
    let kept = 0;
    for (const unit of this.units) {
      if (isGone(unit)) continue;
      this.units[kept] = unit;
      kept += 1;
    }
    this.units.length = kept;
  }

  putClaim(claim: Claim, job: QueuedJob): void {
    this.removeClaim(claim.taskId);
    this.claims.set(claim.taskId, { claim, job });
    this.countClaim(claim, job, 1);
  }

  /** The claim that was there. */
  removeClaim(taskId: string): Claim | undefined {
    const known = this.claims.get(taskId);
    if (known === undefined) return undefined;
    this.claims.delete(taskId);
    this.countClaim(known.claim, known.job, -1);
    return known.claim;
  }

  get claimCount(): number {
    return this.claims.size;
  }

  allClaims(): Claim[] {
    return [...this.claims.values()].map(({ claim }) => claim);
  }

  positionsOf(worker: number, uuids: readonly string[]): number[] {
    if (worker < 0 || uuids.length === 0) return [];
    return uuids.map((uuid) => this.table.deviceAt(worker, uuid)).filter((at) => at >= 0);
  }

  /** All of it may be evicted sooner, later or not at all. */
  private markMembers(unit: Victim): void {
    for (const { worker } of unit.members) if (worker >= 0) this.table.mark(worker);
  }

  private listUnit(unit: Victim, worker: number): void {
    const list = this.unitsOn[worker];
    if (list !== undefined && !(unit.gang && list.includes(unit))) list.push(unit);
  }

  private count(held: Held, step: 1 | -1): void {
    const { attempt, worker, devices } = held;
    if (worker < 0) return;
    this.table.mark(worker);
    const { cpuMillicores, memoryBytes, state } = attempt;
    this.heldCpu[worker] = (this.heldCpu[worker] ?? 0) + step * cpuMillicores;
    this.heldMemory[worker] = (this.heldMemory[worker] ?? 0) + step * memoryBytes;
    if (isLeaving(held)) {
      this.leavingCpu[worker] = (this.leavingCpu[worker] ?? 0) + step * cpuMillicores;
      this.leavingMemory[worker] = (this.leavingMemory[worker] ?? 0) + step * memoryBytes;
    }
    if (state === 'ASSIGNED' || state === 'BUILDING')
      this.building[worker] = (this.building[worker] ?? 0) + step;
    for (const at of devices) {
      const holders = this.holdersAt[at] ?? [];
      if (step === 1) holders.push(held);
      else holders.splice(holders.indexOf(held), 1);
      const bits = holders.length === 0 ? 0 : deviceBits.held;
      // It becomes free when the last of them is gone.
      const leaves = bits !== 0 && holders.every(isLeaving) ? deviceBits.leaving : 0;
      this.devices[at] = ((this.devices[at] ?? 0) & deviceBits.claimed) | bits | leaves;
    }
  }

  private charge({ attempt, user, value }: Held, step: 1 | -1): void {
    if (attempt.state === 'ENDING') return;
    const jobActive = (this.active.get(attempt.jobId) ?? 0) + step;
    if (jobActive === 0) this.active.delete(attempt.jobId);
    else this.active.set(attempt.jobId, jobActive);
    user.tasks += step;
    user.cpu += step * attempt.cpuMillicores;
    user.memory += step * attempt.memoryBytes;
    user.gpus += step * attempt.devices.length;
    if (countsAsSpend(attempt.requestedBand)) user.spend += step * value;
  }

  private countClaim(claim: Claim, job: QueuedJob, step: 1 | -1): void {
    const worker = this.table.positions.get(claim.workerId);
    if (worker === undefined) return;
    this.table.mark(worker);
    this.claimedCpu[worker] = (this.claimedCpu[worker] ?? 0) + step * job.cpuMillicores;
    this.claimedMemory[worker] = (this.claimedMemory[worker] ?? 0) + step * job.memoryBytes;
    for (const at of this.positionsOf(worker, claim.devices)) {
      const before = (this.devices[at] ?? 0) & ~deviceBits.claimed;
      this.devices[at] = before | (step === 1 ? deviceBits.claimed : 0);
    }
  }
}

export function isLeaving({ attempt }: Held): boolean {
  return attempt.state === 'ENDING' || attempt.leaving !== 'no';
}

function sumUp(unit: Victim): void {
  unit.rank = bandRank('BATCH');
  unit.preemptions = 0;
  unit.value = 0;
  unit.cpu = 0;
  unit.memory = 0;
  unit.cards = 0;
  unit.startedMs = Number.NEGATIVE_INFINITY;
  unit.fixed = false;
  for (const member of unit.members) addUp(unit, member);
}

/** True when that changed who may evict it, or when. */
function addUp(unit: Victim, { attempt, worker, value }: Held): boolean {
  const { rank, startedMs, fixed } = unit;
  unit.rank = Math.min(rank, bandRank(attempt.band));
  unit.preemptions = Math.max(unit.preemptions, attempt.preemptions);
  unit.value += value;
  unit.cpu += attempt.cpuMillicores;
  unit.memory += attempt.memoryBytes;
  unit.cards += attempt.devices.length;
  unit.startedMs = Math.max(startedMs, attempt.startedAtMs ?? Number.POSITIVE_INFINITY);
  if (worker < 0) unit.fixed = true;
  return unit.rank !== rank || unit.startedMs !== startedMs || unit.fixed !== fixed;
}

function newVictim(id: string, gang: boolean): Victim {
  return {
    id,
    gang,
    members: [],
    rank: bandRank('BATCH'),
    preemptions: 0,
    value: 0,
    cpu: 0,
    memory: 0,
    cards: 0,
    startedMs: Number.NEGATIVE_INFINITY,
    fixed: false,
    lost: 0,
    place: 0,
    taken: -1,
  };
}
