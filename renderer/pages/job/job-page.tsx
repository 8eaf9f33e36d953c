/** One job: what it does and why, its log, tasks and request; stop, run again, edit. Live by the `job` topic. */
import { Button, Tabs } from '@mantine/core';
import { useEffect } from 'react';
import { shownStateOf } from '../../../core/contract/shown-state.js';
import { latePage } from '../../app/late-page.js';
import { jobRoute, jobsRoute, navigate, newJobRoute, replaceRoute } from '../../app/router.js';
import { ErrorState, LoadingNote, Skeleton } from '../../components/feedback.js';
import { PageHeader } from '../../components/page-header.js';
import { useShortcuts } from '../../components/shortcuts.js';
import { useJobActions } from '../../components/use-job-actions.js';
import type { JobDetail, TopicSnapshot } from '../../../core/contract/api.js';
import { isTerminalJobState } from '../../../core/contract/states.js';
import { canRunAgain, canStop } from '../../state/job-actions.js';
import { useDesktop } from '../../state/desktop-context.js';
import { asRefusal, useCall, useTopic } from '../../state/hooks.js';
import { graphs } from '../../strings/graphs.js';
import { job as words } from '../../strings/job.js';
import { ChildJobs } from './child-jobs.js';
import { FailureCallout } from './failure-callout.js';
import { JobDetails } from './job-details.js';
import { JobHeader } from './job-header.js';
import styles from './job-page.module.css';
import { jobPlaceText, parseJobPlace, type JobPlace, type JobTab } from './job-tab.js';
import { LogTab } from './log-tab.js';
import { NoticedCallout } from './noticed-callout.js';
import { TasksTable } from './tasks-table.js';
import { useAllTasks } from './use-all-tasks.js';
import { WaitingCallout } from './waiting-callout.js';

/** What draws is read only by who looks at graphs. */
const graphsTab = latePage(async () => (await import('./graphs-tab.js')).GraphsTab);

export interface JobPageProps {
  readonly jobId: string;
  readonly tab: string | null;
}

export function JobPage({ jobId, tab }: JobPageProps) {
  const detail = useCall('job.get', { jobId });
  const id = detail.data?.summary.id ?? (jobId.startsWith('/') ? jobId : null);
  const live = useTopic('job', id === null ? null : { jobId: id });
  const { jobs } = useDesktop();
  const summary = live.kind === 'live' ? live.value.summary : undefined;
  useEffect(() => {
    if (summary !== undefined) jobs.put([summary]);
  }, [jobs, summary]);

  if (detail.error !== null && detail.data === undefined) {
    const refusal = asRefusal(detail.error);
    return (
      <>
        <PageHeader title={jobId} />
        <div className={styles['alone']}>
          <ErrorState
            what={words.what}
            refusal={refusal}
            // A job that does not exist is not there a moment later either.
            {...(refusal.code === 'NOT_FOUND' ? {} : { onRetry: () => void detail.refetch() })}
          />
          <Button
            variant="default"
            onClick={() => {
              navigate(jobsRoute());
            }}
          >
            {words.backToJobs}
          </Button>
        </div>
      </>
    );
  }
  if (detail.data === undefined || live.kind === 'loading') return <JobSkeleton jobId={jobId} />;
  return (
    <LoadedJob
      detail={detail.data}
      live={live.kind === 'live' ? live.value : { summary: detail.data.summary, tasks: [] }}
      snapshots={live.kind === 'live' ? live.snapshots : 0}
      tab={tab}
    />
  );
}

function JobSkeleton({ jobId }: { readonly jobId: string }) {
  return (
    <>
      <PageHeader title={jobId.slice(jobId.lastIndexOf('/') + 1)} />
      <div className={styles['skeleton']}>
        <LoadingNote />
        <Skeleton width={280} />
        <Skeleton width="100%" height={1} />
        <Skeleton width="42%" />
        <Skeleton width="64%" />
        <Skeleton width="51%" />
        <Skeleton width="70%" />
      </div>
    </>
  );
}

interface LoadedJobProps {
  readonly detail: JobDetail;
  readonly live: TopicSnapshot<'job'>;
  /** How often that began anew. */
  readonly snapshots: number;
  readonly tab: string | null;
}

function LoadedJob({ detail, live, snapshots, tab }: LoadedJobProps) {
  const { summary } = live;
  const tasks = useAllTasks(summary.id, { tasks: live.tasks, snapshots }, summary.numTasks);
  const actions = useJobActions();
  const ran = tasks.some((task) => task.attempts.length > 0);
  const asked = parseJobPlace(tab);
  const place: JobPlace = asked ?? {
    tab: ran || !isTerminalJobState(summary.state) ? 'logs' : 'details',
    task: null,
    attempt: null,
  };
  const show = (next: JobTab, task: number | null = null, attempt: number | null = null) => {
    replaceRoute(jobRoute(summary.id, jobPlaceText(next, task, attempt)));
  };

  useShortcuts(words.keysTitle, [
    {
      keys: 'l',
      label: words.keyLogs,
      run: () => {
        show('logs');
      },
    },
    {
      keys: 't',
      label: words.keyTasks,
      run: () => {
        show('tasks');
      },
    },
    {
      keys: 'd',
      label: words.keyDetails,
      run: () => {
        show('details');
      },
    },
    {
      keys: 'x',
      label: words.keyStop,
      run: () => {
        if (!canStop(summary)) return false;
        void actions.stop([summary]);
        return true;
      },
    },
    {
      keys: 'r',
      label: words.keyRun,
      run: () => {
        if (!canRunAgain(summary)) return false;
        void actions.runAgainHere(summary);
        return true;
      },
    },
    {
      keys: 'e',
      label: words.keyEdit,
      run: () => {
        navigate(newJobRoute(summary.id, 'edit'));
      },
    },
    {
      keys: 'Escape',
      label: words.keyUp,
      run: () => {
        if (summary.parentId === null) return false;
        navigate(jobRoute(summary.parentId));
        return true;
      },
    },
  ]);

  return (
    <>
      <JobHeader summary={summary} detail={detail} actions={actions} />
      {shownStateOf(summary) === 'PENDING' ? <WaitingCallout summary={summary} tasks={tasks} /> : null}
      <NoticedCallout tasks={tasks} />
      {summary.state === 'FAILED' ||
      summary.state === 'WORKER_FAILED' ||
      summary.state === 'UNSCHEDULABLE' ? (
        <FailureCallout
          summary={summary}
          tasks={tasks}
          compact={asked !== null}
          onShowLog={(task, attempt) => {
            show('logs', task, attempt);
          }}
          onRunAgain={() => void actions.runAgainHere(summary)}
        />
      ) : null}
      <Tabs
        className={styles['tabs'] ?? ''}
        value={place.tab}
        onChange={(value) => {
          const next = parseJobPlace(value)?.tab;
          if (next !== undefined) show(next);
        }}
        keepMounted={false}
        variant="default"
      >
        <Tabs.List aria-label={words.tabs} className={styles['tabList'] ?? ''}>
          <Tabs.Tab value="logs">{words.logs}</Tabs.Tab>
          <Tabs.Tab value="tasks">{words.tasks}</Tabs.Tab>
          <Tabs.Tab value="graphs">{graphs.tab}</Tabs.Tab>
          {summary.childCount > 0 ? (
            <Tabs.Tab value="children">{words.children(summary.childCount)}</Tabs.Tab>
          ) : null}
          <Tabs.Tab value="details">{words.details}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="logs" className={styles['panel'] ?? ''}>
          <LogTab summary={summary} tasks={tasks} place={place} onPlace={show} />
        </Tabs.Panel>
        <Tabs.Panel value="tasks" className={styles['panel'] ?? ''}>
          <TasksTable
            summary={summary}
            tasks={tasks}
            graceMs={detail.spec.graceMs}
            open={place.tab === 'tasks' ? place.task : null}
            onShowLog={(task, attempt) => {
              show('logs', task, attempt);
            }}
          />
        </Tabs.Panel>
        <Tabs.Panel value="graphs" className={styles['scrolled'] ?? ''}>
          <graphsTab.Page tasks={tasks} />
        </Tabs.Panel>
        <Tabs.Panel value="children" className={styles['scrolled'] ?? ''}>
          <ChildJobs jobId={summary.id} />
        </Tabs.Panel>
        <Tabs.Panel value="details" className={styles['scrolled'] ?? ''}>
          <JobDetails detail={detail} summary={summary} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
