/** All tasks of a job; each opens to its attempts. Virtual, because a job may have ten thousand. */
import { ActionIcon, Button } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import { EmptyState } from '../../components/feedback.js';
import { Icon } from '../../components/icon.js';
import { StateBadge } from '../../components/state-badge.js';
import { RelativeTime, RunningFor } from '../../components/time.js';
import { Dash } from '../../components/values.js';
import { formatDuration } from '../../../core/formats/durations.js';
import type { AttemptView, JobSummary, TaskView } from '../../../core/contract/views.js';
import { common, localTimes } from '../../strings/common.js';
import { graphs } from '../../strings/graphs.js';
import { job as words } from '../../strings/job.js';
import { endingText } from './endings.js';
import { leavingTexts } from './leaving.js';
import styles from './tasks-table.module.css';
import { foreignCards, usageFacts } from './usage-facts.js';

export interface TasksTableProps {
  readonly summary: JobSummary;
  readonly tasks: readonly TaskView[];
  /** What an attempt has after it was told to leave. */
  readonly graceMs: number;
  /** Task whose attempts are shown at first. */
  readonly open: number | null;
  readonly onShowLog: (task: number, attempt: number) => void;
}

const rowHeight = 31;

export function TasksTable({ summary, tasks, graceMs, open, onShowLog }: TasksTableProps) {
  const alone = tasks.length === 1 ? tasks[0]?.index : undefined;
  const [opened, setOpened] = useState<ReadonlySet<number>>(() => new Set([open ?? alone ?? -1]));
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => rowHeight * (opened.has(tasks[index]?.index ?? -1) ? 2 : 1),
    getItemKey: (index) => tasks[index]?.id ?? index,
    overscan: 12,
    initialOffset: open === null ? 0 : open * rowHeight,
  });
  const toggle = (index: number) => {
    const next = new Set(opened);
    if (!next.delete(index)) next.add(index);
    setOpened(next);
  };
  if (tasks.length === 0) return <EmptyState title={words.noTasksTitle}>{words.noTasksBody}</EmptyState>;
  return (
    <div className={styles['scroller']} ref={scroller}>
      <div role="table" aria-label={words.tasks} aria-rowcount={tasks.length + 1} className={styles['table']}>
        <div role="row" className={`${styles['row'] ?? ''} ${styles['head'] ?? ''}`}>
          <span role="columnheader">{words.taskColumn}</span>
          <span role="columnheader">{words.stateColumn}</span>
          <span role="columnheader">{words.attemptsColumn}</span>
          <span role="columnheader">{words.exitColumn}</span>
          <span role="columnheader">{words.durationColumn}</span>
          <span role="columnheader">{words.whereColumn}</span>
          <span role="columnheader">{words.causeColumn}</span>
        </div>
        <div role="rowgroup" className={styles['body']} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const task = tasks[item.index];
            if (task === undefined) return null;
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className={styles['item']}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <TaskRow
                  task={task}
                  graceMs={graceMs}
                  position={item.index + 2}
                  opened={opened.has(task.index)}
                  onToggle={toggle}
                  onShowLog={onShowLog}
                />
              </div>
            );
          })}
        </div>
      </div>
      {tasks.length < summary.numTasks ? (
        <p className={`${styles['note'] ?? ''} iris-muted`}>
          {words.firstTasks(tasks.length, summary.numTasks)}
        </p>
      ) : null}
    </div>
  );
}

interface TaskRowProps {
  readonly task: TaskView;
  readonly graceMs: number;
  readonly position: number;
  readonly opened: boolean;
  readonly onToggle: (index: number) => void;
  readonly onShowLog: (task: number, attempt: number) => void;
}

function TaskRow({ task, graceMs, position, opened, onToggle, onShowLog }: TaskRowProps) {
  const last = task.attempts.at(-1);
  const ending = last === undefined ? null : endingText(last);
  const cause = task.cause ?? task.waiting;
  const count = (last?.number ?? -1) + 1;
  return (
    <>
      <div role="row" aria-rowindex={position} className={styles['row']}>
        <span role="cell" className={styles['task']}>
          {task.attempts.length === 0 ? (
            <span className={styles['noToggle']} />
          ) : (
            <ActionIcon
              size={22}
              aria-label={opened ? words.hideAttempts(task.index) : words.showAttempts(task.index)}
              aria-expanded={opened}
              onClick={() => {
                onToggle(task.index);
              }}
            >
              <Icon name={opened ? 'chevron-down' : 'chevron-right'} size={14} />
            </ActionIcon>
          )}
          {task.index}
        </span>
        <span role="cell">
          <StateBadge state={task.state} />
        </span>
        <span role="cell">{count === 0 ? <Dash reason={words.noAttempt} /> : count}</span>
        <span role="cell" className="iris-ellipsis">
          {ending ?? <Dash reason={task.finishedAtMs === null ? words.stillRunning : words.noExit} />}
        </span>
        <span role="cell">
          {last === undefined ? <Dash reason={common.notStarted} /> : <RunTime attempt={last} />}
        </span>
        <span role="cell" className="iris-ellipsis">
          {last?.workerId ?? <Dash reason={common.notPlaced} />}
        </span>
        <span
          role="cell"
          className="iris-ellipsis"
          title={cause === null ? undefined : localTimes(cause.message)}
        >
          {cause === null ? <Dash reason={words.noCauseHere} /> : localTimes(cause.message)}
        </span>
      </div>
      {opened && task.attempts.length > 0 ? (
        <div role="row" className={styles['attempts']}>
          <div role="cell">
            <ol className={styles['attemptList']}>
              {task.attempts.map((attempt) => (
                <AttemptLine
                  key={attempt.uid}
                  task={task}
                  attempt={attempt}
                  graceMs={graceMs}
                  onShowLog={onShowLog}
                />
              ))}
              {(task.attempts[0]?.number ?? 0) > 0 ? (
                <li className="iris-muted">{words.earlierAttempts(task.attempts.length)}</li>
              ) : null}
            </ol>
          </div>
        </div>
      ) : null}
    </>
  );
}

function RunTime({ attempt }: { readonly attempt: AttemptView }) {
  if (attempt.durationMs !== null) return <>{formatDuration(attempt.durationMs)}</>;
  if (attempt.startedAtMs === null) return <Dash reason={common.notStarted} />;
  if (attempt.finishedAtMs !== null) return <>{formatDuration(attempt.finishedAtMs - attempt.startedAtMs)}</>;
  return <RunningFor startedAtMs={attempt.startedAtMs} />;
}

interface AttemptLineProps {
  readonly task: TaskView;
  readonly attempt: AttemptView;
  readonly graceMs: number;
  readonly onShowLog: (task: number, attempt: number) => void;
}

function AttemptLine({ task, attempt, graceMs, onShowLog }: AttemptLineProps) {
  const facts = [
    ...(attempt.devices.length === 0 ? [] : [words.gpus(attempt.devices.length)]),
    ...(attempt.peakMemoryBytes === null ? [] : [words.peak(attempt.peakMemoryBytes)]),
    ...(attempt.pid === null ? [] : [words.pid(attempt.pid)]),
    ...usageFacts(attempt.usage),
  ];
  const foreign = foreignCards(attempt.usage, attempt.devices);
  const ending = endingText(attempt);
  return (
    <li className={styles['attempt']}>
      <span className={styles['attemptName']}>{words.attempt(attempt.number + 1)}</span>
      <StateBadge state={attempt.state} />
      <span>{ending ?? ''}</span>
      <RunTime attempt={attempt} />
      {attempt.startedAtMs === null ? null : (
        <span className="iris-muted">
          {words.startedAt} <RelativeTime atMs={attempt.startedAtMs} long />
        </span>
      )}
      <span className="iris-muted">
        {[attempt.workerId ?? '', ...facts].filter((fact) => fact !== '').join(', ')}
      </span>
      <Button
        variant="subtle"
        size="compact-xs"
        aria-label={words.attemptLog(task.index, attempt.number + 1)}
        onClick={() => {
          onShowLog(task.index, attempt.number);
        }}
      >
        {words.openLog}
      </Button>
      {attempt.cause === null ? null : (
        <span className={styles['attemptCause']}>{localTimes(attempt.cause.message)}</span>
      )}
      {leavingTexts(attempt, graceMs).map((text) => (
        <span key={text} className={styles['attemptCause']}>
          {text}
        </span>
      ))}
      {foreign.length === 0 ? null : (
        <span className={styles['attemptCause']}>{graphs.foreign(foreign)}</span>
      )}
      {attempt.warnings.map((warning) => (
        <span key={warning.code} className={styles['attemptCause']}>
          {words.warning(localTimes(warning.message))}
        </span>
      ))}
    </li>
  );
}
