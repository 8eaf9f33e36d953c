/** What tasks ask of a machine. Tasks of one shape share which machines could take them, kept while the machines stay the same. */
import type { Constraint } from '../contract/job-request.js';
import { meetsConstraint, untolerated } from './constraints.js';
import { resolveGpuRequest } from './gpu-models.js';
import type { QueuedJob } from './inputs.js';
import { couldHold } from './sharing.js';
import type { WorkerTable } from './worker-table.js';

export function shapeKey(job: QueuedJob): string {
  const { cpuMillicores, memoryBytes, gpuCount, gpuVariant, constraints, gangBy } = job;
  const shared = (job.sharedGpuBytes ?? null) === null ? '' : ` shared ${job.sharedGpuBytes ?? 0}`;
  const contained = job.container === true ? ' container' : '';
  const need = `${cpuMillicores} ${memoryBytes} ${gpuCount} ${gpuVariant ?? ''}${shared}${contained}`;
  if (constraints.length === 0 && gangBy === null) return need;
  return `${need} ${JSON.stringify([gangBy, constraints])}`;
}

export class Shape {
  readonly cpu: number;
  readonly memory: number;
  readonly constraints: readonly Constraint[];
  readonly gangBy: string | null;
  /** It runs in a container. */
  readonly contained: boolean;
  /** Of each card, which it shares; null: it has them alone. */
  readonly sharedBytes: number | null;
  /** As asked; what it means on these machines is `gpus` of row `row`. */
  private readonly asked: Pick<QueuedJob, 'gpuCount' | 'gpuVariant'>;
  gpus = 0;
  row = 0;
  /** Machines that could take a task if they were empty, those with the most preferences met first. */
  levels: readonly Uint32Array[] = [];
  /** Preferences met by machines of each level. */
  scores: readonly number[] = [];
  /** All of these machines, in words: shapes that could have the same are told by it. */
  machines = '';
  /** No machine there is could ever take a task. */
  impossible = false;
  /** One task asks for at least half of what the largest machine for it has: of cards if it asks for any, else of the rest. */
  isLarge = false;
  private table: WorkerTable | null = null;
  private version = -1;

  // What a pass has found out about it; valid while `epoch` is the pass's.
  epoch = -1;
  /** Band and size for which nothing was found even with victims. */
  failedBand = -1;
  failedSize = 0;
  /** Size of the smallest gang that no group could take at once. */
  tooLarge = Number.POSITIVE_INFINITY;

  // What passes have found out about machines; it holds until something of the machine changes.
  /** Of `levels`, machines not found too full. */
  alive: Uint32Array[] = [];
  exhausted = false;
  /** By rank of a band: machines not found too full even without what that band may evict; null before the first search. */
  readonly reachable: (Uint32Array | null)[] = [null, null, null];
  /** Entries of `Working.grown` taken into account. */
  grownSeen = -1;
  /** Tasks each group of machines could hold, with the group's version at the time; -1 for never counted. */
  groupSlots: Int32Array = new Int32Array(0);
  groupSeen: Int32Array = new Int32Array(0);

  constructor(
    readonly key: string,
    job: QueuedJob,
  ) {
    this.cpu = job.cpuMillicores;
    this.memory = job.memoryBytes;
    this.constraints = job.constraints;
    this.gangBy = job.gangBy;
    this.contained = job.container === true;
    this.sharedBytes = job.sharedGpuBytes ?? null;
    this.asked = { gpuCount: job.gpuCount, gpuVariant: job.gpuVariant };
  }

  /** Brings `levels` up to date with the machines. */
  refresh(table: WorkerTable): void {
    if (this.table === table && this.version === table.version) return;
    this.table = table;
    this.version = table.version;
    this.epoch = -1;
    this.grownSeen = -1;
    this.groupSeen.fill(-1);
    const resolved = resolveGpuRequest(this.asked, table.variants);
    this.gpus = resolved.kind === 'resolved' ? resolved.count : this.asked.gpuCount;
    const variant = resolved.kind === 'resolved' ? resolved.variant : null;
    this.row = variant === null ? 0 : table.variants.indexOf(variant) + 1;
    const all = resolved.kind === 'resolved' ? this.possible(table) : new Uint32Array(table.words);
    this.machines = all.join();
    this.impossible = all.every((word) => word === 0);
    this.isLarge = this.asksForHalf(table, all);
    this.rankByPreference(table, all);
  }

  /** Looks at all machines anew. */
  forget(): void {
    this.exhausted = false;
    this.reachable.fill(null);
    while (this.alive.length > this.levels.length) this.alive.pop();
    for (const [at, level] of this.levels.entries()) {
      const kept = this.alive[at];
      if (kept?.length === level.length) kept.set(level);
      else this.alive[at] = level.slice();
    }
  }

  /** Looks at that machine anew. */
  reconsider(worker: number): void {
    const word = worker >>> 5;
    const bit = 1 << (worker & 31);
    for (const [at, level] of this.levels.entries()) {
      if (((level[word] ?? 0) & bit) === 0) continue;
      this.exhausted = false;
      const alive = this.alive[at];
      if (alive !== undefined) alive[word] = (alive[word] ?? 0) | bit;
      for (const set of this.reachable) if (set !== null) set[word] = (set[word] ?? 0) | bit;
      return;
    }
  }

  /** Machines for which nothing is known that keeps that band from making room there. */
  reachableBy(band: number): Uint32Array {
    const known = this.reachable[band] ?? null;
    if (known !== null) return known;
    const made = new Uint32Array(this.levels[0]?.length ?? 0);
    for (const level of this.levels)
      for (let word = 0; word < made.length; word += 1) made[word] = (made[word] ?? 0) | (level[word] ?? 0);
    this.reachable[band] = made;
    return made;
  }

  private asksForHalf(table: WorkerTable, all: Uint32Array): boolean {
    let [cpu, memory, cards] = [0, 0, 0];
    for (let worker = 0; worker < table.count; worker += 1) {
      if (((all[worker >>> 5] ?? 0) & (1 << (worker & 31))) === 0) continue;
      cpu = Math.max(cpu, table.cpu[worker] ?? 0);
      memory = Math.max(memory, table.memory[worker] ?? 0);
      cards = Math.max(cards, table.cards[this.row * table.count + worker] ?? 0);
    }
    // Nothing is kept for who is content with a part.
    if (this.sharedBytes !== null) return false;
    if (this.gpus > 0) return this.gpus * 2 >= cards;
    return this.cpu * 2 >= cpu || this.memory * 2 >= memory;
  }

  /** Cards of the machine that could hold it if they were free. */
  private cardsOf(table: WorkerTable, worker: number): number {
    const { sharedBytes, row } = this;
    if (sharedBytes === null) return table.cards[row * table.count + worker] ?? 0;
    let count = 0;
    for (let at = table.deviceStart[worker] ?? 0; at < (table.deviceStart[worker + 1] ?? 0); at += 1)
      if ((row === 0 || table.deviceRow[at] === row) && couldHold(table.deviceMemory[at], sharedBytes))
        count += 1;
    return count;
  }

  private possible(table: WorkerTable): Uint32Array {
    const set = new Uint32Array(table.words);
    const required = this.constraints
      .filter(({ mode }) => mode === 'REQUIRED')
      .map((constraint) => passing(table, constraint));
    for (let worker = 0; worker < table.count; worker += 1) {
      if (table.healthy[worker] === 0) continue;
      if (this.contained && table.containers[worker] === 0) continue;
      if (this.cpu > (table.cpu[worker] ?? 0) || this.memory > (table.memory[worker] ?? 0)) continue;
      if (this.gpus > this.cardsOf(table, worker)) continue;
      if (!required.every((passes) => passes(worker))) continue;
      if (untolerated(this.constraints, table.workers[worker]?.taints) !== null) continue;
      set[worker >>> 5] = (set[worker >>> 5] ?? 0) | (1 << (worker & 31));
    }
    return set;
  }

  private rankByPreference(table: WorkerTable, all: Uint32Array): void {
    const wishes = this.constraints.filter(({ mode }) => mode === 'PREFERRED');
    if (wishes.length === 0) {
      this.levels = [all];
      this.scores = [0];
      return;
    }
    const passes = wishes.map((wish) => passing(table, wish));
    const byScore = new Map<number, Uint32Array>();
    for (let worker = 0; worker < table.count; worker += 1) {
      if (((all[worker >>> 5] ?? 0) & (1 << (worker & 31))) === 0) continue;
      let score = 0;
      for (const pass of passes) if (pass(worker)) score += 1;
      let level = byScore.get(score);
      if (level === undefined) {
        level = new Uint32Array(table.words);
        byScore.set(score, level);
      }
      level[worker >>> 5] = (level[worker >>> 5] ?? 0) | (1 << (worker & 31));
    }
    this.scores = [...byScore.keys()].sort((left, right) => right - left);
    this.levels = this.scores.map((score) => byScore.get(score) ?? new Uint32Array(table.words));
  }
}

export function isCandidate(shape: Shape, worker: number): boolean {
  for (const level of shape.levels)
    if (((level[worker >>> 5] ?? 0) & (1 << (worker & 31))) !== 0) return true;
  return false;
}

/** The constraint over all machines, compared once with each value there is. */
export function passing(table: WorkerTable, constraint: Constraint): (worker: number) => boolean {
  const { key } = constraint;
  const column = table.column(key);
  const missing = meetsConstraint(constraint, {});
  const verdicts = column.values.map((value) => meetsConstraint(constraint, { [key]: value }));
  return (worker) => {
    const id = column.of[worker] ?? -1;
    return id < 0 ? missing : verdicts[id] === true;
  };
}

/** Whether some machine could take a task of either, were it empty. */
export function sharesMachines(left: Shape, right: Shape): boolean {
  return left.levels.some((some) =>
    right.levels.some((others) => some.some((word, at) => (word & (others[at] ?? 0)) !== 0)),
  );
}
