/** A failed job opens on this: the cause, the attempt, its last error lines and what to try. */
import { Button } from '@mantine/core';
import { navigate, newJobRoute } from '../../app/router.js';
import { Skeleton } from '../../components/feedback.js';
import { Icon } from '../../components/icon.js';
import { decodeBase64 } from '../../components/log-view/log-source.js';
import { plainLine } from '../../components/log-view/plain-line.js';
import type { JobSummary, TaskView } from '../../../core/contract/views.js';
import { withoutLastWords } from '../../../core/formats/last-words.js';
import { useCall } from '../../state/hooks.js';
import { common, localTimes } from '../../strings/common.js';
import { job as words, log } from '../../strings/job.js';
import { adviceFor, endingText, failedAttempt, saysEnding } from './endings.js';
import styles from './job-page.module.css';

export interface FailureCalloutProps {
  readonly summary: JobSummary;
  readonly tasks: readonly TaskView[];
  /** Without the last lines: the log itself was asked for. */
  readonly compact: boolean;
  readonly onShowLog: (task: number, attempt: number) => void;
  readonly onRunAgain: () => void;
}

const tailBytes = 8192;
const mostLines = 8;

export function FailureCallout({ summary, tasks, compact, onShowLog, onRunAgain }: FailureCalloutProps) {
  const failed = failedAttempt(tasks);
  const attempt = failed?.attempt ?? null;
  const cause = attempt?.cause ?? failed?.task.cause ?? summary.cause;
  const ending = attempt === null ? null : endingText(attempt);
  const { data: sizes, error: unread } = useLogSizes(attempt?.uid ?? null);
  const isSilent = sizes !== undefined && sizes.outSize + sizes.errSize === 0;
  const advice = adviceFor(cause, attempt, isSilent);
  const showsLines = attempt !== null && !compact;
  const told = cause?.message ?? words.noCause;
  const message = localTimes(showsLines && unread === null ? withoutLastWords(told) : told);
  return (
    <section className={styles['callout']} data-tone="failed">
      <span className={styles['calloutIcon']}>
        <Icon name={summary.state === 'UNSCHEDULABLE' ? 'no-entry' : 'cross'} />
      </span>
      <div className={styles['calloutText']}>
        <h2>{words.failedTitle(failed?.task.index ?? 0, (attempt?.number ?? 0) + 1, summary.numTasks)}</h2>
        <p>
          {message}
          {attempt === null || ending === null || saysEnding(message, attempt) ? null : (
            <span className="iris-muted"> ({ending})</span>
          )}
        </p>
        {showsLines ? <LastLines attemptUid={attempt.uid} /> : null}
        {advice === null ? null : (
          <p>
            <strong>{words.whatToTry}:</strong> {advice.text}
          </p>
        )}
        <div className={styles['calloutActions']}>
          {advice?.action === 'edit' ? (
            <Button
              variant="default"
              onClick={() => {
                navigate(newJobRoute(summary.id, 'edit'));
              }}
            >
              {common.editAndRun}
            </Button>
          ) : null}
          {advice?.action === 'run-again' ? (
            <Button variant="default" onClick={onRunAgain}>
              {common.runAgain}
            </Button>
          ) : null}
          {attempt !== null && failed !== null && summary.numTasks > 1 ? (
            <Button
              variant="default"
              onClick={() => {
                onShowLog(failed.task.index, attempt.number);
              }}
            >
              {words.showLog}
            </Button>
          ) : null}
        </div>
      </div>
    </section>
  );
}

function useLogSizes(attemptUid: string | null) {
  return useCall(
    'log.merged',
    { attemptUid: attemptUid ?? '', cursor: null, tail: true, maxBytes: 1 },
    { enabled: attemptUid !== null },
  );
}

/** The end of stderr, or of stdout when nothing went to stderr. */
function LastLines({ attemptUid }: { readonly attemptUid: string }) {
  const sizes = useLogSizes(attemptUid);
  const stream = sizes.data === undefined ? null : sizes.data.errSize > 0 ? 'err' : 'out';
  const size =
    sizes.data === undefined ? 0 : sizes.data.errSize > 0 ? sizes.data.errSize : sizes.data.outSize;
  const tail = useCall(
    'log.read',
    { attemptUid, stream: stream ?? 'err', offset: Math.max(0, size - tailBytes), maxBytes: tailBytes },
    { enabled: stream !== null && size > 0 },
  );
  // The log below tells of a failure to read it.
  if (sizes.error !== null || tail.error !== null) return null;
  if (sizes.data !== undefined && size === 0) return <p className="iris-muted">{words.noLines}</p>;
  if (stream === null || tail.data === undefined) {
    return (
      <div className={styles['lines']}>
        <Skeleton width="60%" />
      </div>
    );
  }
  const text = new TextDecoder().decode(decodeBase64(tail.data.dataBase64));
  const lines = text
    .split('\n')
    .slice(size > tailBytes ? 1 : 0)
    .map(plainLine)
    .filter((line) => line !== '')
    .slice(-mostLines);
  return (
    <figure className={styles['figure']}>
      <figcaption className="iris-muted">{words.lastLines(log[stream])}</figcaption>
      <pre className={`${styles['lines'] ?? ''} iris-mono`} tabIndex={0}>
        {lines.join('\n')}
      </pre>
    </figure>
  );
}
