/** One line of the list. It listens to its own job, selection and pending stop; nothing else renders it. */
import { memo, useCallback, useState, useSyncExternalStore, type MouseEvent } from 'react';
import { formatDuration } from '../../../core/formats/durations.js';
import { isTerminalJobState } from '../../../core/contract/states.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { jobRoute, routeHash } from '../../app/router.js';
import { Skeleton } from '../../components/feedback.js';
import { Icon } from '../../components/icon.js';
import { StateBadge } from '../../components/state-badge.js';
import { TaskBar } from '../../components/task-bar.js';
import { RelativeTime, RunningFor } from '../../components/time.js';
import { Dash } from '../../components/values.js';
import { canRunAgain, canStop } from '../../state/job-actions.js';
import { useDesktop, useJobRow } from '../../state/desktop-context.js';
import { common } from '../../strings/common.js';
import { jobs as words } from '../../strings/jobs.js';
import styles from './job-row.module.css';
import type { Selection } from './selection.js';

export interface RowHandlers {
  readonly open: (id: string) => void;
  readonly toggleChildren: (id: string) => void;
  /** A click with a modifier, or on the box. */
  readonly select: (id: string, how: 'toggle' | 'range') => void;
  readonly stop: (id: string) => void;
  readonly runAgain: (id: string) => void;
  readonly menu: (id: string, x: number, y: number) => void;
}

export interface JobRowProps {
  readonly id: string;
  readonly depth: number;
  readonly open: boolean;
  readonly line: number;
  readonly top: number;
  /** Jobs of every depth in one order: the path is shown and nothing opens. */
  readonly flat: boolean;
  /** The time column shows when it ended instead of its age. */
  readonly showEnd: boolean;
  readonly selection: Selection;
  readonly handlers: RowHandlers;
}

export function rowElementId(id: string): string {
  return `job-row-${id}`;
}

export const JobRow = memo(function JobRow(props: JobRowProps) {
  const { id, depth, open, line, top, flat, showEnd, selection, handlers } = props;
  const job = useJobRow(id);
  const [hovered, setHovered] = useState(false);
  const { actions } = useDesktop();
  const selected = useSyncExternalStore(selection.subscribe, () => selection.isSelected(id));
  const active = useSyncExternalStore(selection.subscribe, () => selection.active() === id);
  const stopping = useSyncExternalStore(actions.stopping.subscribe, () => actions.stopping.has(id));

  const onClick = useCallback(
    (event: MouseEvent) => {
      if (event.target instanceof Element && event.target.closest('button') !== null) return;
      event.preventDefault();
      if (event.shiftKey) handlers.select(id, 'range');
      else if (event.ctrlKey || event.metaKey) handlers.select(id, 'toggle');
      else handlers.open(id);
    },
    [handlers, id],
  );

  if (job === undefined) return <SkeletonRow line={line} top={top} depth={depth} />;
  const canOpen = !flat && job.childCount > 0;
  return (
    <div
      id={rowElementId(id)}
      role="row"
      className={styles['row']}
      style={{ top }}
      aria-rowindex={line + 2}
      aria-level={depth + 1}
      aria-selected={selected}
      aria-expanded={canOpen ? open : undefined}
      data-active={active || undefined}
      onMouseEnter={() => {
        setHovered(true);
      }}
      onMouseLeave={() => {
        setHovered(false);
      }}
      onClick={onClick}
      onContextMenu={(event) => {
        event.preventDefault();
        handlers.menu(id, event.clientX, event.clientY);
      }}
    >
      <span role="gridcell" className={styles['box']}>
        <button
          type="button"
          tabIndex={-1}
          className={styles['check']}
          aria-pressed={selected}
          aria-label={words.selectRow(job.name)}
          onClick={(event) => {
            handlers.select(id, event.shiftKey ? 'range' : 'toggle');
          }}
        >
          {selected ? <Icon name="check" size={12} /> : null}
        </button>
      </span>
      <NameCell job={job} depth={depth} open={open} canOpen={canOpen} flat={flat} handlers={handlers} />
      <StateCell job={job} stopping={stopping && !isTerminalJobState(job.state)} />
      <span role="gridcell" className={styles['cell']}>
        <TaskBar counts={job.taskCounts} total={job.numTasks} />
      </span>
      <span
        role="gridcell"
        className={`${styles['cell'] ?? ''} ${styles['number'] ?? ''} ${styles['wide'] ?? ''}`}
      >
        {job.gpuCount === 0 ? <Dash reason={common.noGpuAsked} /> : job.gpuCount}
      </span>
      <span role="gridcell" className={`${styles['cell'] ?? ''} ${styles['number'] ?? ''}`}>
        <RelativeTime atMs={showEnd ? (job.finishedAtMs ?? job.submittedAtMs) : job.submittedAtMs} />
      </span>
      <span role="gridcell" className={`${styles['cell'] ?? ''} ${styles['number'] ?? ''}`}>
        <RunTime job={job} />
      </span>
      <span
        role="gridcell"
        className={`${styles['cell'] ?? ''} ${styles['where'] ?? ''} ${styles['wide'] ?? ''} iris-ellipsis`}
      >
        {job.workers.length === 0 ? (
          <Dash reason={common.notPlaced} />
        ) : (
          <span title={job.workers.join(', ')}>{job.workers.join(', ')}</span>
        )}
      </span>
      {hovered ? <RowActions job={job} stopping={stopping} handlers={handlers} /> : null}
    </div>
  );
});

interface RowActionsProps {
  readonly job: JobSummary;
  readonly stopping: boolean;
  readonly handlers: RowHandlers;
}

/** Made for the row under the pointer alone: hundreds of hidden buttons would slow scrolling down. Keys do the same. */
function RowActions({ job, stopping, handlers }: RowActionsProps) {
  return (
    <span role="gridcell" className={styles['actions']}>
      {canStop(job) && !stopping ? (
        <RowButton
          label={`${common.stop} ${job.name}`}
          hint={`${common.stop} (X)`}
          icon="stop"
          onClick={() => {
            handlers.stop(job.id);
          }}
        />
      ) : null}
      {canRunAgain(job) ? (
        <RowButton
          label={`${common.runAgain}: ${job.name}`}
          hint={`${common.runAgain} (R)`}
          icon="rerun"
          onClick={() => {
            handlers.runAgain(job.id);
          }}
        />
      ) : null}
      <button
        type="button"
        tabIndex={-1}
        className={styles['action']}
        aria-label={words.actions(job.name)}
        title={words.moreActions}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          handlers.menu(job.id, box.left, box.bottom);
        }}
      >
        <Icon name="more" size={14} />
      </button>
    </span>
  );
}

interface RowButtonProps {
  readonly label: string;
  readonly hint: string;
  readonly icon: 'stop' | 'rerun';
  readonly onClick: () => void;
}

function RowButton({ label, hint, icon, onClick }: RowButtonProps) {
  return (
    <button
      type="button"
      tabIndex={-1}
      className={styles['action']}
      aria-label={label}
      title={hint}
      onClick={onClick}
    >
      <Icon name={icon} size={14} />
    </button>
  );
}

interface NameCellProps {
  readonly job: JobSummary;
  readonly depth: number;
  readonly open: boolean;
  readonly canOpen: boolean;
  readonly flat: boolean;
  readonly handlers: RowHandlers;
}

function NameCell({ job, depth, open, canOpen, flat, handlers }: NameCellProps) {
  const parent = flat && job.parentId !== null ? `${job.parentId.split('/').slice(2).join('/')}/` : '';
  return (
    <span role="gridcell" className={styles['name']} style={{ paddingLeft: depth * 16 }}>
      {canOpen ? (
        <button
          type="button"
          tabIndex={-1}
          className={styles['twisty']}
          aria-label={open ? words.closeChildren(job.name) : words.openChildren(job.name)}
          onClick={() => {
            handlers.toggleChildren(job.id);
          }}
        >
          <Icon name={open ? 'chevron-down' : 'chevron-right'} size={12} />
        </button>
      ) : (
        <span className={styles['twisty']} />
      )}
      <a
        className={`${styles['link'] ?? ''} iris-ellipsis`}
        href={routeHash(jobRoute(job.id))}
        tabIndex={-1}
        title={`${job.id}\n${job.commandLine}`}
      >
        {parent === '' ? null : <span className="iris-muted">{parent}</span>}
        {job.name}
      </a>
      <span className={`${styles['command'] ?? ''} iris-mono iris-ellipsis`} aria-hidden="true">
        {job.commandLine}
      </span>
    </span>
  );
}

function StateCell({ job, stopping }: { readonly job: JobSummary; readonly stopping: boolean }) {
  const failed = job.state === 'RUNNING' ? (job.taskCounts.FAILED ?? 0) : 0;
  const reason =
    job.state === 'PENDING' ? job.waiting?.message : job.state === 'RUNNING' ? undefined : job.cause?.message;
  return (
    <span role="gridcell" className={styles['state']}>
      <StateBadge state={job.state} {...(stopping ? { word: words.stopping } : {})} />
      {failed > 0 ? <span className={styles['failed']}>{words.failedTasks(failed)}</span> : null}
      {reason === undefined ? null : (
        <span className={`${styles['reason'] ?? ''} iris-ellipsis`} title={reason}>
          {reason}
        </span>
      )}
    </span>
  );
}

function RunTime({ job }: { readonly job: JobSummary }) {
  if (job.startedAtMs === null) return <Dash reason={common.notStarted} />;
  if (job.finishedAtMs === null) return <RunningFor startedAtMs={job.startedAtMs} />;
  return <span>{formatDuration(job.finishedAtMs - job.startedAtMs)}</span>;
}

export interface LineProps {
  readonly line: number;
  readonly top: number;
  readonly depth: number;
}

/** A row not fetched yet: bars where its texts will be. */
export const SkeletonRow = memo(function SkeletonRow({ line, top, depth }: LineProps) {
  return (
    <div role="row" className={styles['row']} style={{ top }} aria-rowindex={line + 2} aria-busy="true">
      <span role="gridcell" className={styles['box']} />
      <span role="gridcell" className={styles['name']} style={{ paddingLeft: depth * 16 + 22 }}>
        <Skeleton width={90 + ((line * 37) % 90)} />
      </span>
      <span role="gridcell" className={styles['cell']}>
        <Skeleton width={70 + ((line * 53) % 80)} />
      </span>
      <span role="gridcell" className={styles['cell']}>
        <Skeleton width={44} />
      </span>
      <span
        role="gridcell"
        className={`${styles['cell'] ?? ''} ${styles['number'] ?? ''} ${styles['wide'] ?? ''}`}
      >
        <Skeleton width={12} />
      </span>
      <span role="gridcell" className={`${styles['cell'] ?? ''} ${styles['number'] ?? ''}`}>
        <Skeleton width={24} />
      </span>
      <span role="gridcell" className={`${styles['cell'] ?? ''} ${styles['number'] ?? ''}`}>
        <Skeleton width={44} />
      </span>
      <span
        role="gridcell"
        className={`${styles['cell'] ?? ''} ${styles['where'] ?? ''} ${styles['wide'] ?? ''}`}
      >
        <Skeleton width={36} />
      </span>
    </div>
  );
});
