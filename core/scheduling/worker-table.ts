/** The machines as columns, in the order of their ids: position in that order is what the phases call a worker. */
import { compareTexts } from '../model/sorted-list.js';
import { availabilityMarker, type Capabilities } from './availability.js';
import type { SchedulingWorker } from './free.js';
import { defaultSharers, type CardMemory } from './sharing.js';

/** One attribute over all machines: `of[worker]` is the position in `values`, -1 where the machine has none. */
export interface Column {
  readonly of: Int32Array;
  readonly values: readonly (string | number)[];
}

/** Machines by the value of an attribute, in the order of their first machine. */
export interface Groups {
  readonly of: Int32Array;
  readonly members: readonly Int32Array[];
}

export class WorkerTable {
  readonly count: number;
  /** Words of a set of machines, one bit each. */
  readonly words: number;
  readonly workers: SchedulingWorker[];
  readonly positions = new Map<string, number>();
  /** GPU models there are, sorted; row r of a count is model r - 1, row 0 all models together. */
  readonly variants: readonly string[];
  readonly rows: number;
  readonly cpu: Float64Array;
  readonly memory: Float64Array;
  /** What attempts of other controllers have of each machine. */
  readonly othersCpu: Float64Array;
  readonly othersMemory: Float64Array;
  readonly healthy: Uint8Array;
  /** 1: containers are started there. */
  readonly containers: Uint8Array;
  /** Starts at a time; -1 where the machine names none. */
  readonly slots: Int32Array;
  /** Devices of worker w are those from `deviceStart[w]` to before `deviceStart[w + 1]`, by index. */
  readonly deviceStart: Int32Array;
  readonly deviceUuid: string[] = [];
  readonly deviceRow: Int32Array;
  readonly deviceNuma: Int32Array;
  readonly deviceLink: Int32Array;
  /** 1: it may be given to somebody. */
  readonly deviceOk: Uint8Array;
  readonly deviceMemory: (CardMemory | null)[] = [];
  /** Tasks that may share the device. */
  readonly deviceSharers: number[] = [];
  readonly maxDevices: number;
  /** Cards a machine has, `[row * count + worker]`. */
  readonly cards: Int16Array;
  /** Changes with all that decides whether a machine could ever take a task. */
  version = 0;
  /** Of each machine: grows whenever what is free of it may have changed. */
  readonly versions: Int32Array;
  private readonly columns = new Map<string, Column>();
  private readonly groupings = new Map<string, Groups>();

  constructor(
    workers: Iterable<SchedulingWorker>,
    private capabilities: Capabilities | null,
  ) {
    this.workers = [...workers].sort((left, right) => compareTexts(left.id, right.id));
    this.count = this.workers.length;
    this.words = (this.count + 31) >>> 5;
    this.versions = new Int32Array(this.count);
    this.variants = [...new Set(this.workers.flatMap(({ gpus }) => gpus.map((gpu) => gpu.variant)))].sort();
    this.rows = this.variants.length + 1;
    this.cpu = new Float64Array(this.count);
    this.memory = new Float64Array(this.count);
    this.othersCpu = new Float64Array(this.count);
    this.othersMemory = new Float64Array(this.count);
    this.healthy = new Uint8Array(this.count);
    this.containers = new Uint8Array(this.count);
    this.slots = new Int32Array(this.count);
    this.deviceStart = new Int32Array(this.count + 1);
    const devices = this.workers.reduce((sum, worker) => sum + worker.gpus.length, 0);
    this.deviceRow = new Int32Array(devices);
    this.deviceNuma = new Int32Array(devices);
    this.deviceLink = new Int32Array(devices);
    this.deviceOk = new Uint8Array(devices);
    this.cards = new Int16Array(this.rows * this.count);
    this.maxDevices = this.workers.reduce((most, worker) => Math.max(most, worker.gpus.length), 0);
    let at = 0;
    for (const [position, worker] of this.workers.entries()) {
      this.positions.set(worker.id, position);
      this.deviceStart[position] = at;
      at += worker.gpus.length;
    }
    this.deviceStart[this.count] = at;
    for (const position of this.workers.keys()) this.fill(position);
  }

  /** Takes over what is said of the machines now. False when they are not the same ones: then make a new table. */
  update(workers: readonly SchedulingWorker[]): boolean {
    if (workers.length !== this.count) return false;
    for (const worker of workers) {
      const before = this.workers[this.positions.get(worker.id) ?? -1];
      if (before === undefined || !sameDevices(before, worker)) return false;
    }
    for (const worker of workers) {
      const position = this.positions.get(worker.id) ?? -1;
      const before = this.workers[position];
      if (before === undefined || before === worker) continue;
      this.workers[position] = worker;
      this.fill(position);
      if (!sameOffer(before, worker)) this.changed();
    }
    return true;
  }

  setCapabilities(capabilities: Capabilities | null): void {
    this.capabilities = capabilities;
    this.changed();
  }

  column(key: string): Column {
    const known = this.columns.get(key);
    if (known !== undefined) return known;
    const of = new Int32Array(this.count).fill(-1);
    const values: (string | number)[] = [];
    const ids = new Map<string | number, number>();
    for (const [position, { attributes }] of this.workers.entries()) {
      const value = Object.hasOwn(attributes, key)
        ? attributes[key]
        : availabilityMarker(key, attributes, this.capabilities);
      if (value === undefined) continue;
      let id = ids.get(value);
      if (id === undefined) {
        id = values.length;
        values.push(value);
        ids.set(value, id);
      }
      of[position] = id;
    }
    const column = { of, values };
    this.columns.set(key, column);
    return column;
  }

  /** `worker` is each machine by itself. Values are compared in lower case without blanks at their ends. */
  groups(by: string): Groups {
    const known = this.groupings.get(by);
    if (known !== undefined) return known;
    const of = new Int32Array(this.count).fill(-1);
    const lists: number[][] = [];
    const ids = new Map<string, number>();
    const column = by === 'worker' ? null : this.column(by);
    for (let worker = 0; worker < this.count; worker += 1) {
      const value = column === null ? worker : column.values[column.of[worker] ?? -1];
      if (value === undefined) continue;
      const key = String(value).trim().toLowerCase();
      let id = ids.get(key);
      if (id === undefined) {
        id = lists.length;
        lists.push([]);
        ids.set(key, id);
      }
      lists[id]?.push(worker);
      of[worker] = id;
    }
    const groups = { of, members: lists.map((list) => Int32Array.from(list)) };
    this.groupings.set(by, groups);
    return groups;
  }

  /** Position of a device of that machine; -1 when it has none of that name. */
  deviceAt(worker: number, uuid: string): number {
    const end = this.deviceStart[worker + 1] ?? 0;
    for (let at = this.deviceStart[worker] ?? 0; at < end; at += 1)
      if (this.deviceUuid[at] === uuid) return at;
    return -1;
  }

  /** Something on that machine has changed. */
  mark(worker: number): void {
    this.versions[worker] = (this.versions[worker] ?? 0) + 1;
  }

  private changed(): void {
    this.version += 1;
    this.columns.clear();
    this.groupings.clear();
  }

  private fill(position: number): void {
    const worker = this.workers[position];
    if (worker === undefined) return;
    this.mark(position);
    this.cpu[position] = worker.cpuMillicores;
    this.memory[position] = worker.memoryBytes;
    this.othersCpu[position] = worker.others?.cpuMillicores ?? 0;
    this.othersMemory[position] = worker.others?.memoryBytes ?? 0;
    this.healthy[position] = Number(worker.healthy);
    this.containers[position] = Number(startsContainers(worker));
    this.slots[position] = worker.buildSlots ?? -1;
    for (let row = 0; row < this.rows; row += 1) this.cards[row * this.count + position] = 0;
    let at = this.deviceStart[position] ?? 0;
    for (const gpu of worker.gpus.toSorted((left, right) => left.index - right.index)) {
      const row = this.variants.indexOf(gpu.variant) + 1;
      this.deviceUuid[at] = gpu.uuid;
      this.deviceRow[at] = row;
      this.deviceNuma[at] = gpu.numaNode ?? -1;
      this.deviceLink[at] = gpu.linkGroup ?? -1;
      this.deviceOk[at] = Number(gpu.usable && !gpu.busyByOthers);
      this.deviceMemory[at] = gpu.memory ?? null;
      this.deviceSharers[at] = gpu.maxSharers ?? defaultSharers;
      this.cards[position] = (this.cards[position] ?? 0) + 1;
      this.cards[row * this.count + position] = (this.cards[row * this.count + position] ?? 0) + 1;
      at += 1;
    }
  }
}

function sameDevices(left: SchedulingWorker, right: SchedulingWorker): boolean {
  if (left === right) return true;
  if (left.gpus.length !== right.gpus.length) return false;
  return left.gpus.every((gpu, at) => {
    const other = right.gpus[at];
    return gpu.uuid === other?.uuid && gpu.variant === other.variant && gpu.index === other.index;
  });
}

function startsContainers({ noContainers = null }: SchedulingWorker): boolean {
  return noContainers === null;
}

function sameOffer(left: SchedulingWorker, right: SchedulingWorker): boolean {
  if (
    left.taints !== right.taints &&
    JSON.stringify(left.taints ?? []) !== JSON.stringify(right.taints ?? [])
  )
    return false;
  if (left.healthy !== right.healthy || left.cpuMillicores !== right.cpuMillicores) return false;
  if (left.memoryBytes !== right.memoryBytes) return false;
  if (startsContainers(left) !== startsContainers(right)) return false;
  if (left.gpus.some((gpu, at) => gpu.memory?.totalBytes !== right.gpus[at]?.memory?.totalBytes))
    return false;
  if (left.attributes === right.attributes) return true;
  const keys = Object.keys(left.attributes);
  return (
    keys.length === Object.keys(right.attributes).length &&
    keys.every((key) => left.attributes[key] === right.attributes[key])
  );
}
