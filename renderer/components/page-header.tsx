/** Title of a page on the left, its actions on the right; crumbs lead up. */
import type { ReactNode } from 'react';
import styles from './page-header.module.css';

export interface PageHeaderProps {
  readonly title: ReactNode;
  /** Links to what is above, before the title. */
  readonly crumbs?: ReactNode;
  /** Beside the title: a state, a count. */
  readonly aside?: ReactNode;
  readonly actions?: ReactNode;
}

export function PageHeader({ title, crumbs, aside, actions }: PageHeaderProps) {
  return (
    <header className={styles['header']}>
      {crumbs}
      <h1 className={`${styles['title'] ?? ''} iris-ellipsis`}>{title}</h1>
      {aside}
      <span className={styles['space']} />
      {actions}
    </header>
  );
}
