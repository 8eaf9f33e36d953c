/**
 * One line of the list. It listens to its own job, selection and pending stop; nothing else renders it. Scrolling makes several of them
 * anew in each frame, so it has as few elements as its looks allow: what only the pointer can find (hints, buttons) is there while it
 * is on the row.
 */
import { memo, useCallback, useState, useSyncExternalStore, type MouseEvent } from 'react';
import { formatDuration } from '../../../core/formats/durations.js';
import { isTerminalJobState } from '../../../core/contract/states.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { jobRoute, routeHash } from '../../app/router.js';
import { useTimeText } from '../../components/clock.js';
import { Skeleton } from '../../components/feedback.js';
import { Icon } from '../../components/icon.js';
import { StateBadge } from '../../components/state-badge.js';
import { TaskBar } from '../../components/task-bar.js';
import { canRunAgain, canStop } from '../../state/job-actions.js';
import { useDesktop, useJobRow } from '../../state/desktop-context.js';
import { common, formatAge, formatExactTime } from '../../strings/common.js';
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

const styleOf = (...names: readonly string[]) => names.map((name) => styles[name] ?? '').join(' ');
const wideNumberClass = styleOf('number', 'wide');
const dashGpuClass = styleOf('number', 'wide', 'dash');
const dashNumberClass = styleOf('number', 'dash');
const whereClass = styleOf('where', 'wide');
const dashWhereClass = styleOf('where', 'wide', 'dash');
const linkClass = `${styleOf('link')} iris-ellipsis`;
const commandClass = `${styleOf('command')} iris-mono`;

function shownTime(job: JobSummary, showEnd: boolean): number {
  return showEnd ? (job.finishedAtMs ?? job.submittedAtMs) : job.submittedAtMs;
}

/** Age and run time, a line each: one text for the clock to compare. */
function timesOf(job: JobSummary, showEnd: boolean, now: number): string {
  const age = formatAge(now - shownTime(job, showEnd));
  if (job.startedAtMs === null) return age;
  // Running: whole seconds, so that it does not change more often than the clock ticks.
  const ran =
    job.finishedAtMs === null
      ? Math.floor(Math.max(0, now - job.startedAtMs) / 1000) * 1000
      : job.finishedAtMs - job.startedAtMs;
  return `${age}\n${formatDuration(ran)}`;
}

export const JobRow = memo(function JobRow(props: JobRowProps) {
  const { id, depth, open, line, top, flat, showEnd, selection, handlers } = props;
  const job = useJobRow(id);
  const [hovered, setHovered] = useState(false);
  const { actions } = useDesktop();
  const marks = useSyncExternalStore(
    selection.subscribe,
    () => (selection.isSelected(id) ? 1 : 0) + (selection.active() === id ? 2 : 0),
  );
  const selected = (marks & 1) !== 0;
  const active = (marks & 2) !== 0;
  const stopping = useSyncExternalStore(actions.stopping.subscribe, () => actions.stopping.has(id));

  const times = useTimeText((now) => (job === undefined ? '' : timesOf(job, showEnd, now))).split('\n');

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
        {hovered || selected || active ? (
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
        ) : null}
      </span>
      <NameCell
        job={job}
        depth={depth}
        open={open}
        canOpen={canOpen}
        flat={flat}
        hinted={hovered}
        handlers={handlers}
      />
      <StateCell job={job} stopping={stopping && !isTerminalJobState(job.state)} hinted={hovered} />
      <TaskBar counts={job.taskCounts} total={job.numTasks} role="gridcell" hinted={hovered} />
      {job.gpuCount === 0 ? (
        <span role="gridcell" className={dashGpuClass}>
          {common.noGpuAsked}
        </span>
      ) : (
        <span role="gridcell" className={wideNumberClass}>
          {job.gpuCount}
        </span>
      )}
      <span
        role="gridcell"
        className={styles['number']}
        title={hovered ? formatExactTime(shownTime(job, showEnd)) : undefined}
      >
        {times[0]}
      </span>
      {job.startedAtMs === null ? (
        <span role="gridcell" className={dashNumberClass}>
          {common.notStarted}
        </span>
      ) : (
        <span
          role="gridcell"
          className={styles['number']}
          title={hovered && job.finishedAtMs === null ? formatExactTime(job.startedAtMs) : undefined}
        >
          {times[1]}
        </span>
      )}
      <span
        role="gridcell"
        className={job.workers.length === 0 ? dashWhereClass : whereClass}
        title={hovered ? job.workers.join(', ') || common.notPlaced : undefined}
      >
        {job.workers.join(', ') || common.notPlaced}
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
  /** The pointer is on the row: cut texts are whole in hints. */
  readonly hinted: boolean;
  readonly handlers: RowHandlers;
}

function NameCell({ job, depth, open, canOpen, flat, hinted, handlers }: NameCellProps) {
  const parent = flat && job.parentId !== null ? `${job.parentId.split('/').slice(2).join('/')}/` : '';
  return (
    <span role="gridcell" className={styles['name']} style={{ paddingLeft: depth * 16 + (canOpen ? 0 : 22) }}>
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
      ) : null}
      <a
        className={linkClass}
        href={routeHash(jobRoute(job.id))}
        tabIndex={-1}
        title={hinted ? `${job.id}\n${job.commandLine}` : undefined}
      >
        {parent === '' ? null : <span className="iris-muted">{parent}</span>}
        {job.name}
      </a>
      <span className={commandClass} aria-hidden="true">
        {job.commandLine}
      </span>
    </span>
  );
}

interface StateCellProps {
  readonly job: JobSummary;
  readonly stopping: boolean;
  readonly hinted: boolean;
}

function StateCell({ job, stopping, hinted }: StateCellProps) {
  const failed = job.state === 'RUNNING' ? (job.taskCounts.FAILED ?? 0) : 0;
  const reason =
    job.state === 'PENDING' ? job.waiting?.message : job.state === 'RUNNING' ? undefined : job.cause?.message;
  return (
    <span role="gridcell" className={styles['state']}>
      <StateBadge state={job.state} {...(stopping ? { word: words.stopping } : {})} />
      {failed > 0 ? <span className={styles['failed']}>{words.failedTasks(failed)}</span> : null}
      {reason === undefined ? null : (
        <span className={styles['reason']} title={hinted ? reason : undefined}>
          {reason}
        </span>
      )}
    </span>
  );
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
      <span role="gridcell">
        <Skeleton width={70 + ((line * 53) % 80)} />
      </span>
      <span role="gridcell">
        <Skeleton width={44} />
      </span>
      <span role="gridcell" className={wideNumberClass}>
        <Skeleton width={12} />
      </span>
      <span role="gridcell" className={styles['number']}>
        <Skeleton width={24} />
      </span>
      <span role="gridcell" className={styles['number']}>
        <Skeleton width={44} />
      </span>
      <span role="gridcell" className={whereClass}>
        <Skeleton width={36} />
      </span>
    </div>
  );
});
