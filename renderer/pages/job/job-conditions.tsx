/** What a job waits for besides room: its release, other jobs, a time; and by when it must have ended. */
import { jobRoute, routeHash } from '../../app/router.js';
import { useTimeText } from '../../components/clock.js';
import { Icon } from '../../components/icon.js';
import { resolveTimeBound } from '../../../core/formats/times.js';
import type { JobSpec } from '../../../core/contract/job-request.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { formatExactTime } from '../../strings/common.js';
import { demotedText } from '../../strings/explanation.js';
import { formatClock, queue as words } from '../../strings/queue.js';
import styles from './job-page.module.css';

export interface JobConditionsProps {
  readonly summary: JobSummary;
  readonly spec: JobSpec;
}

export function JobConditions({ summary, spec }: JobConditionsProps) {
  const notBeforeMs = resolveTimeBound(spec.startNotBefore, summary.submittedAtMs);
  const endByMs = resolveTimeBound(spec.finishBy, summary.submittedAtMs);
  const waitsForStart = summary.startedAtMs === null;
  const dependencies = waitsForStart ? spec.dependencies : [];
  const { demoted } = summary;
  const parts = [
    // What waits says so where it says why it waits.
    ...(demoted === undefined || summary.state === 'PENDING'
      ? []
      : [
          <span key="demoted" className={styles['condition']} title={formatExactTime(demoted.atMs)}>
            <Icon name="warning" size={12} />
            {demotedText(demoted, true)}
          </span>,
        ]),
    ...(summary.held
      ? [
          <span key="held" className={styles['condition']} title={words.jobHeldHint}>
            <Icon name="hold" size={12} />
            {words.jobHeld}
          </span>,
        ]
      : []),
    ...dependencies.map(({ job, on }) => (
      <span key={`${job} ${on}`}>
        {words.after} <a href={routeHash(jobRoute(job))}>{job.slice(job.lastIndexOf('/') + 1)}</a>{' '}
        {words.onWords[on]}
      </span>
    )),
    ...(notBeforeMs === null || !waitsForStart
      ? []
      : [<Bound key="start" text={words.notBefore} atMs={notBeforeMs} />]),
    ...(endByMs === null ? [] : [<Bound key="end" text={words.mustEndBy} atMs={endByMs} />]),
  ];
  return parts.length === 0 ? null : <div className={styles['conditions']}>{parts}</div>;
}

function Bound({ text, atMs }: { readonly text: string; readonly atMs: number }) {
  const clock = useTimeText((nowMs) => formatClock(atMs, nowMs));
  return (
    <span>
      {text}{' '}
      <time dateTime={new Date(atMs).toISOString()} title={formatExactTime(atMs)}>
        {clock}
      </time>
    </span>
  );
}
