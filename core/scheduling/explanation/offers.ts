/** What each machine could give at once, and how near it comes to what a task needs. */
import type { NeedView, Offer, SharingView, Shortfall } from '../../contract/explanation.js';
import type { Cluster } from '../cluster.js';
import type { Placed } from '../decision.js';
import { deviceBits } from '../holdings.js';
import type { JobEntry } from '../queue.js';
import type { Shape } from '../shape.js';
import { cardUse, hasShare, marginOf, notShared, type CardUse } from '../sharing.js';

export function needOf({ job, shape }: JobEntry, cluster: Cluster): NeedView {
  return {
    cpuMillicores: job.cpuMillicores,
    memoryBytes: job.memoryBytes,
    gpuCount: shape.gpus,
    ...(shape.sharedBytes === null ? {} : { sharedGpuBytes: shape.sharedBytes }),
    gpuVariant: shape.row > 0 ? (cluster.table.variants[shape.row - 1] ?? job.gpuVariant) : job.gpuVariant,
  };
}

export class Offers {
  /** Given by a decision that is not carried out yet, by machine. */
  private readonly given = new Map<number, { cpu: number; memory: number }>();
  /** With what those who share them said they use; null: given to one alone. */
  private readonly givenDevices = new Map<number, readonly number[] | null>();

  constructor(
    private readonly cluster: Cluster,
    private readonly nowMs: number,
    placed: readonly Placed[] = [],
  ) {
    for (const { jobId, workerId, devices } of placed) {
      const worker = cluster.table.positions.get(workerId) ?? -1;
      const job = cluster.queue.jobs.get(jobId)?.job;
      if (job === undefined) continue;
      const { cpu = 0, memory = 0 } = this.given.get(worker) ?? {};
      this.given.set(worker, { cpu: cpu + job.cpuMillicores, memory: memory + job.memoryBytes });
      const bytes = job.sharedGpuBytes ?? null;
      for (const at of cluster.holdings.positionsOf(worker, devices))
        this.givenDevices.set(at, bytes === null ? null : [...(this.givenDevices.get(at) ?? []), bytes]);
    }
  }

  /** What is promised counts as used, what is on its way out as not free yet. */
  cpu(worker: number): number {
    const { table, holdings } = this.cluster;
    const mine = (table.cpu[worker] ?? 0) - (table.othersCpu[worker] ?? 0);
    const free = mine - (holdings.heldCpu[worker] ?? 0);
    const later = free + (holdings.leavingCpu[worker] ?? 0) - (holdings.claimedCpu[worker] ?? 0);
    return Math.max(0, Math.min(free, later) - (this.given.get(worker)?.cpu ?? 0));
  }

  memory(worker: number): number {
    const { table, holdings } = this.cluster;
    const mine = (table.memory[worker] ?? 0) - (table.othersMemory[worker] ?? 0);
    const free = mine - (holdings.heldMemory[worker] ?? 0);
    const later = free + (holdings.leavingMemory[worker] ?? 0) - (holdings.claimedMemory[worker] ?? 0);
    return Math.max(0, Math.min(free, later) - (this.given.get(worker)?.memory ?? 0));
  }

  /** Cards a task of the shape could be given now. */
  cards(worker: number, shape: Shape): number {
    const { holdings, table } = this.cluster;
    const taken = deviceBits.held | deviceBits.claimed;
    const { sharedBytes } = shape;
    return this.count(worker, shape.row, (at, ok) => {
      if (!ok) return false;
      if (sharedBytes === null)
        return ((holdings.devices[at] ?? 0) & taken) === 0 && !this.givenDevices.has(at);
      const most = table.deviceSharers[at] ?? 1;
      return hasShare(this.use(at), table.deviceMemory[at], most, sharedBytes);
    });
  }

  /** Who shares a card, and what counts of its memory, with what was given already. */
  private use(at: number): CardUse {
    const { holdings, table } = this.cluster;
    const use = cardUse(holdings.holdersAt[at] ?? [], table.deviceMemory[at], this.nowMs);
    const given = this.givenDevices.get(at);
    const isClaimed = ((holdings.devices[at] ?? 0) & deviceBits.claimed) !== 0;
    if (isClaimed || given === null) return { ...use, sharers: notShared };
    if (given === undefined || use.sharers === notShared) return use;
    return {
      ...use,
      sharers: use.sharers + given.length,
      countedBytes: given.reduce((sum, bytes) => sum + bytes, use.countedBytes),
    };
  }

  /** Why cards of the machine cannot be shared by a task of the shape now. */
  private sharing(shape: Shape, worker: number): SharingView {
    const { table } = this.cluster;
    const view = { alone: 0, crowded: 0, unreadable: 0, full: 0, mostFreeBytes: 0 };
    this.count(worker, shape.row, (at, ok) => {
      if (!ok) return false;
      const memory = table.deviceMemory[at] ?? null;
      const { sharers, countedBytes } = this.use(at);
      if (memory === null) view.unreadable += 1;
      else if (sharers === notShared) view.alone += 1;
      else if (sharers >= (table.deviceSharers[at] ?? 1)) view.crowded += 1;
      else {
        view.full += 1;
        const free = memory.totalBytes - marginOf(memory.totalBytes) - countedBytes;
        view.mostFreeBytes = Math.max(view.mostFreeBytes, free);
      }
      return false;
    });
    return view;
  }

  count(worker: number, row: number, wanted: (at: number, ok: boolean) => boolean): number {
    const { table } = this.cluster;
    let count = 0;
    for (let at = table.deviceStart[worker] ?? 0; at < (table.deviceStart[worker + 1] ?? 0); at += 1) {
      if (row !== 0 && table.deviceRow[at] !== row) continue;
      if (wanted(at, table.deviceOk[at] === 1)) count += 1;
    }
    return count;
  }

  fits(shape: Shape, worker: number): boolean {
    return (
      this.cpu(worker) >= shape.cpu &&
      this.memory(worker) >= shape.memory &&
      (shape.gpus === 0 || this.cards(worker, shape) >= shape.gpus)
    );
  }

  /** Tasks of the shape that have room there at once. */
  room(shape: Shape, worker: number): number {
    return slots(shape, this.cpu(worker), this.memory(worker), this.cards(worker, shape));
  }

  /** The same if the machine were empty. */
  emptyRoom(shape: Shape, worker: number): number {
    const { table } = this.cluster;
    const cards = table.cards[shape.row * table.count + worker] ?? 0;
    return slots(shape, table.cpu[worker] ?? 0, table.memory[worker] ?? 0, cards);
  }

  /** True when it may start something more now. */
  hasSlot(worker: number, buildSlots: number | null): boolean {
    const { table, holdings } = this.cluster;
    const own = table.slots[worker] ?? -1;
    const most = own >= 0 ? own : buildSlots;
    return most === null || (holdings.building[worker] ?? 0) < most;
  }

  offer(shape: Shape, worker: number): Offer {
    const { table } = this.cluster;
    const lacks: Shortfall[] = [];
    const lack = (
      resource: Shortfall['resource'],
      needed: number,
      free: number,
      total: number,
      others: number,
    ) => {
      if (needed > free) lacks.push({ resource, needed, free, total, ...(others > 0 ? { others } : {}) });
    };
    lack('cpu', shape.cpu, this.cpu(worker), table.cpu[worker] ?? 0, table.othersCpu[worker] ?? 0);
    const memory = this.memory(worker);
    lack('memory', shape.memory, memory, table.memory[worker] ?? 0, table.othersMemory[worker] ?? 0);
    const row = shape.row * table.count;
    lack('gpu', shape.gpus, this.cards(worker, shape), table.cards[row + worker] ?? 0, 0);
    const { gpus = [], id = '' } = table.workers[worker] ?? {};
    const variant = table.variants[shape.row - 1];
    const asked = gpus.filter((gpu) => shape.gpus > 0 && (shape.row === 0 || gpu.variant === variant));
    const users = asked.flatMap((gpu) => (gpu.usable && gpu.busyByOthers ? (gpu.usedBy ?? []) : []));
    return {
      workerId: id,
      lacks,
      gpusUsedByOthers: asked.filter((gpu) => gpu.usable && gpu.busyByOthers).length,
      ...(users.length === 0 ? {} : { gpuUsers: [...new Set(users)].sort().slice(0, 5) }),
      gpusNotAnswering: asked.filter((gpu) => !gpu.usable && gpu.kept !== true).length,
      gpusKept: asked.filter((gpu) => gpu.kept === true).length,
      ...(shape.sharedBytes === null || shape.gpus === 0 ? {} : { sharing: this.sharing(shape, worker) }),
    };
  }
}

/** Fewer things lacking first, then the one that has most of them. */
export function compareOffers(left: Offer, right: Offer): number {
  return left.lacks.length - right.lacks.length || shareOf(right) - shareOf(left);
}

function shareOf({ lacks }: Offer): number {
  return lacks.reduce((sum, { free, needed }) => sum + free / needed, 0);
}

function slots(shape: Shape, cpu: number, memory: number, cards: number): number {
  let room = 10_000;
  if (shape.cpu > 0) room = Math.min(room, Math.floor(cpu / shape.cpu));
  if (shape.memory > 0) room = Math.min(room, Math.floor(memory / shape.memory));
  if (shape.gpus > 0) room = Math.min(room, Math.floor(cards / shape.gpus));
  return room;
}
