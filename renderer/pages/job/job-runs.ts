/** Where and when a job ran, by machine: what its graphs are of. */
import type { TaskView } from '../../../core/contract/views.js';
import { rangeNames, ranges, type Range } from '../../components/charts/chart-controls.js';
import type { HistorySpan } from '../../components/charts/use-history.js';

export interface JobRun {
  readonly machineId: string;
  /** Cards its attempts had there. */
  readonly devices: readonly string[];
  readonly span: HistorySpan;
  /** Null: something of it still runs there. */
  readonly toMs: number | null;
}

export const mostMachines = 4;

/** Of the last attempt of each task, the machine with most of them first. */
export function jobRuns(tasks: readonly TaskView[]): JobRun[] {
  const byMachine = new Map<
    string,
    { count: number; devices: Set<string>; fromMs: number; toMs: number | null }
  >();
  for (const task of tasks) {
    const attempt = task.attempts.findLast(({ startedAtMs }) => startedAtMs !== null);
    if (attempt === undefined || attempt.workerId === null || attempt.startedAtMs === null) continue;
    const run = byMachine.get(attempt.workerId);
    if (run === undefined) {
      byMachine.set(attempt.workerId, {
        count: 1,
        devices: new Set(attempt.devices),
        fromMs: attempt.startedAtMs,
        toMs: attempt.finishedAtMs,
      });
      continue;
    }
    run.count += 1;
    for (const device of attempt.devices) run.devices.add(device);
    run.fromMs = Math.min(run.fromMs, attempt.startedAtMs);
    run.toMs =
      run.toMs === null || attempt.finishedAtMs === null ? null : Math.max(run.toMs, attempt.finishedAtMs);
  }
  return [...byMachine]
    .sort(([, a], [, b]) => b.count - a.count)
    .map(([machineId, { devices, fromMs, toMs }]) => ({
      machineId,
      devices: [...devices],
      toMs,
      span: { lastMs: null, fromMs, toMs },
    }));
}

export type RunRange = 'whole' | Range;
export const runRanges: readonly RunRange[] = ['whole', ...rangeNames];

/** The run, or so much of its end, which is now while it goes on; never what was there before it. */
export function spanOf({ span, toMs }: Pick<JobRun, 'span' | 'toMs'>, range: RunRange): HistorySpan {
  if (range === 'whole') return span;
  if (toMs !== null) return { ...span, fromMs: Math.max(span.fromMs, toMs - ranges[range]) };
  return { lastMs: ranges[range], fromMs: span.fromMs, toMs: null };
}
