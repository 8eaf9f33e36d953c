/** When there will be room by the time limits of what runs, nobody evicted and nobody else placed first. */
import { compareTexts } from '../../model/sorted-list.js';
import type { Held } from '../holdings.js';
import type { JobEntry } from '../queue.js';
import { isCandidate, type Shape } from '../shape.js';
import type { Cluster } from '../cluster.js';
import { Offers } from './offers.js';
import { keptForOthers, type ExplainContext } from './room-reason.js';

interface Room {
  readonly workerId: string;
  /** Of the last that has to end. */
  readonly jobId: string;
  readonly endMs: number;
}

/** For one task, or for all members of a gang in one group, where nothing is kept for others; null when no known ends make it. */
export function earliestRoom(context: ExplainContext, entry: JobEntry): Room | null {
  const { cluster, nowMs } = context;
  const { table, holdings } = cluster;
  const { shape, job } = entry;
  const size = job.gangBy === null ? 1 : Math.max(1, entry.indexes.length);
  const offers = new Offers(cluster, context.nowMs, context.placed);
  const kept = keptForOthers(context, entry);
  let best: Room | null = null;
  for (const machines of table.groups(job.gangBy ?? 'worker').members) {
    const candidates = machines.filter((worker) => !kept.has(worker) && isCandidate(shape, worker));
    if (candidates.reduce((sum, worker) => sum + offers.emptyRoom(shape, worker), 0) < size) continue;
    // What ends later than the best so far is of no use.
    const lastMs: number = best?.endMs ?? Number.POSITIVE_INFINITY;
    const ends: { readonly held: Held; readonly endMs: number }[] = [];
    for (const worker of candidates) {
      for (const { members } of holdings.unitsOn[worker] ?? []) {
        for (const held of members) {
          const endMs = held.worker === worker ? endOf(held, nowMs) : null;
          if (endMs !== null && endMs < lastMs) ends.push({ held, endMs });
        }
      }
    }
    if (ends.length === 0) continue;
    ends.sort(
      (left, right) =>
        left.endMs - right.endMs || compareTexts(left.held.attempt.uid, right.held.attempt.uid),
    );
    const room = new GrowingRoom(cluster, offers, shape, candidates);
    for (const { held, endMs } of ends) {
      if (room.without(held) < size) continue;
      best = { workerId: held.attempt.workerId, jobId: held.attempt.jobId, endMs };
      break;
    }
  }
  return best;
}

/** By its time limit; null when it has none. */
function endOf({ attempt }: Held, nowMs: number): number | null {
  if (attempt.limitMs === null) return null;
  return Math.max(nowMs, (attempt.startedAtMs ?? nowMs) + attempt.limitMs);
}

/** Tasks of a shape that some machines hold while one after another leaves them. */
class GrowingRoom {
  private readonly free = new Map<number, { cpu: number; memory: number; cards: number; room: number }>();
  private readonly gone = new Map<number, number>();
  private total = 0;

  constructor(
    private readonly cluster: Cluster,
    offers: Offers,
    private readonly shape: Shape,
    machines: Iterable<number>,
  ) {
    for (const worker of machines) {
      const free = {
        cpu: offers.cpu(worker),
        memory: offers.memory(worker),
        cards: offers.cards(worker, shape),
        room: 0,
      };
      free.room = this.roomOf(free);
      this.total += free.room;
      this.free.set(worker, free);
    }
  }

  without({ attempt, worker, devices }: Held): number {
    const free = this.free.get(worker);
    if (free === undefined) return this.total;
    const { table, holdings } = this.cluster;
    free.cpu += attempt.cpuMillicores;
    free.memory += attempt.memoryBytes;
    for (const at of devices) {
      const gone = (this.gone.get(at) ?? 0) + 1;
      this.gone.set(at, gone);
      // One that is shared becomes free with its last holder.
      if (gone < (holdings.holdersAt[at]?.length ?? 1) || table.deviceOk[at] === 0) continue;
      if (this.shape.row === 0 || table.deviceRow[at] === this.shape.row) free.cards += 1;
    }
    this.total -= free.room;
    free.room = this.roomOf(free);
    this.total += free.room;
    return this.total;
  }

  private roomOf({ cpu, memory, cards }: { cpu: number; memory: number; cards: number }): number {
    const { shape } = this;
    let room = 10_000;
    if (shape.cpu > 0) room = Math.min(room, Math.floor(cpu / shape.cpu));
    if (shape.memory > 0) room = Math.min(room, Math.floor(memory / shape.memory));
    if (shape.gpus > 0) room = Math.min(room, Math.floor(cards / shape.gpus));
    return room;
  }
}
