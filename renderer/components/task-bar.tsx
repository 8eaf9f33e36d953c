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

export interface TaskBarProps {
  readonly counts: JobSummary['taskCounts'];
  readonly total: number;
  /** In a row of many, that the pointer is on it: the hint is made for nobody otherwise. */
  readonly hinted?: boolean;
  readonly role?: 'gridcell';
}

export const TaskBar = memo(function TaskBar({ counts, total, hinted = true, role }: TaskBarProps) {
  const done = counts.SUCCEEDED ?? 0;
  const title = hinted ? jobs.tasksHint(hintOf(counts)) : undefined;
  if (total === 1) {
    return (
      <span role={role} className="iris-muted" title={title}>
        {jobs.oneTask}
      </span>
    );
  }
  return (
    <span role={role} className={styles['cell']} title={title}>
      <span className={styles['count']}>{jobs.tasksDone(done, total)}</span>
      <svg className={styles['bar']} viewBox={`0 0 ${total} 1`} preserveAspectRatio="none" aria-hidden="true">
        <Segments counts={counts} />
      </svg>
    </span>
  );
});

function hintOf(counts: JobSummary['taskCounts']): string {
  return taskStates
    .flatMap((state) => {
      const count = counts[state] ?? 0;
      return count === 0 ? [] : `${formatCount(count)} ${stateWords[state].toLowerCase()}`;
    })
    .join(', ');
}

function Segments({ counts }: { readonly counts: JobSummary['taskCounts'] }) {
  let at = 0;
  return order.map((state) => {
    const width = counts[state] ?? 0;
    if (width === 0) return null;
    const x = at;
    at += width;
    return <rect key={state} x={x} y={0} width={width} height={1} fill={stateLooks[state].color} />;
  });
}
