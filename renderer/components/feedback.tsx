/** Empty, failed and loading: what a page shows when it has no rows. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Refusal } from '../../core/contract/errors.js';
import { common } from '../strings/common.js';
import { Icon, type IconName } from './icon.js';
import styles from './feedback.module.css';

export interface EmptyStateProps {
  readonly icon?: IconName;
  readonly title: string;
  /** What this page will show. */
  readonly children: ReactNode;
  /** One action. */
  readonly action?: ReactNode;
  /** One example, in the monospace font. */
  readonly example?: string;
}

export function EmptyState({ icon, title, children, action, example }: EmptyStateProps) {
  return (
    <div className={styles['empty']}>
      {icon === undefined ? null : (
        <span className={styles['icon']}>
          <Icon name={icon} size={24} />
        </span>
      )}
      <h2>{title}</h2>
      <p className="iris-muted">{children}</p>
      {example === undefined ? null : (
        <code className={`${styles['example'] ?? ''} iris-mono`}>{example}</code>
      )}
      {action}
    </div>
  );
}

export interface ErrorStateProps {
  /** What failed, as a noun: `The list of jobs`. */
  readonly what: string;
  readonly refusal: Refusal;
  readonly onRetry?: () => void;
  /** One line instead of a block, inside a list. */
  readonly inline?: boolean;
}

export function ErrorState({ what, refusal, onRetry, inline = false }: ErrorStateProps) {
  return (
    <div className={inline ? styles['errorLine'] : styles['error']} role="alert">
      <span className={styles['errorIcon']}>
        <Icon name="warning" />
      </span>
      <div className={styles['errorText']}>
        <strong>{common.failedTitle(what)}</strong>
        <p>{refusal.message}</p>
        {refusal.fields.length === 0 ? null : (
          <ul>
            {refusal.fields.map((field) => (
              <li key={field.field}>
                {field.field}: {field.value}; {field.expected}
              </li>
            ))}
          </ul>
        )}
      </div>
      {onRetry === undefined ? null : (
        <Button variant="default" onClick={onRetry}>
          {common.tryAgain}
        </Button>
      )}
    </div>
  );
}

export interface SkeletonProps {
  readonly width: number | string;
  readonly height?: number;
}

/** A grey bar in the place of a text that is being loaded. */
export function Skeleton({ width, height = 10 }: SkeletonProps) {
  return <span className={styles['skeleton']} style={{ width, height }} aria-hidden="true" />;
}

/** Says to screen readers that the skeletons around it stand for something being loaded. */
export function LoadingNote() {
  return (
    <span className="iris-visually-hidden" role="status">
      {common.loading}
    </span>
  );
}
