/** Tasks of a job as one small stacked bar and `done/all`. */
import { memo } from 'react';
import { taskStates, type TaskState } from '../../core/contract/states.js';
import type { JobSummary } from '../../core/contract/views.js';
import { formatCount, stateWords } from '../strings/common.js';
import { jobs } from '../strings/jobs.js';
import { stateLooks } from './state-badge.js';
import styles from './task-bar.module.css';

/** In the order of the bar: what is done first, what waits last and without colour. */
const order: readonly TaskState[] = [
  'SUCCEEDED',
  'FAILED',
  'WORKER_FAILED',
  'UNSCHEDULABLE',
  'KILLED',
  'COSCHED_FAILED',
  'PREEMPTED',
  'RUNNING',
  'BUILDING',
  'ASSIGNED',
];

/** Classes of the bar's parts, for the long list, which is drawn without React. */
export const taskBarStyles = styles;

export interface TaskBarProps {
  readonly counts: JobSummary['taskCounts'];
  readonly total: number;
}

export const TaskBar = memo(function TaskBar({ counts, total }: TaskBarProps) {
  const done = counts.SUCCEEDED ?? 0;
  const title = tasksHint(counts);
  if (total === 1) {
    return (
      <span className="iris-muted" title={title}>
        {jobs.oneTask}
      </span>
    );
  }
  return (
    <span className={styles['cell']} title={title}>
      <span className={styles['count']}>{jobs.tasksDone(done, total)}</span>
      <span className={styles['bar']} style={{ background: taskBarFill(counts, total) }} aria-hidden="true" />
    </span>
  );
});

/** How many tasks are in which state, in words. */
export function tasksHint(counts: JobSummary['taskCounts']): string {
  const parts = taskStates.flatMap((state) => {
    const count = counts[state] ?? 0;
    return count === 0 ? [] : `${formatCount(count)} ${stateWords[state].toLowerCase()}`;
  });
  return jobs.tasksHint(parts.join(', '));
}

const restColor = 'var(--iris-meter)';

/**
 * The bar as a background: its parts in their colours, a task as wide as any other. As an SVG each bar would be one more coordinate
 * system for the browser's compositor, which a long list pays for in each frame.
 */
export function taskBarFill(counts: JobSummary['taskCounts'], total: number): string {
  const stops: string[] = [];
  let at = 0;
  let last = restColor;
  for (const state of order) {
    const count = counts[state] ?? 0;
    if (count === 0) continue;
    const from = percent(at / total);
    at += count;
    last = stateLooks[state].color;
    stops.push(`${last} ${from} ${percent(at / total)}`);
  }
  if (at < total) stops.push(`${restColor} ${percent(at / total)}`);
  if (stops.length > 1) return `linear-gradient(to right, ${stops.join(', ')})`;
  return at < total ? restColor : last;
}

const percent = (share: number): string => `${Math.min(100, Math.round(share * 10_000) / 100)}%`;
