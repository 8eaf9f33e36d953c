/** Beside the form: when the job would start, or what is wrong, and the equivalent command. */
import { Icon, type IconName } from '../../components/icon.js';
import { ErrorState } from '../../components/feedback.js';
import type { FieldError } from '../../../core/contract/errors.js';
import type { JobRequest } from '../../../core/contract/job-request.js';
import { toCommandLine } from '../../../core/contract/job-text.js';
import { localTimes } from '../../strings/common.js';
import { explainedText } from '../../strings/explanation.js';
import { job } from '../../strings/job.js';
import { newJob as words } from '../../strings/new-job.js';
import { CopyButton } from '../job/copy-button.js';
import { fieldLabel } from './field-labels.js';
import type { JobForm } from './form-model.js';
import styles from './new-job.module.css';
import type { CheckState } from './use-check.js';
import { errorText } from './use-job-form.js';

export interface CheckPanelProps {
  readonly check: CheckState;
  readonly request: JobRequest | null;
  /** What the contract's schema says already, without asking. */
  readonly wrong: readonly FieldError[];
  /** What is to be written first; null when that is there. */
  readonly ask: string | null;
  /** The form as it is filled in; null where the job is written as YAML, which has names of its own for the fields. */
  readonly form: JobForm | null;
}

const looks: Readonly<
  Record<string, { readonly icon: IconName; readonly title: string; readonly tone: string }>
> = {
  STARTS_NOW: { icon: 'check', title: words.startsNow, tone: 'good' },
  WAITS: { icon: 'clock', title: words.waits, tone: 'waiting' },
  NEVER: { icon: 'no-entry', title: words.never, tone: 'bad' },
};

export function CheckPanel({ check, request, wrong, ask, form }: CheckPanelProps) {
  const { text: line, leftOut } =
    request === null || wrong.length > 0 ? { text: '', leftOut: [] } : toCommandLine(request);
  return (
    <aside className={styles['panel']} aria-label={words.panel}>
      <div className={styles['verdict']} role="status">
        <Verdict check={check} wrong={wrong} ask={ask} form={form} />
      </div>
      {line === '' ? null : (
        <div>
          <div className={styles['panelHead']}>
            <h2>{words.equivalent}</h2>
            <CopyButton text={line} what={words.equivalentWhat} />
          </div>
          <pre className={`${styles['line'] ?? ''} iris-mono`} tabIndex={0}>
            {line}
          </pre>
          {leftOut.length === 0 ? null : <p className="iris-muted">{job.leftOut(leftOut.join(', '))}</p>}
        </div>
      )}
    </aside>
  );
}

function Verdict({ check, wrong, ask, form }: Omit<CheckPanelProps, 'request'>) {
  if (ask !== null) return <p className="iris-muted">{ask}</p>;
  if (wrong.length > 0) {
    return (
      <>
        <h2 data-tone="bad">
          <Icon name="warning" />
          {words.fixFields(wrong.length)}
        </h2>
        <ul className={styles['wrong']}>
          {wrong.map((field) => (
            <li key={`${field.field} ${field.expected}`}>
              <strong>{form === null ? field.field : fieldLabel(field.field, form)}</strong>{' '}
              {errorText(field)}
            </li>
          ))}
        </ul>
      </>
    );
  }
  if (check.kind === 'failed') return <ErrorState what={words.panel} refusal={check.refusal} inline />;
  if (check.kind === 'none') return <p className="iris-muted">{words.checking}</p>;
  const look = looks[check.answer.verdict];
  return (
    <>
      <h2 data-tone={look?.tone ?? 'bad'}>
        <Icon name={look?.icon ?? 'warning'} />
        {look?.title ?? words.invalid}
      </h2>
      <p>{localTimes(explainedText(check.answer.message, check.answer.dryRun?.explanation ?? null))}</p>
      {form !== null || look === undefined || check.answer.verdict === 'NEVER'
        ? null
        : // As YAML there is no field to say it beside.
          check.answer.fields.map((field) => (
            <p key={field.field}>
              <strong>{field.field}</strong> {errorText(field)}
            </p>
          ))}
    </>
  );
}
