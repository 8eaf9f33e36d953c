/** The jobs this job started. */
import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { jobRoute, routeHash } from '../../app/router.js';
import { ErrorState, LoadingNote, Skeleton } from '../../components/feedback.js';
import { StateBadge } from '../../components/state-badge.js';
import { RelativeTime } from '../../components/time.js';
import { shownStateOf } from '../../../core/contract/shown-state.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { useDesktop, useJobRow } from '../../state/desktop-context.js';
import { asRefusal, useCall } from '../../state/hooks.js';
import { localTimes } from '../../strings/common.js';
import { job as words } from '../../strings/job.js';
import styles from './job-page.module.css';

const step = 100;
const most = 500;

export function ChildJobs({ jobId }: { readonly jobId: string }) {
  const [limit, setLimit] = useState(step);
  const answer = useCall('job.children', { jobId, offset: 0, limit }, { keepPrevious: true });
  const { jobs } = useDesktop();
  useEffect(() => {
    if (answer.data !== undefined) jobs.put(answer.data.rows);
  }, [jobs, answer.data]);
  if (answer.error !== null) {
    return (
      <ErrorState
        what={words.childrenWhat}
        refusal={asRefusal(answer.error)}
        onRetry={() => void answer.refetch()}
      />
    );
  }
  if (answer.data === undefined) {
    return (
      <div className={styles['skeleton']}>
        <LoadingNote />
        <Skeleton width="40%" />
        <Skeleton width="46%" />
      </div>
    );
  }
  const rest = answer.data.total - answer.data.rows.length;
  return (
    <>
      <ul className={styles['children']}>
        {answer.data.rows.map((row) => (
          <ChildRow key={row.id} row={row} />
        ))}
      </ul>
      {rest > 0 && limit < most ? (
        <Button
          variant="subtle"
          onClick={() => {
            setLimit(Math.min(most, limit + step));
          }}
        >
          {words.moreChildren(Math.min(step, rest))}
        </Button>
      ) : null}
    </>
  );
}

function ChildRow({ row }: { readonly row: JobSummary }) {
  const now = useJobRow(row.id) ?? row;
  return (
    <li className={styles['child']}>
      <StateBadge state={shownStateOf(now)} />
      <a href={routeHash(jobRoute(now.id))} className="iris-ellipsis">
        {now.name}
      </a>
      <span className="iris-mono iris-muted iris-ellipsis" title={now.commandLine}>
        {localTimes(now.cause?.message ?? now.waiting?.message ?? now.commandLine)}
      </span>
      <RelativeTime atMs={now.submittedAtMs} long />
    </li>
  );
}
