/**
 * One scheduling round, a pure function: bands, then age, first fit on processors, memory and GPUs. Its cost is that of what it
 * places plus one try for each shape of waiting task, however many tasks of that shape wait. A shape that finds no place does
 * not hold up what comes after it.
 */
import type { Band } from '../contract/states.js';
import type { Cause } from '../contract/views.js';
import { type ModelState, waitsForJob } from '../model/state.js';
import type { Job } from '../model/entities.js';
import { taskIdOf } from '../model/names.js';
import { compareJobOrder, type PendingJob, type PendingShape } from '../model/pending-index.js';
import { SortedList } from '../model/sorted-list.js';
import type { UsedCapacity } from '../model/view.js';
import { meetsRequired, preferenceScore } from './constraints.js';
import { explain, explainGang } from './explain.js';
import {
  copyFree,
  fits,
  freeWorkers,
  take,
  type FreeWorker,
  type Need,
  type Placement,
  type SchedulingWorker,
} from './free.js';
import { resolveGpuRequest } from './gpu-models.js';

export type { SchedulingGpu, SchedulingWorker } from './free.js';

export interface ScheduleSnapshot {
  readonly workers: readonly SchedulingWorker[];
  readonly used: (workerId: string) => UsedCapacity;
  /** Placeable tasks by shape, each shape's jobs in order. */
  readonly pending: Iterable<PendingShape>;
  /** Why a job may not start whatever is free; null when it may. */
  readonly blocked: (job: Job) => Cause | null;
  /** A round stops after that many assignments and says that there may be more. */
  readonly maxAssignments: number;
}

export interface ScheduledTask extends Placement {
  readonly taskId: string;
  readonly jobId: string;
  /** Effective band, to be stamped on the task. */
  readonly band: Band;
}

/** Why the waiting tasks of one shape were not placed. */
export interface WaitingShape {
  readonly shape: string;
  /** The one that was tried. */
  readonly taskId: string;
  readonly cause: Cause;
}

export interface ScheduleResult {
  readonly assignments: readonly ScheduledTask[];
  readonly waiting: readonly WaitingShape[];
  /** The cap was reached: run another round. */
  readonly more: boolean;
  /** Times a task was compared with a worker; what a round costs. */
  readonly fitChecks: number;
}

/** The snapshot of the controller's state. */
export function snapshotOf(
  state: ModelState,
  workers: readonly SchedulingWorker[],
  maxAssignments = Number.POSITIVE_INFINITY,
): ScheduleSnapshot {
  return {
    workers,
    used: (workerId) => state.used(workerId),
    pending: state.pendingTasks().shapes(),
    blocked: (job) => {
      const predecessor = state.predecessorOf(job);
      return predecessor === undefined ? null : waitsForJob(predecessor);
    },
    maxAssignments,
  };
}

/** Where a round stands in one shape. */
interface Cursor {
  readonly shape: PendingShape;
  readonly need: Need;
  /** Workers this shape may use, best first; null until it is tried. */
  candidates: readonly FreeWorker[] | null;
  jobAt: number;
  taskAt: number;
  readonly head: Job;
}

export function schedule(snapshot: ScheduleSnapshot): ScheduleResult {
  return new Round(snapshot).run();
}

class Round {
  private readonly free: FreeWorker[];
  private readonly variants: readonly string[];
  private readonly assignments: ScheduledTask[] = [];
  private readonly waiting: WaitingShape[] = [];
  private fitChecks = 0;

  constructor(private readonly snapshot: ScheduleSnapshot) {
    this.free = freeWorkers(snapshot.workers, snapshot.used);
    this.variants = snapshot.workers.flatMap((worker) => worker.gpus.map((gpu) => gpu.variant));
  }

  run(): ScheduleResult {
    const cursors = new SortedList<Cursor>((left, right) => compareJobOrder(left.head, right.head));
    for (const shape of this.snapshot.pending) {
      const start = this.next({ shape, need: this.needOf(shape), candidates: null, jobAt: 0, taskAt: 0 });
      if (start !== null) cursors.add(start);
    }
    let more = false;
    for (let cursor = cursors.takeFirst(); cursor !== undefined; cursor = cursors.takeFirst()) {
      if (this.assignments.length >= this.snapshot.maxAssignments) {
        more = true;
        break;
      }
      const job = cursor.shape.jobs[cursor.jobAt];
      if (job === undefined) continue;
      const went = job.job.spec.gangBy === null ? this.placeTask(cursor, job) : this.placeGang(cursor, job);
      const following = went ? this.next(cursor) : null;
      if (following !== null) cursors.add(following);
    }
    return { assignments: this.assignments, waiting: this.waiting, more, fitChecks: this.fitChecks };
  }

  /** The shape's need with its GPU model in the machines' own words. */
  private needOf({ spec }: PendingShape): Need {
    if (spec.gpuCount === 0) return spec;
    const resolution = resolveGpuRequest(spec, this.variants);
    if (resolution.kind !== 'resolved') return spec;
    return { ...spec, gpuCount: resolution.count, gpuVariant: resolution.variant };
  }

  /** The first task from there on whose job may start; null when there is none. */
  private next(cursor: Omit<Cursor, 'head'>): Cursor | null {
    const { jobs } = cursor.shape;
    let { jobAt, taskAt } = cursor;
    for (let job = jobs[jobAt]; job !== undefined; job = jobs[jobAt]) {
      if (taskAt < job.indexes.length && (taskAt > 0 || this.snapshot.blocked(job.job) === null)) {
        return { ...cursor, jobAt, taskAt, head: job.job };
      }
      jobAt += 1;
      taskAt = 0;
    }
    return null;
  }

  /** False: this shape finds no place in this round. */
  private placeTask(cursor: Cursor, { job, indexes }: PendingJob): boolean {
    const taskId = taskIdOf(job.id, indexes[cursor.taskAt] ?? 0);
    cursor.candidates ??= this.candidatesFor(cursor.shape.spec.constraints);
    for (const free of cursor.candidates) {
      this.fitChecks += 1;
      if (!fits(free, cursor.need)) continue;
      this.assignments.push({ taskId, jobId: job.id, band: job.band, ...take(free, cursor.need) });
      cursor.taskAt += 1;
      return true;
    }
    const asked = { ...cursor.shape.spec, ...cursor.need };
    this.waiting.push({
      shape: cursor.shape.key,
      taskId,
      cause: explain(asked, this.snapshot.workers, this.free),
    });
    return false;
  }

  private candidatesFor(constraints: PendingShape['spec']['constraints']): readonly FreeWorker[] {
    if (constraints.length === 0) return this.free;
    return this.free
      .filter(({ worker }) => meetsRequired(constraints, worker.attributes))
      .map((free) => ({ free, score: preferenceScore(constraints, free.worker.attributes) }))
      .toSorted((left, right) => right.score - left.score)
      .map(({ free }) => free);
  }

  /** All members in one group or none. Members may share a machine: a lab has few, and a gang is about starting together. */
  private placeGang(cursor: Cursor, { job, indexes }: PendingJob): boolean {
    const groups = this.groupsFor(job);
    for (const group of groups) {
      const copies = group.map(copyFree);
      const places = this.placeAll(copies, cursor.need, indexes.length);
      if (places === null) continue;
      for (const [at, copy] of copies.entries()) Object.assign(group[at] ?? {}, copy);
      for (const [at, place] of places.entries()) {
        this.assignments.push({
          taskId: taskIdOf(job.id, indexes[at] ?? 0),
          jobId: job.id,
          band: job.band,
          ...place,
        });
      }
      cursor.taskAt = indexes.length;
      return true;
    }
    const asked = { ...cursor.shape.spec, ...cursor.need };
    const empty = (group: readonly FreeWorker[]) =>
      this.placeAll(group.map(emptied), cursor.need, indexes.length, true)?.length ?? 0;
    this.waiting.push({
      shape: cursor.shape.key,
      taskId: taskIdOf(job.id, indexes[0] ?? 0),
      cause: explainGang(asked, indexes.length, this.snapshot.workers, groups, empty),
    });
    return false;
  }

  /** Healthy workers that meet its constraints, by the attribute it names; `worker` is each machine by itself. */
  private groupsFor(job: Job): FreeWorker[][] {
    const { gangBy, constraints } = job.spec;
    const groups = new Map<string, FreeWorker[]>();
    for (const free of this.candidatesFor(constraints)) {
      const { id, attributes } = free.worker;
      const value =
        gangBy === 'worker'
          ? id
          : Object.hasOwn(attributes, gangBy ?? '')
            ? attributes[gangBy ?? '']
            : undefined;
      if (value === undefined) continue;
      const key = String(value).trim().toLowerCase();
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [free]);
      else group.push(free);
    }
    return [...groups.values()];
  }

  /** Places for `count` tasks, taken from `group`; null when not all find one, or with `partly` as many as do. */
  private placeAll(
    group: readonly FreeWorker[],
    need: Need,
    count: number,
    partly = false,
  ): Placement[] | null {
    const places: Placement[] = [];
    for (const free of group) {
      while (places.length < count) {
        this.fitChecks += 1;
        if (!fits(free, need)) break;
        places.push(take(free, need));
      }
    }
    return places.length === count || partly ? places : null;
  }
}

function emptied(free: FreeWorker): FreeWorker {
  const { worker } = free;
  return { worker, cpuMillicores: worker.cpuMillicores, memoryBytes: worker.memoryBytes, cards: worker.gpus };
}
