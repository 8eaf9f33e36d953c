/** Name and path, state with its cause in one sentence, and what can be done. */
import { ActionIcon, Button, Menu } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { jobRoute, jobsRoute, navigate, newJobRoute, routeHash } from '../../app/router.js';
import { Icon } from '../../components/icon.js';
import { JobChangeItems } from '../../components/job-change-items.js';
import { StateBadge } from '../../components/state-badge.js';
import { RelativeTime, RunningFor } from '../../components/time.js';
import type { JobActionFunctions } from '../../components/use-job-actions.js';
import type { JobDetail } from '../../../core/contract/api.js';
import { toCommandLine } from '../../../core/contract/job-text.js';
import { specToRequest } from '../../../core/contract/job-yaml.js';
import type { JobChange } from '../../../core/contract/queue.js';
import { shownStateOf } from '../../../core/contract/shown-state.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { ended } from '../../../core/formats/last-words.js';
import { useRefused } from '../../components/use-refused.js';
import { canRunAgain, canStop } from '../../state/job-actions.js';
import { useDesktop } from '../../state/desktop-context.js';
import { changeJobs } from '../../state/job-changes.js';
import { useBudgets } from '../../state/use-budgets.js';
import { common, localTimes, outcomeText } from '../../strings/common.js';
import { job as words } from '../../strings/job.js';
import { queue } from '../../strings/queue.js';
import { JobConditions } from './job-conditions.js';
import styles from './job-page.module.css';
import { useCopy } from './use-copy.js';

export interface JobHeaderProps {
  readonly summary: JobSummary;
  readonly detail: JobDetail;
  readonly actions: JobActionFunctions;
}

export function JobHeader({ summary, detail, actions }: JobHeaderProps) {
  const copy = useCopy();
  const { actions: pending, host } = useDesktop();
  const budgets = useBudgets();
  const [refused, setRefused] = useRefused((message) => `${summary.name}: ${message}`);
  const isLive = budgets.kind === 'live';
  const mayChange = canStop(summary) && (!isLive || budgets.mayManage || summary.user === budgets.me);
  const change = (what: JobChange) => {
    setRefused(null);
    void changeJobs(host, [summary.id], what).then((refusals) => {
      const reason = refusals.get(summary.id);
      setRefused(reason === undefined ? null : outcomeText(reason, queue.refused));
    });
  };
  const isStopping =
    useSyncExternalStore(pending.stopping.subscribe, () => pending.stopping.has(summary.id)) &&
    canStop(summary);
  const copyCommand = () => {
    const { text, leftOut } = toCommandLine(specToRequest(detail.spec));
    copy(text, words.command, leftOut.length === 0 ? '' : words.leftOut(leftOut.join(', ')));
  };
  return (
    <header className={styles['header']}>
      <div className={styles['headLine']}>
        <nav aria-label={words.crumbs} className={styles['crumbs']}>
          <a href={routeHash(jobsRoute())}>{common.jobs}</a>
          {detail.ancestors.map((id) => (
            <span key={id} className={styles['crumb']}>
              <Icon name="chevron-right" size={12} />
              <a href={routeHash(jobRoute(id))} title={id}>
                {id.slice(id.lastIndexOf('/') + 1)}
              </a>
            </span>
          ))}
          <Icon name="chevron-right" size={12} />
        </nav>
        <h1 className="iris-ellipsis" title={summary.name}>
          {summary.name}
        </h1>
        <span className={styles['space']} />
        {canStop(summary) ? (
          <Button
            variant="default"
            disabled={isStopping}
            leftSection={<Icon name="stop" size={14} />}
            onClick={() => void actions.stop([summary])}
          >
            {isStopping ? words.stopping : common.stop}
          </Button>
        ) : null}
        {canRunAgain(summary) ? (
          <Button
            variant="default"
            leftSection={<Icon name="rerun" size={14} />}
            onClick={() => void actions.runAgainHere(summary)}
          >
            {common.runAgain}
          </Button>
        ) : null}
        <Button
          variant="default"
          leftSection={<Icon name="edit" size={14} />}
          onClick={() => {
            navigate(newJobRoute(summary.id, 'edit'));
          }}
        >
          {common.editAndRun}
        </Button>
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon aria-label={words.more}>
              <Icon name="more" />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {mayChange ? (
              <>
                <JobChangeItems
                  jobs={[{ held: summary.held, band: summary.band, rank: null }]}
                  budget={isLive ? (budgets.rows.find((row) => row.user === summary.user) ?? null) : null}
                  withKeys={false}
                  onChange={change}
                />
                <Menu.Divider />
              </>
            ) : null}
            <Menu.Item leftSection={<Icon name="copy" size={14} />} onClick={copyCommand}>
              {words.copyCommand}
            </Menu.Item>
            <Menu.Item
              leftSection={<Icon name="copy" size={14} />}
              onClick={() => {
                copy(summary.id, words.path);
              }}
            >
              {common.copyId}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </div>
      <div className={styles['stateLine']}>
        <StateBadge state={shownStateOf(summary)} />
        <span className="iris-ellipsis">
          <StateSentence summary={summary} />
        </span>
      </div>
      {canStop(summary) ? <JobConditions summary={summary} spec={detail.spec} /> : null}
      {refused === null ? null : (
        <p role="alert" className={styles['refused']}>
          {refused}
        </p>
      )}
      <div className={`${styles['pathLine'] ?? ''} iris-muted`}>
        <span className="iris-mono iris-ellipsis" title={summary.id}>
          {summary.id}
        </span>
        <span className={styles['nowrap']}>
          {words.submittedAgo} <RelativeTime atMs={summary.submittedAtMs} long />
        </span>
      </div>
    </header>
  );
}

function StateSentence({ summary }: { readonly summary: JobSummary }) {
  const where = summary.workers.length === 0 ? '' : words.runsOn(summary.workers.join(', '));
  const ranMs =
    summary.startedAtMs === null || summary.finishedAtMs === null
      ? null
      : Math.max(0, summary.finishedAtMs - summary.startedAtMs);
  switch (summary.state) {
    case 'PENDING':
      return <>{localTimes(summary.waiting?.message ?? words.waits)}</>;
    case 'RUNNING':
      // Nothing of it runs now.
      if (shownStateOf(summary) === 'PENDING')
        return <>{localTimes(summary.waiting?.message ?? words.waits)}</>;
      return summary.startedAtMs === null ? (
        <>{where}</>
      ) : (
        <>
          {words.runsFor} <RunningFor startedAtMs={summary.startedAtMs} /> {where}
          {summary.waiting === null ? '' : `. ${localTimes(summary.waiting.message)}`}
        </>
      );
    case 'SUCCEEDED':
      return <>{ranMs === null ? '' : words.endedAfter(ranMs)}</>;
    default:
      return (
        <>
          {[
            ended(localTimes(summary.cause?.message ?? words.noCause)),
            ranMs === null ? '' : words.endedAfter(ranMs),
          ]
            .join(' ')
            .trim()}
        </>
      );
  }
}
