/** What a look at a machine found, a step a line, each with what to do about it. */
import { machineCheckSteps, type MachineCheck } from '../../../core/contract/machines.js';
import { Icon, type IconName } from '../../components/icon.js';
import { addMachine as words, outcomeWords, stepWords } from '../../strings/add-machine.js';
import styles from './add-machine.module.css';

const looks: Readonly<Record<MachineCheck['outcome'], { readonly icon: IconName; readonly color: string }>> =
  {
    OK: { icon: 'check', color: 'var(--iris-succeeded)' },
    WARNING: { icon: 'warning', color: 'var(--iris-waiting)' },
    FAILED: { icon: 'cross', color: 'var(--iris-failed)' },
    SKIPPED: { icon: 'minus', color: 'var(--iris-text-muted)' },
  };

export interface CheckStepsProps {
  readonly address: string;
  /** Null while it is looked at. */
  readonly checks: readonly MachineCheck[] | null;
}

export function CheckSteps({ address, checks }: CheckStepsProps) {
  if (checks === null) {
    return (
      <ol className={styles['steps']} aria-label={words.checking(address)} aria-busy="true">
        {machineCheckSteps.map((step) => (
          <li key={step} className={styles['step']}>
            <span className={styles['outcome']} style={{ color: 'var(--iris-text-muted)' }}>
              <Icon name="clock" size={14} />
              {words.pending}
            </span>
            <span className={styles['stepName']}>{stepWords[step]}</span>
            <span />
          </li>
        ))}
      </ol>
    );
  }
  return (
    <ol className={styles['steps']} aria-label={words.steps}>
      {checks.map((item) => (
        <li key={item.step} className={styles['step']}>
          <span className={styles['outcome']} style={{ color: looks[item.outcome].color }}>
            <Icon name={looks[item.outcome].icon} size={14} />
            {outcomeWords[item.outcome]}
          </span>
          <span className={styles['stepName']}>{stepWords[item.step]}</span>
          <span className={styles['found']}>
            {item.message}
            {item.advice === null ? null : <span className={styles['advice']}>{item.advice}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}
