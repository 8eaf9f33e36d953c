/**
 * Tasks that may be placed now, kept in the order they would start while rows change, so that a scheduling round costs work only
 * for what it places: tasks are grouped by shape (what they ask of a worker), because when one of a shape finds no place no
 * other of that shape does.
 */
import { bandRank } from '../contract/states.js';
import type { JobSpec } from '../contract/job-request.js';
import type { Job } from './entities.js';
import { compareNumbers, compareTexts, SortedList } from './sorted-list.js';

/** One job's placeable tasks. Of `job` only what never changes may be read: it is the row as it first became pending. */
export interface PendingJob {
  readonly job: Job;
  readonly shape: string;
  /** Indexes of its placeable tasks, ascending. */
  readonly indexes: readonly number[];
}

export interface PendingShape {
  readonly key: string;
  readonly spec: JobSpec;
  /** In the order they would start. */
  readonly jobs: readonly PendingJob[];
}

/** Base order of the original: requested band, deeper first, older tree first, submission (which is unique). */
export function compareJobOrder(left: Job, right: Job): number {
  return (
    bandRank(left.band) - bandRank(right.band) ||
    right.depth - left.depth ||
    left.rootSubmittedAtMs - right.rootSubmittedAtMs ||
    left.submittedAtMs - right.submittedAtMs ||
    compareTexts(left.id, right.id)
  );
}

/** Tasks of one shape ask the same of a worker. A gang is a shape of its own: it is placed as a whole. */
export function shapeOf(job: Job): string {
  const spec = job.spec;
  if (spec.gangBy !== null) return `gang ${job.id}`;
  return JSON.stringify([
    spec.cpuMillicores,
    spec.memoryBytes,
    spec.gpuCount,
    spec.gpuVariant,
    ...(spec.constraints.length === 0 ? [] : [spec.constraints]),
  ]);
}

interface JobEntry extends PendingJob {
  readonly list: SortedList<number>;
}

interface ShapeEntry extends PendingShape {
  readonly list: SortedList<JobEntry>;
}

export class PendingIndex {
  private readonly byJob = new Map<string, JobEntry>();
  private readonly byShape = new Map<string, ShapeEntry>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(job: Job, index: number): void {
    let entry = this.byJob.get(job.id);
    if (entry === undefined) {
      const list = new SortedList<number>(compareNumbers);
      entry = { job, shape: shapeOf(job), list, indexes: list.values };
      this.byJob.set(job.id, entry);
      this.shape(entry).list.add(entry);
    }
    if (entry.list.add(index)) this.count += 1;
  }

  remove(jobId: string, index: number): void {
    const entry = this.byJob.get(jobId);
    if (entry === undefined || !entry.list.remove(index)) return;
    this.count -= 1;
    if (entry.list.size > 0) return;
    this.byJob.delete(jobId);
    const shape = this.byShape.get(entry.shape);
    if (shape === undefined) return;
    shape.list.remove(entry);
    if (shape.list.size === 0) this.byShape.delete(shape.key);
  }

  has(jobId: string): boolean {
    return this.byJob.has(jobId);
  }

  shapes(): Iterable<PendingShape> {
    return this.byShape.values();
  }

  /** Jobs with placeable tasks in the order they would start; stops early when the caller does. */
  *jobsInOrder(): Generator<PendingJob> {
    const cursors = new SortedList<{
      readonly jobs: readonly PendingJob[];
      at: number;
      readonly head: PendingJob;
    }>((left, right) => compareJobOrder(left.head.job, right.head.job));
    for (const { jobs } of this.byShape.values()) {
      const head = jobs[0];
      if (head !== undefined) cursors.add({ jobs, at: 0, head });
    }
    for (let cursor = cursors.takeFirst(); cursor !== undefined; cursor = cursors.takeFirst()) {
      yield cursor.head;
      const head = cursor.jobs[cursor.at + 1];
      if (head !== undefined) cursors.add({ jobs: cursor.jobs, at: cursor.at + 1, head });
    }
  }

  private shape(entry: JobEntry): ShapeEntry {
    const known = this.byShape.get(entry.shape);
    if (known !== undefined) return known;
    const list = new SortedList<JobEntry>((left, right) => compareJobOrder(left.job, right.job));
    const made: ShapeEntry = { key: entry.shape, spec: entry.job.spec, list, jobs: list.values };
    this.byShape.set(entry.shape, made);
    return made;
  }
}
