import { jobs as words } from '../../strings/jobs.js';
import styles from './job-table.module.css';

export interface MoreRowProps {
  readonly line: number;
  readonly top: number;
  readonly depth: number;
  readonly remaining: number;
  readonly onMore: () => void;
}

/** Below opened children of which there are more than were fetched. */
export function MoreRow({ line, top, depth, remaining, onMore }: MoreRowProps) {
  return (
    <div
      role="row"
      className={styles['more']}
      aria-rowindex={line + 2}
      style={{ top, paddingLeft: 54 + depth * 16 }}
    >
      <span role="gridcell">
        <button type="button" className={styles['moreButton']} onClick={onMore}>
          {words.moreChildren(remaining)}
        </button>
      </span>
    </div>
  );
}
