/** A part of the form that is folded until wanted. */
import type { ReactNode } from 'react';
import styles from './new-job.module.css';

export function Section({
  title,
  open,
  children,
}: {
  readonly title: string;
  readonly open: boolean;
  readonly children: ReactNode;
}) {
  return (
    <details className={styles['section']} open={open}>
      <summary>{title}</summary>
      <div>{children}</div>
    </details>
  );
}
