/** Why a job waits: the controller's explanation; until that is there, the reasons of its waiting tasks, each once, with how many tasks it holds back. */
import { Icon } from '../../components/icon.js';
import { RunningFor } from '../../components/time.js';
import type { JobSummary, TaskView } from '../../../core/contract/views.js';
import { countTasks, localTimes } from '../../strings/common.js';
import { job as words } from '../../strings/job.js';
import { ExplanationPanel } from './explanation-panel.js';
import styles from './job-page.module.css';
import { useExplanation } from './use-explanation.js';

export interface WaitingCalloutProps {
  readonly summary: JobSummary;
  readonly tasks: readonly TaskView[];
}

export function WaitingCallout({ summary, tasks }: WaitingCalloutProps) {
  const explanation = useExplanation(summary.id);
  const reasons = new Map<string, number>();
  for (const task of tasks) {
    if (task.state !== 'PENDING' || task.waiting === null) continue;
    reasons.set(task.waiting.message, (reasons.get(task.waiting.message) ?? 0) + 1);
  }
  // One that has run already waits since that ended.
  const ends = tasks.flatMap(({ state, attempts }) =>
    state === 'PENDING' ? [attempts.at(-1)?.finishedAtMs ?? 0] : [],
  );
  const sinceMs = Math.max(summary.submittedAtMs, ...ends);
  if (reasons.size === 0 && summary.waiting !== null) reasons.set(summary.waiting.message, summary.numTasks);
  return (
    <section className={styles['callout']} data-tone="waiting" aria-label={words.whyWaits}>
      <span className={styles['calloutIcon']}>
        <Icon name="clock" />
      </span>
      <div className={styles['calloutText']}>
        <h2>
          {words.whyWaits}
          <span className={`${styles['calloutSide'] ?? ''} iris-muted`}>
            {words.waitsSince} <RunningFor startedAtMs={sinceMs} />
          </span>
        </h2>
        {explanation === null ? (
          [...reasons].map(([message, count]) => (
            <p key={message}>
              {localTimes(message)}
              {reasons.size > 1 ? <span className="iris-muted"> ({countTasks(count)})</span> : null}
            </p>
          ))
        ) : (
          <ExplanationPanel value={explanation} />
        )}
      </div>
    </section>
  );
}
