/** A short list of jobs, one line each, with the way to all of them. */
import { memo } from 'react';
import { formatDuration } from '../../../core/formats/durations.js';
import { shownStateOf } from '../../../core/contract/shown-state.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { jobRoute, routeHash } from '../../app/router.js';
import { Skeleton } from '../../components/feedback.js';
import { StateBadge } from '../../components/state-badge.js';
import { TaskBar } from '../../components/task-bar.js';
import { RelativeTime, RunningFor } from '../../components/time.js';
import { localTimes } from '../../strings/common.js';
import { overview as words } from '../../strings/overview.js';
import styles from './job-lines.module.css';

/** What the last column shows: how long it has run, since when it waits, or when it ended. */
export type TimeColumn = 'run' | 'age' | 'end';

/** As many as the controller gives of each list. */
const mostShown = 20;

export interface JobLinesProps {
  readonly title: string;
  readonly rows: readonly JobSummary[];
  /** How many there are, children included: said when the list is cut. Null when that says nothing. */
  readonly count: number | null;
  readonly query: string;
  readonly all: string;
  readonly empty: string;
  readonly time: TimeColumn;
}

export function JobLines({ title, rows, count, query, all, empty, time }: JobLinesProps) {
  return (
    <section className={styles['section']} data-time={time} aria-label={title}>
      <div className={styles['head']}>
        <h2>
          {title}
          {rows.length === 0 || count === null ? null : (
            <span className={styles['count']}>
              {words.count(rows.length < mostShown ? rows.length : count)}
            </span>
          )}
        </h2>
        {rows.length === 0 ? null : (
          <a className={styles['all']} href={routeHash({ page: 'jobs', query })}>
            {all}
          </a>
        )}
      </div>
      {rows.length === 0 ? <p className={styles['empty']}>{empty}</p> : null}
      <ul className={styles['list']}>
        {rows.map((row) => (
          <li key={row.id}>
            <JobLine job={row} time={time} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Rows arrive whole with every sample; one that is the same as before is not drawn again. */
const JobLine = memo(
  function JobLine({ job, time }: { readonly job: JobSummary; readonly time: TimeColumn }) {
    const message = job.waiting?.message ?? job.cause?.message;
    const reason = message === undefined ? undefined : localTimes(message);
    return (
      <a
        className={styles['line']}
        href={routeHash(jobRoute(job.id))}
        title={`${job.id}\n${job.commandLine}`}
      >
        <span className={styles['state']}>
          <StateBadge state={shownStateOf(job)} />
        </span>
        <span className={styles['what']}>
          <span className={`${styles['name'] ?? ''} iris-ellipsis`}>{job.name}</span>
          <span
            className={`${styles['reason'] ?? ''} iris-ellipsis ${reason === undefined ? 'iris-mono' : ''}`}
            title={reason}
          >
            {reason ?? job.commandLine}
          </span>
        </span>
        {job.numTasks > 1 ? (
          <span className={styles['tasks']}>
            <TaskBar counts={job.taskCounts} total={job.numTasks} />
          </span>
        ) : null}
        <span className={styles['time']}>
          <Time job={job} time={time} />
        </span>
      </a>
    );
  },
  (before, after) => before.time === after.time && JSON.stringify(before.job) === JSON.stringify(after.job),
);

function Time({ job, time }: { readonly job: JobSummary; readonly time: TimeColumn }) {
  if (time === 'run' && job.startedAtMs !== null) return <RunningFor startedAtMs={job.startedAtMs} />;
  if (time === 'end' && job.finishedAtMs !== null) {
    return (
      <>
        <span className={styles['ran']}>
          {job.startedAtMs === null ? null : formatDuration(job.finishedAtMs - job.startedAtMs)}
        </span>
        <span className={styles['when']}>
          <RelativeTime atMs={job.finishedAtMs} long />
        </span>
      </>
    );
  }
  return <RelativeTime atMs={job.submittedAtMs} />;
}

export function JobLinesSkeleton({ title, lines }: { readonly title: string; readonly lines: number }) {
  return (
    <section className={styles['section']} aria-label={title}>
      <div className={styles['head']}>
        <h2>{title}</h2>
      </div>
      {Array.from({ length: lines }, (_item, index) => (
        <div key={index} className={styles['line']}>
          <span className={styles['state']}>
            <Skeleton width={72} />
          </span>
          <span className={styles['what']}>
            <Skeleton width={100 + ((index * 47) % 80)} />
          </span>
          <span className={styles['time']}>
            <Skeleton width={40} />
          </span>
        </div>
      ))}
    </section>
  );
}
