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
}

export const TaskBar = memo(function TaskBar({ counts, total }: TaskBarProps) {
  const done = counts.SUCCEEDED ?? 0;
  const hint = taskStates
    .flatMap((state) => {
      const count = counts[state] ?? 0;
      return count === 0 ? [] : `${formatCount(count)} ${stateWords[state].toLowerCase()}`;
    })
    .join(', ');
  if (total === 1) {
    return (
      <span className="iris-muted" title={jobs.tasksHint(hint)}>
        {jobs.oneTask}
      </span>
    );
  }
  return (
    <span className={styles['cell']} title={jobs.tasksHint(hint)}>
      <span className={styles['count']}>{jobs.tasksDone(done, total)}</span>
      <svg className={styles['bar']} viewBox={`0 0 ${total} 1`} preserveAspectRatio="none" aria-hidden="true">
        <Segments counts={counts} />
      </svg>
    </span>
  );
});

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
