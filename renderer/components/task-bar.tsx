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
      <svg className={styles['bar']} viewBox={`0 0 ${total} 1`} preserveAspectRatio="none" aria-hidden="true">
        {taskSegments(counts).map(({ state, x, width, color }) => (
          <rect key={state} x={x} y={0} width={width} height={1} fill={color} />
        ))}
      </svg>
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

export interface TaskSegment {
  readonly state: TaskState;
  readonly x: number;
  readonly width: number;
  readonly color: string;
}

/** The parts of the bar, a task a unit. */
export function taskSegments(counts: JobSummary['taskCounts']): readonly TaskSegment[] {
  let at = 0;
  return order.flatMap((state) => {
    const width = counts[state] ?? 0;
    if (width === 0) return [];
    const x = at;
    at += width;
    return [{ state, x, width, color: stateLooks[state].color }];
  });
}
