/** A state as icon, word and colour: the same for jobs, tasks and attempts, everywhere. */
import { memo } from 'react';
import { stateWords, type AnyState } from '../strings/common.js';
import { Icon, type IconName } from './icon.js';
import styles from './state-badge.module.css';

export interface StateLook {
  readonly icon: IconName;
  /** CSS variable of its colour. */
  readonly color: string;
  readonly outlined: boolean;
}

export const stateLooks: Readonly<Record<AnyState, StateLook>> = {
  PENDING: { icon: 'clock', color: 'var(--iris-waiting)', outlined: false },
  ASSIGNED: { icon: 'arrow', color: 'var(--iris-assigned)', outlined: false },
  BUILDING: { icon: 'hammer', color: 'var(--iris-building)', outlined: false },
  RUNNING: { icon: 'dot', color: 'var(--iris-running)', outlined: false },
  SUCCEEDED: { icon: 'check', color: 'var(--iris-succeeded)', outlined: false },
  FAILED: { icon: 'cross', color: 'var(--iris-failed)', outlined: false },
  KILLED: { icon: 'stop', color: 'var(--iris-killed)', outlined: false },
  PREEMPTED: { icon: 'rewind', color: 'var(--iris-waiting)', outlined: false },
  WORKER_FAILED: { icon: 'broken-link', color: 'var(--iris-failed)', outlined: true },
  UNSCHEDULABLE: { icon: 'no-entry', color: 'var(--iris-waiting)', outlined: true },
  COSCHED_FAILED: { icon: 'linked', color: 'var(--iris-killed)', outlined: false },
};

export interface StateBadgeProps {
  readonly state: AnyState;
  /** Another word than the state's own, such as `1 failed` of a job still running. */
  readonly word?: string;
}

export const StateBadge = memo(function StateBadge({ state, word }: StateBadgeProps) {
  const look = stateLooks[state];
  return (
    <span
      className={styles['badge']}
      data-outlined={look.outlined || undefined}
      style={{ color: look.color }}
    >
      <Icon name={look.icon} size={14} />
      {word ?? stateWords[state]}
    </span>
  );
});
