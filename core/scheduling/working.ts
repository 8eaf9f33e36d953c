/**
 * What is free while a pass places tasks: the pass's own copy, in arrays that are kept from pass to pass. `now` may be given at once;
 * `later` also counts what is on its way out. What provisional places claim is in neither.
 */
import { chooseDevices } from './devices.js';
import { Groupings } from './group-changes.js';
import { deviceBits, type Held, type Holdings } from './holdings.js';
import { cardsLater, cardsNow, isOpenLater, isOpenNow } from './open-cards.js';
import type { Rules } from './rules.js';
import type { Shape } from './shape.js';
import { SharedCards } from './shared-cards.js';
import type { WorkerTable } from './worker-table.js';

/** Free for now, and free once those on their way out are gone. */
const [nowBit, laterBit] = [1, 2];
const manySlots = 0x7fffffff;
/** Entries of `grown`, for each machine, before it is begun anew. */
const keptGrowth = 4;

export class Working {
  table: WorkerTable;
  /** Grows with each pass, and whenever something becomes free within one: what failed before may not fail again. */
  epoch = 0;
  /** Grows with each change of a machine, within a pass and between passes: what was found out about it holds while this stays. */
  touched = new Int32Array(0);
  /** Machines that may have more to give than before, in the order it happened; `grownBase` older entries were dropped. */
  readonly grown: number[] = [];
  grownBase = 0;
  freeCpu = new Float64Array(0);
  freeMemory = new Float64Array(0);
  laterCpu = new Float64Array(0);
  laterMemory = new Float64Array(0);
  slots = new Int32Array(0);
  /** Tasks the machine was given in this pass. */
  given = new Int32Array(0);
  devices = new Uint8Array(0);
  /** Free cards, `[row * count + worker]`. */
  nowCards = new Int16Array(0);
  laterCards = new Int16Array(0);
  /** 1 + position in the pass's reservations; 0 for none. */
  reserved = new Uint8Array(0);
  /** Sets of machines by row and free cards; in row 0, set 0 has the machines without cards and set k+1 those with k free. */
  buckets = new Uint32Array(0);
  bucketSizes = new Int32Array(0);
  bucketCount = 0;
  fitChecks = 0;
  /** Machines that something is leaving. */
  readonly leavers: number[] = [];
  private leaves = new Uint8Array(0);
  /** The set each machine is in, `[row * count + worker]`; -1 for none. */
  private bucketAt = new Int16Array(0);
  /** Changed by the pass itself: the next one takes it over anew. */
  private changed = new Uint8Array(0);
  /** What `WorkerTable.versions` was when the machine was taken over; -1 for never. */
  private seen = new Int32Array(0);
  private buildSlots: number | null = null;
  readonly shared: SharedCards;
  readonly groupings = new Groupings();

  constructor(table: WorkerTable) {
    this.table = table;
    this.shared = new SharedCards(table);
    this.allocate(table);
  }

  /** Takes over the machines that have changed since the last pass, or in it. */
  start(table: WorkerTable, holdings: Holdings, rules: Rules, nowMs: number): void {
    if (this.table !== table) this.allocate(table);
    this.epoch += 1;
    this.groupings.begin();
    this.shared.begin(nowMs);
    this.fitChecks = 0;
    this.leavers.length = 0;
    if (this.buildSlots !== rules.buildSlots) this.seen.fill(-1);
    this.buildSlots = rules.buildSlots;
    if (this.grown.length > keptGrowth * table.count) {
      this.grownBase += this.grown.length;
      this.grown.length = 0;
    }
    for (let worker = 0; worker < table.count; worker += 1) {
      const changed = this.seen[worker] !== table.versions[worker] || this.changed[worker] === 1;
      if (changed || this.shared.isDue(worker)) this.takeOver(worker, holdings);
      if (this.leaves[worker] === 1) this.leavers.push(worker);
    }
  }

  private takeOver(worker: number, holdings: Holdings): void {
    const { table } = this;
    this.seen[worker] = table.versions[worker] ?? 0;
    this.changed[worker] = 0;
    this.given[worker] = 0;
    this.reserved[worker] = 0;
    const cpu = (table.cpu[worker] ?? 0) - (table.othersCpu[worker] ?? 0) - (holdings.heldCpu[worker] ?? 0);
    const memory =
      (table.memory[worker] ?? 0) - (table.othersMemory[worker] ?? 0) - (holdings.heldMemory[worker] ?? 0);
    this.freeCpu[worker] = cpu;
    this.freeMemory[worker] = memory;
    this.laterCpu[worker] = cpu + (holdings.leavingCpu[worker] ?? 0) - (holdings.claimedCpu[worker] ?? 0);
    this.laterMemory[worker] =
      memory + (holdings.leavingMemory[worker] ?? 0) - (holdings.claimedMemory[worker] ?? 0);
    const own = table.slots[worker] ?? -1;
    const slots = own >= 0 ? own : (this.buildSlots ?? manySlots);
    this.slots[worker] = slots - (holdings.building[worker] ?? 0);
    this.startDevices(worker, holdings);
    this.rebucket(worker);
    this.leaves[worker] = Number(
      (holdings.leavingCpu[worker] ?? 0) > 0 || (holdings.leavingMemory[worker] ?? 0) > 0,
    );
    this.noteGrowth(worker);
  }

  /** It may have more to give than was found before. */
  noteGrowth(worker: number): void {
    this.grown.push(worker);
    this.noteChange(worker);
  }

  private noteChange(worker: number): void {
    this.touched[worker] = (this.touched[worker] ?? 0) + 1;
    this.groupings.note(worker);
  }

  /** Changed by this pass, for this pass. */
  private touch(worker: number): void {
    this.changed[worker] = 1;
    this.noteChange(worker);
  }

  private startDevices(worker: number, holdings: Holdings): void {
    const { table } = this;
    for (let row = 0; row < table.rows; row += 1) {
      this.nowCards[row * table.count + worker] = 0;
      this.laterCards[row * table.count + worker] = 0;
    }
    this.shared.beginWorker(worker);
    const end = table.deviceStart[worker + 1] ?? 0;
    for (let at = table.deviceStart[worker] ?? 0; at < end; at += 1) {
      this.devices[at] = 0;
      const state = holdings.devices[at] ?? 0;
      this.shared.load(worker, at, holdings, (state & deviceBits.claimed) !== 0);
      if (table.deviceOk[at] === 0) continue;
      if ((state & deviceBits.claimed) !== 0) continue;
      if ((state & deviceBits.held) === 0) this.setDevice(worker, at, nowBit | laterBit);
      else if ((state & deviceBits.leaving) !== 0) this.setDevice(worker, at, laterBit);
    }
  }

  /** True when one more task of the shape may start there at once. */
  fitsNow(shape: Shape, worker: number): boolean {
    this.fitChecks += 1;
    return (
      (this.slots[worker] ?? 0) > 0 &&
      this.nowCpu(worker) >= shape.cpu &&
      this.nowMemory(worker) >= shape.memory &&
      (shape.gpus === 0 || cardsNow(this, shape, worker) >= shape.gpus)
    );
  }

  nowCpu(worker: number): number {
    return Math.min(this.freeCpu[worker] ?? 0, this.laterCpu[worker] ?? 0);
  }

  nowMemory(worker: number): number {
    return Math.min(this.freeMemory[worker] ?? 0, this.laterMemory[worker] ?? 0);
  }

  /** The same with what is on its way out, starts under way aside. */
  fitsLater(shape: Shape, worker: number): boolean {
    this.fitChecks += 1;
    return (
      (this.reserved[worker] ?? 0) === 0 &&
      (this.laterCpu[worker] ?? 0) >= shape.cpu &&
      (this.laterMemory[worker] ?? 0) >= shape.memory &&
      (shape.gpus === 0 || cardsLater(this, shape, worker) >= shape.gpus)
    );
  }

  private noteLeaver(worker: number): void {
    if (this.leaves[worker] === 1) return;
    this.leaves[worker] = 1;
    this.leavers.push(worker);
  }

  /** Tasks of the shape that may start there at once. */
  roomNow(shape: Shape, worker: number): number {
    this.fitChecks += 1;
    let room = this.slots[worker] ?? 0;
    if (shape.cpu > 0) room = Math.min(room, Math.floor(this.nowCpu(worker) / shape.cpu));
    if (shape.memory > 0) room = Math.min(room, Math.floor(this.nowMemory(worker) / shape.memory));
    if (shape.gpus > 0) room = Math.min(room, Math.floor(cardsNow(this, shape, worker) / shape.gpus));
    return Math.max(0, room);
  }

  /** Gives a place that can start at once. The caller has checked that it fits. */
  take(shape: Shape, worker: number, byIndex = false): string[] {
    this.freeCpu[worker] = (this.freeCpu[worker] ?? 0) - shape.cpu;
    this.freeMemory[worker] = (this.freeMemory[worker] ?? 0) - shape.memory;
    this.slots[worker] = (this.slots[worker] ?? 0) - 1;
    return this.claim(shape, worker, nowBit, byIndex);
  }

  /** Gives a place that waits for what is on its way out. */
  takeLater(shape: Shape, worker: number, byIndex = false): string[] {
    return this.claim(shape, worker, laterBit, byIndex);
  }

  private claim(shape: Shape, worker: number, bit: number, byIndex: boolean): string[] {
    this.laterCpu[worker] = (this.laterCpu[worker] ?? 0) - shape.cpu;
    this.laterMemory[worker] = (this.laterMemory[worker] ?? 0) - shape.memory;
    this.given[worker] = (this.given[worker] ?? 0) + 1;
    this.touch(worker);
    if (shape.gpus === 0) return [];
    const { shared, table } = this;
    const isOpen = (at: number) => (bit === nowBit ? isOpenNow : isOpenLater)(this, shape, at);
    const pick = shape.sharedBytes === null ? null : shared;
    const uuids: string[] = [];
    for (const at of chooseDevices(table, worker, shape, isOpen, byIndex, pick)) {
      uuids.push(table.deviceUuid[at] ?? '');
      this.setDevice(worker, at, 0);
      if (shape.sharedBytes === null || bit === laterBit) shared.close([at]);
      else shared.join(at, shape.sharedBytes);
    }
    this.rebucket(worker);
    return uuids;
  }

  /** What an attempt holds will be free: it is on its way out from now on. */
  leave(held: Held): void {
    const { worker, attempt } = held;
    if (worker < 0) return;
    this.noteLeaver(worker);
    this.touch(worker);
    this.laterCpu[worker] = (this.laterCpu[worker] ?? 0) + attempt.cpuMillicores;
    this.laterMemory[worker] = (this.laterMemory[worker] ?? 0) + attempt.memoryBytes;
    for (const at of held.devices) {
      this.shared.leave(at);
      if (this.table.deviceOk[at] === 1 && this.shared.staying[at] === 0)
        this.setDevice(worker, at, laterBit);
    }
  }

  /** The opposite: it stays. */
  stay(held: Held): void {
    const { worker, attempt } = held;
    if (worker < 0) return;
    this.touch(worker);
    this.laterCpu[worker] = (this.laterCpu[worker] ?? 0) - attempt.cpuMillicores;
    this.laterMemory[worker] = (this.laterMemory[worker] ?? 0) - attempt.memoryBytes;
    for (const at of held.devices) this.setDevice(worker, at, 0);
    this.shared.stay(held.devices);
  }

  /** True when nothing that is promised needs what the attempt holds. */
  isSpare(held: Held): boolean {
    const { worker, attempt } = held;
    if (worker < 0) return true;
    return (
      (this.laterCpu[worker] ?? 0) >= attempt.cpuMillicores &&
      (this.laterMemory[worker] ?? 0) >= attempt.memoryBytes &&
      // Shared with some that stay it is promised to nobody either.
      held.devices.every(
        (at) => this.table.deviceOk[at] === 0 || this.isLater(at) || this.shared.isShared(at),
      )
    );
  }

  /** Gives up a provisional place: what it claimed is free for others of this pass. */
  unclaim(shape: Shape, worker: number, devices: readonly number[], holdings: Holdings): void {
    this.laterCpu[worker] = (this.laterCpu[worker] ?? 0) + shape.cpu;
    this.laterMemory[worker] = (this.laterMemory[worker] ?? 0) + shape.memory;
    this.touch(worker);
    this.grown.push(worker);
    for (const at of devices) {
      if (this.table.deviceOk[at] === 0) continue;
      const state = holdings.devices[at] ?? 0;
      this.shared.load(worker, at, holdings, false);
      if ((state & deviceBits.held) === 0) this.setDevice(worker, at, nowBit | laterBit);
      else this.setDevice(worker, at, (state & deviceBits.leaving) === 0 ? 0 : laterBit);
    }
    this.rebucket(worker);
  }

  /** Takes a provisional place back as it was. */
  reclaim(shape: Shape, worker: number, devices: readonly number[]): void {
    this.touch(worker);
    this.laterCpu[worker] = (this.laterCpu[worker] ?? 0) - shape.cpu;
    this.laterMemory[worker] = (this.laterMemory[worker] ?? 0) - shape.memory;
    for (const at of devices) this.setDevice(worker, at, 0);
    this.shared.close(devices);
    this.rebucket(worker);
  }

  isNow(at: number): boolean {
    return ((this.devices[at] ?? 0) & nowBit) !== 0;
  }

  isLater(at: number): boolean {
    return ((this.devices[at] ?? 0) & laterBit) !== 0;
  }

  /** Takes just these devices, all free now. */
  takeExactly(shape: Shape, worker: number, devices: readonly number[]): void {
    this.freeCpu[worker] = (this.freeCpu[worker] ?? 0) - shape.cpu;
    this.freeMemory[worker] = (this.freeMemory[worker] ?? 0) - shape.memory;
    this.slots[worker] = (this.slots[worker] ?? 0) - 1;
    this.given[worker] = (this.given[worker] ?? 0) + 1;
    this.reclaim(shape, worker, devices);
    if (shape.sharedBytes !== null) for (const at of devices) this.shared.join(at, shape.sharedBytes);
  }

  /** Keeps the machine out of what any task finds. */
  reserve(worker: number, reservation: number): void {
    this.reserved[worker] = reservation + 1;
    this.rebucket(worker);
    this.touch(worker);
  }

  private setDevice(worker: number, at: number, bits: number): void {
    const before = this.devices[at] ?? 0;
    if (before === bits) return;
    this.devices[at] = bits;
    const now = (bits & nowBit) - (before & nowBit);
    const later = ((bits & laterBit) - (before & laterBit)) >> 1;
    const model = (this.table.deviceRow[at] ?? 0) * this.table.count + worker;
    this.nowCards[worker] = (this.nowCards[worker] ?? 0) + now;
    this.nowCards[model] = (this.nowCards[model] ?? 0) + now;
    this.laterCards[worker] = (this.laterCards[worker] ?? 0) + later;
    this.laterCards[model] = (this.laterCards[model] ?? 0) + later;
  }

  /** -1: the machine has no card of that model, or is kept for somebody. */
  private bucketOf(worker: number, row: number): number {
    if ((this.reserved[worker] ?? 0) > 0) return -1;
    const at = row * this.table.count + worker;
    if ((this.table.cards[at] ?? 0) === 0) return row === 0 ? 0 : -1;
    return (this.nowCards[at] ?? 0) + 1;
  }

  private rebucket(worker: number): void {
    const { rows, count, words } = this.table;
    const word = worker >>> 5;
    const bit = 1 << (worker & 31);
    for (let row = 0; row < rows; row += 1) {
      const before = this.bucketAt[row * count + worker] ?? -1;
      const after = this.bucketOf(worker, row);
      if (before === after) continue;
      this.bucketAt[row * count + worker] = after;
      if (before >= 0) {
        const set = row * this.bucketCount + before;
        this.buckets[set * words + word] = (this.buckets[set * words + word] ?? 0) & ~bit;
        this.bucketSizes[set] = (this.bucketSizes[set] ?? 0) - 1;
      }
      if (after >= 0) {
        const set = row * this.bucketCount + after;
        this.buckets[set * words + word] = (this.buckets[set * words + word] ?? 0) | bit;
        this.bucketSizes[set] = (this.bucketSizes[set] ?? 0) + 1;
      }
    }
  }

  private allocate(table: WorkerTable): void {
    this.table = table;
    const { count, rows, words } = table;
    this.shared.reset(table);
    for (const name of ['freeCpu', 'freeMemory', 'laterCpu', 'laterMemory'] as const)
      this[name] = new Float64Array(count);
    for (const name of ['slots', 'given', 'touched'] as const) this[name] = new Int32Array(count);
    this.devices = new Uint8Array(table.deviceRow.length);
    this.nowCards = new Int16Array(rows * count);
    this.laterCards = new Int16Array(rows * count);
    this.reserved = new Uint8Array(count);
    this.leaves = new Uint8Array(count);
    this.changed = new Uint8Array(count);
    this.seen = new Int32Array(count).fill(-1);
    this.bucketAt = new Int16Array(rows * count).fill(-1);
    this.grownBase += this.grown.length;
    this.grown.length = 0;
    this.bucketCount = table.maxDevices + 2;
    this.buckets = new Uint32Array(rows * this.bucketCount * words);
    this.bucketSizes = new Int32Array(rows * this.bucketCount);
  }
}
