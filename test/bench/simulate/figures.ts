/** What a course is judged by. A figure is named, and one of each name is made of every seed. */
import { bands, type Band } from '../../../core/contract/states.js';
import type { Course, Outcome, Stay } from './simulation.js';
import { jainIndex, mean, quantile } from './statistics.js';
import { dayMs, hourMs, minuteMs, sizeClasses, startUpMs, type SizeClass } from './trace.js';

export interface Figure {
  /** `null` where there were too few jobs to tell. */
  readonly value: number | null;
  readonly jobs: number;
}

export type Figures = Readonly<Record<string, Figure>>;

/** A cell of fewer jobs than that in one seed tells nothing about its 95th percentile. */
export const leastJobs = 10;
/** Slowdown of shorter jobs is counted as if they took that long, or seconds of waiting would outweigh everything. */
const boundMs = 10 * minuteMs;

export const figureNames = {
  utilization: 'GPUs in useful use, %',
  held: 'GPUs held, %',
  lost: 'work lost, GPU hours',
  evictions: 'evictions of tasks',
  repeated: 'jobs evicted more than twice',
  slowdown: 'mean bounded slowdown',
  fairness: 'Jain index of users',
  gangs: 'wait p95, all gangs, min',
  gangsMedian: 'wait median, all gangs, min',
} as const;

export function waitName(part: 'median' | 'p95', band: Band, size: SizeClass): string {
  return `wait ${part}, ${band} ${size}, min`;
}

/** Jobs of the first day only fill the cluster. */
const warmUpMs = dayMs;

export function figuresOf(
  course: Course,
  options: { readonly days: number; readonly gpus: number },
): Figures {
  const fromMs = options.days > 1 ? warmUpMs : 0;
  const untilMs = options.days * dayMs;
  const jobs = course.outcomes.filter(({ job }) => job.submittedAtMs >= fromMs);
  const stays = course.stays.filter(
    ({ goneAtMs, startedAtMs }) => goneAtMs > fromMs && startedAtMs < untilMs,
  );
  const available = (options.gpus * (untilMs - fromMs)) / 100;
  const within = (from: number, until: number) =>
    Math.max(0, Math.min(until, untilMs) - Math.max(from, fromMs));
  const sum = (part: (stay: Stay) => number) => stays.reduce((all, stay) => all + stay.gpus * part(stay), 0);
  const evictions = stays.filter(({ evicted }) => evicted);
  const all = (value: number): Figure => ({ value, jobs: jobs.length });
  const figures: Record<string, Figure> = {
    [figureNames.utilization]: all(
      sum(({ usefulFromMs, usefulUntilMs }) => within(usefulFromMs, usefulUntilMs)) / available,
    ),
    [figureNames.held]: all(sum(({ startedAtMs, goneAtMs }) => within(startedAtMs, goneAtMs)) / available),
    [figureNames.lost]: all(evictions.reduce((hours, stay) => hours + lostGpuHours(stay), 0)),
    [figureNames.evictions]: all(evictions.reduce((count, { tasks }) => count + tasks, 0)),
    [figureNames.repeated]: all(jobs.filter((outcome) => outcome.evictions > 2).length),
    [figureNames.slowdown]: all(mean(jobs.map(slowdown))),
    [figureNames.fairness]: all(fairness(jobs)),
  };
  const gangs = jobs.filter(({ job }) => job.size === 'gang');
  figures[figureNames.gangsMedian] = waitOf(gangs, 0.5);
  figures[figureNames.gangs] = waitOf(gangs, 0.95);
  for (const band of bands) {
    for (const size of sizeClasses) {
      const cell = jobs.filter(({ job }) => job.band === band && job.size === size);
      figures[waitName('median', band, size)] = waitOf(cell, 0.5);
      figures[waitName('p95', band, size)] = waitOf(cell, 0.95);
    }
  }
  return figures;
}

/** GPU time of an attempt of which nothing was kept, its start-up aside when something was. */
export function lostGpuHours(stay: Stay): number {
  const keptUntil = stay.usefulUntilMs > stay.usefulFromMs ? stay.usefulUntilMs : stay.startedAtMs;
  return (stay.gpus * Math.max(0, stay.goneAtMs - keptUntil)) / hourMs;
}

function waitOf(outcomes: readonly Outcome[], share: number): Figure {
  const jobs = outcomes.length;
  if (jobs < leastJobs) return { value: null, jobs };
  const waits = outcomes.map(({ waitedMs }) => waitedMs / minuteMs);
  return { value: quantile(waits, share), jobs };
}

/** Time from submission to end beside the time it needs. */
function slowdown({ job, finishedAtMs }: Outcome): number {
  const neededMs = job.workMs + startUpMs;
  return Math.max(1, (finishedAtMs - job.submittedAtMs) / Math.max(neededMs, boundMs));
}

/** Over the users' mean bounded slowdowns: 1 when all are slowed down alike. */
function fairness(outcomes: readonly Outcome[]): number {
  const byUser = new Map<string, number[]>();
  for (const outcome of outcomes) {
    const list = byUser.get(outcome.job.user) ?? [];
    byUser.set(outcome.job.user, list);
    list.push(slowdown(outcome));
  }
  return jainIndex([...byUser.values()].filter((list) => list.length >= leastJobs).map(mean));
}
