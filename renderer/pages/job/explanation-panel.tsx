/** Why a job waits: what there is, what would make it start, and when that is expected. */
import type { Explanation } from '../../../core/contract/explanation.js';
import { useTimeText } from '../../components/clock.js';
import { formatExactTime, localTimes } from '../../strings/common.js';
import {
  expectedText,
  explainedText,
  explanation as words,
  reasonDetail,
  remedyText,
} from '../../strings/explanation.js';
import styles from './job-page.module.css';

export function ExplanationPanel({ value }: { readonly value: Explanation }) {
  const { expected, remedies } = value;
  const details = value.reasons.flatMap((reason) => reasonDetail(reason) ?? []);
  return (
    <>
      <p>
        {localTimes(explainedText(value.message, value))}
        {value.waiting > 1 ? <span className="iris-muted"> {words.tasksWait(value.waiting)}</span> : null}
      </p>
      {details.map((text) => (
        <p key={text} className="iris-muted">
          {text}
        </p>
      ))}
      {expected === null ? null : <Expected expected={expected} />}
      {remedies.length === 0 ? null : (
        <>
          <h3 className={styles['remedies']}>{words.wouldHelp}</h3>
          <ul className={styles['explained']} aria-label={words.wouldHelp}>
            {remedies.map((remedy) => (
              <li key={`${remedy.kind} ${remedy.text}`}>{localTimes(remedyText(remedy, value))}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Expected({ expected }: { readonly expected: NonNullable<Explanation['expected']> }) {
  const text = useTimeText((nowMs) => expectedText(expected, nowMs));
  const age = useTimeText((nowMs) => words.age(nowMs - expected.madeAtMs));
  return (
    <p title={expected.startMs === null ? undefined : formatExactTime(expected.startMs)}>
      {text}{' '}
      <span className="iris-muted">
        {expected.assumptions.length === 0
          ? ''
          : `${words.assumes(expected.assumptions.map((each) => each.text))} `}
        {age}
      </span>
    </p>
  );
}
