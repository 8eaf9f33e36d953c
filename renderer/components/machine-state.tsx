/** How a machine is and whether it takes tasks, each as icon, word and colour. */
import { formatExactTime } from '../strings/common.js';
import {
  contactWords,
  drainText,
  healthWords,
  machines as words,
  schedulingHints,
  schedulingWords,
} from '../strings/machines.js';
import type { MachineView } from '../../core/contract/machines.js';
import { useTimeText } from './clock.js';
import { Icon, type IconName } from './icon.js';
import styles from './state-badge.module.css';

interface Condition {
  readonly icon: IconName;
  readonly color: string;
  readonly outlined: boolean;
  readonly word: string;
  /** It answers, so that its figures are of now. */
  readonly answers: boolean;
}

export function conditionOf({ contact, state }: Pick<MachineView, 'contact' | 'state'>): Condition {
  if (contact.state !== 'CONNECTED') {
    const word = contactWords[contact.state];
    switch (contact.state) {
      case 'CONNECTING':
        return { icon: 'clock', color: 'var(--iris-waiting)', outlined: false, word, answers: false };
      case 'ANSWER_NEEDED':
        return { icon: 'person', color: 'var(--iris-waiting)', outlined: false, word, answers: false };
      case 'UNREACHABLE':
        return { icon: 'broken-link', color: 'var(--iris-failed)', outlined: true, word, answers: false };
      case 'OFF':
        return { icon: 'power', color: 'var(--iris-killed)', outlined: false, word, answers: false };
    }
  }
  const word = healthWords[state];
  switch (state) {
    case 'HEALTHY':
      return { icon: 'check', color: 'var(--iris-succeeded)', outlined: false, word, answers: true };
    case 'DEGRADED':
      return { icon: 'warning', color: 'var(--iris-waiting)', outlined: false, word, answers: true };
    case 'DEAD':
      return { icon: 'broken-link', color: 'var(--iris-failed)', outlined: true, word, answers: false };
  }
}

export function ConditionBadge({ machine }: { readonly machine: MachineView }) {
  const look = conditionOf(machine);
  const { sinceMs } = machine.contact;
  return (
    <span
      className={styles['badge']}
      data-outlined={look.outlined || undefined}
      style={{ color: look.color }}
      title={sinceMs === 0 ? undefined : `${words.since} ${formatExactTime(sinceMs)}`}
    >
      <Icon name={look.icon} size={14} />
      {look.word}
    </span>
  );
}

const schedulingIcons: Readonly<Record<MachineView['scheduling'], IconName>> = {
  OPEN: 'check',
  CORDONED: 'no-entry',
  DRAINING: 'drain',
  DRAINED: 'no-entry',
};

/** Nothing for a machine that takes tasks: that is what machines do. */
export function SchedulingBadge({ machine }: { readonly machine: MachineView }) {
  const { scheduling } = machine;
  const deadline = scheduling === 'DRAINING' ? machine.drainDeadlineMs : null;
  const until = useTimeText((now) => (deadline === null ? '' : drainText(deadline, now)));
  if (scheduling === 'OPEN') return null;
  return (
    <span
      className={styles['badge']}
      style={{ color: 'var(--iris-waiting)' }}
      title={deadline === null ? schedulingHints[scheduling] : formatExactTime(deadline)}
    >
      <Icon name={schedulingIcons[scheduling]} size={14} />
      <span>
        {schedulingWords[scheduling]}
        {until === '' ? null : <span style={{ fontWeight: 400 }}>{`: ${until}`}</span>}
      </span>
    </span>
  );
}
