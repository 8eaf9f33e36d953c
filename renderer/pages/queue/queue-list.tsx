/** Waiting jobs by band in the order they are tried; only the lines in view are in the page. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, type MouseEvent, type RefObject } from 'react';
import type { Refusal } from '../../../core/contract/errors.js';
import { formatAge, formatExactTime, localTimes, outcomeText } from '../../strings/common.js';
import { useTimeText } from '../../components/clock.js';
import { Icon } from '../../components/icon.js';
import { Dash } from '../../components/values.js';
import { bandWords } from '../../strings/budgets.js';
import { common, formatCount } from '../../strings/common.js';
import { queue as words } from '../../strings/queue.js';
import { initialsOf, userSlots, type JobLines, type QueueLine } from './queue-lines.js';
import styles from './queue-list.module.css';

export interface ListControl {
  readonly reveal: (line: number) => void;
  readonly pageLines: () => number;
  readonly focus: () => void;
}

export interface QueueListProps {
  readonly index: JobLines;
  readonly me: string | null;
  readonly active: string | null;
  readonly isSelected: (id: string) => boolean;
  readonly refusals: ReadonlyMap<string, Refusal>;
  readonly pending: ReadonlySet<string>;
  readonly control: RefObject<ListControl | null>;
  readonly onPick: (id: string, event: MouseEvent) => void;
  readonly onOpen: (id: string) => void;
  readonly onMenu: (id: string, x: number, y: number) => void;
}

const lineHeight = 28;
const headHeight = 26;
const slotWidth = 19;

export const queueRowId = (jobId: string): string => `queued-${encodeURIComponent(jobId)}`;

export function QueueList(props: QueueListProps) {
  const { index, active, control } = props;
  const { lines } = index;
  const grid = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 8,
  });
  useEffect(() => {
    control.current = {
      reveal: (line) => {
        const element = scroller.current;
        if (element === null) return;
        const top = line * lineHeight;
        const bottom = top + lineHeight - (element.clientHeight - headHeight);
        if (top < element.scrollTop) element.scrollTop = top;
        else if (bottom > element.scrollTop) element.scrollTop = bottom;
      },
      pageLines: () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / lineHeight) - 2),
      focus: () => grid.current?.focus({ preventScroll: true }),
    };
  });
  const items = virtual.getVirtualItems();
  const isDrawn = (id: string) => {
    const line = index.lineOf.get(id);
    return line !== undefined && items.some((item) => item.index === line);
  };
  return (
    <div
      ref={grid}
      className={styles['grid']}
      role="grid"
      tabIndex={0}
      aria-label={words.list}
      aria-multiselectable="true"
      aria-rowcount={lines.length + 1}
      aria-colcount={8}
      aria-activedescendant={active !== null && isDrawn(active) ? queueRowId(active) : undefined}
    >
      <div ref={scroller} className={styles['scroller']} role="none">
        <div role="row" aria-rowindex={1} className={`${styles['line'] ?? ''} ${styles['head'] ?? ''}`}>
          <span role="columnheader" className={styles['number']}>
            {words.position}
          </span>
          <span role="columnheader" className={styles['turnsHead']}>
            {words.turns}
          </span>
          <span role="columnheader" className={styles['user']}>
            {words.user}
          </span>
          <span role="columnheader">{words.name}</span>
          <span role="columnheader" className={styles['number']}>
            {words.tasks}
          </span>
          <span role="columnheader" className={styles['number']}>
            {words.gpus}
          </span>
          <span role="columnheader" className={styles['number']}>
            {words.age}
          </span>
          <span role="columnheader">{words.reason}</span>
        </div>
        <div role="rowgroup" className={styles['body']} style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const line = lines[item.index];
            return line === undefined ? null : (
              <Line key={keyOf(line)} line={line} at={item.index} top={item.start} list={props} />
            );
          })}
        </div>
      </div>
    </div>
  );
}

const keyOf = (line: QueueLine): string =>
  line.kind === 'job' ? line.job.jobId : `${line.kind} ${line.band}`;

interface LineProps {
  readonly line: QueueLine;
  readonly at: number;
  readonly top: number;
  readonly list: QueueListProps;
}

function Line({ line, at, top, list }: LineProps) {
  const style = { transform: `translateY(${top}px)` };
  if (line.kind === 'job') return <JobLine line={line} at={at} top={top} list={list} />;
  return (
    <div role="row" aria-rowindex={at + 2} className={styles['other']} data-kind={line.kind} style={style}>
      {line.kind === 'band' ? (
        <span role="rowheader" aria-colspan={8}>
          <strong>{bandWords[line.band]}</strong>{' '}
          <span className="iris-muted">{words.bandJobs(line.total)}</span>
        </span>
      ) : (
        <span role="gridcell" aria-colspan={8} className="iris-muted">
          {line.kind === 'empty' ? words.nothingIn(line.band) : words.more(line.count)}
        </span>
      )}
    </div>
  );
}

function JobLine({ line, at, top, list }: LineProps & { readonly line: QueueLine & { kind: 'job' } }) {
  const { job, band } = line;
  const id = job.jobId;
  const refused = list.refusals.get(id);
  const isPending = list.pending.has(id);
  return (
    <div
      role="row"
      id={queueRowId(id)}
      aria-rowindex={at + 2}
      aria-selected={list.isSelected(id)}
      aria-busy={isPending}
      className={`${styles['line'] ?? ''} ${styles['job'] ?? ''}`}
      data-active={list.active === id || undefined}
      data-pending={isPending || undefined}
      style={{ transform: `translateY(${top}px)` }}
      onClick={(event) => {
        list.onPick(id, event);
      }}
      onDoubleClick={() => {
        list.onOpen(id);
      }}
      onContextMenu={(event) => {
        event.preventDefault();
        list.onMenu(id, event.clientX, event.clientY);
      }}
    >
      <span role="gridcell" className={styles['number']}>
        {line.place}
      </span>
      <span role="gridcell" className={styles['turns']}>
        <span
          className={styles['turn']}
          data-mine={job.user === list.me || undefined}
          style={{ marginLeft: line.slot * slotWidth }}
          title={line.slot === userSlots - 1 ? `${job.user} (${words.moreUsers})` : job.user}
          aria-hidden="true"
        >
          {initialsOf(job.user)}
        </span>
        <span className="iris-visually-hidden">{words.laneUser(job.user)}</span>
      </span>
      <span role="gridcell" className={`${styles['user'] ?? ''} iris-ellipsis`} title={job.user}>
        {job.user}
      </span>
      <span role="gridcell" className={styles['name']}>
        <span className="iris-ellipsis" title={id}>
          {job.name}
        </span>
        {job.held ? (
          <span className={styles['mark']} title={words.heldHint}>
            <Icon name="hold" size={12} />
            {words.held}
          </span>
        ) : null}
        {job.rank === 0 ? null : (
          <span className={styles['mark']} title={words.movedHint}>
            <Icon name={job.rank < 0 ? 'to-front' : 'to-back'} size={12} />
            {job.rank < 0 ? words.movedUp : words.movedDown}
          </span>
        )}
      </span>
      <span
        role="gridcell"
        className={styles['number']}
        title={words.waitingTasksHint(job.waitingTasks, job.numTasks)}
      >
        {words.waitingTasks(job.waitingTasks, job.numTasks)}
      </span>
      <span role="gridcell" className={styles['number']}>
        {job.gpuCount === 0 ? <Dash reason={common.noGpuAsked} /> : formatCount(job.gpuCount)}
      </span>
      <span role="gridcell" className={styles['number']}>
        <Age atMs={job.submittedAtMs} />
      </span>
      <span role="gridcell" className={styles['reason']}>
        {refused === undefined ? (
          <Reason line={line} demoted={job.requestedBand !== band} />
        ) : (
          <span className={styles['refused']} role="alert" title={refused.message}>
            <Icon name="warning" size={12} />
            <span className="iris-ellipsis">{outcomeText(refused, words.refused)}</span>
          </span>
        )}
      </span>
    </div>
  );
}

function Reason({
  line: { job, band },
  demoted,
}: {
  readonly line: QueueLine & { kind: 'job' };
  readonly demoted: boolean;
}) {
  return (
    <>
      {demoted ? (
        <span className={styles['mark']} data-warns title={words.demotedHint(job.requestedBand, band)}>
          <Icon name="warning" size={12} />
          {words.demoted(job.requestedBand)}
        </span>
      ) : null}
      {job.waiting === null ? (
        <Dash reason={words.noReason} />
      ) : (
        <span className="iris-ellipsis" title={localTimes(job.waiting.message)}>
          {localTimes(job.waiting.message)}
        </span>
      )}
    </>
  );
}

function Age({ atMs }: { readonly atMs: number }) {
  const text = useTimeText((now) => formatAge(now - atMs));
  return (
    <time dateTime={new Date(atMs).toISOString()} title={formatExactTime(atMs)}>
      {text}
    </time>
  );
}
