/** Overview: the machines on the left, what runs, waits and has ended on the right. Live while it is seen. */
import { EmptyState, ErrorState, LoadingNote } from '../../components/feedback.js';
import { NewJobButton } from '../../components/new-job-button.js';
import { PageHeader } from '../../components/page-header.js';
import { useTopic } from '../../state/hooks.js';
import { overview as words } from '../../strings/overview.js';
import { JobLines, JobLinesSkeleton } from './job-lines.js';
import { MachineList } from './machine-list.js';
import { MachineSkeleton } from './machine-panel.js';
import styles from './overview-page.module.css';

export function OverviewPage() {
  const state = useTopic('overview', {});
  return (
    <>
      <PageHeader title={words.title} actions={<NewJobButton plus />} />
      <div className={styles['scroller']} tabIndex={0} role="region" aria-label={words.title}>
        {state.kind === 'ended' ? (
          <ErrorState what={words.what} refusal={state.refusal} />
        ) : (
          <div className={styles['columns']}>
            <section aria-label={words.machines} className={styles['machines']}>
              {state.kind === 'loading' ? (
                <MachineSkeleton />
              ) : (
                <MachineList machines={state.value.machines} />
              )}
            </section>
            <div className={styles['jobs']}>
              {state.kind === 'loading' ? (
                <>
                  <LoadingNote />
                  <JobLinesSkeleton title={words.running} lines={3} />
                  <JobLinesSkeleton title={words.waiting} lines={2} />
                  <JobLinesSkeleton title={words.recent} lines={6} />
                </>
              ) : state.value.running.length + state.value.waiting.length + state.value.recent.length ===
                0 ? (
                <EmptyState
                  icon="list"
                  title={words.firstTitle}
                  example={words.firstExample}
                  action={<NewJobButton />}
                >
                  {words.firstBody}
                </EmptyState>
              ) : (
                <>
                  <JobLines
                    title={words.running}
                    rows={state.value.running}
                    count={state.value.counts.running}
                    query="show=running"
                    all={words.showAllRunning}
                    empty={words.nothingRunning}
                    time="run"
                  />
                  <JobLines
                    title={words.waiting}
                    rows={state.value.waiting}
                    count={state.value.counts.waiting}
                    query="show=waiting"
                    all={words.showAllWaiting}
                    empty={words.nothingWaiting}
                    time="age"
                  />
                  <JobLines
                    title={words.recent}
                    rows={state.value.recent}
                    count={null}
                    query="show=ended"
                    all={words.showAllEnded}
                    empty={words.nothingEnded}
                    time="end"
                  />
                </>
              )}
            </div>
          </div>
        )}
      </div>
    </>
  );
}
