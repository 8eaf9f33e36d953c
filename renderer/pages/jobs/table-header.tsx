/** Column heads; those that sort say so and by which way. */
import { memo } from 'react';
import type { JobSort } from '../../../core/contract/api.js';
import { Icon } from '../../components/icon.js';
import { jobs as words } from '../../strings/jobs.js';
import styles from './job-table.module.css';

interface Column {
  readonly word: string;
  readonly sortKey: JobSort['key'] | null;
  readonly right?: boolean;
  readonly wide?: boolean;
}

function columns(showEnd: boolean): readonly Column[] {
  return [
    { word: words.name, sortKey: 'name' },
    { word: words.state, sortKey: 'state' },
    { word: words.tasks, sortKey: null },
    { word: words.gpu, sortKey: null, right: true, wide: true },
    showEnd
      ? { word: words.endedColumn, sortKey: 'finished', right: true }
      : { word: words.age, sortKey: 'submitted', right: true },
    { word: words.duration, sortKey: 'duration', right: true },
    { word: words.where, sortKey: null, wide: true },
  ];
}

export interface TableHeaderProps {
  readonly sort: JobSort;
  readonly showEnd: boolean;
  readonly onSort: (key: JobSort['key']) => void;
}

export const TableHeader = memo(function TableHeader({ sort, showEnd, onSort }: TableHeaderProps) {
  return (
    <div role="rowgroup" className={styles['head']}>
      <div role="row" className={styles['headRow']} aria-rowindex={1}>
        <span role="columnheader">
          <span className="iris-visually-hidden">{words.select}</span>
        </span>
        {columns(showEnd).map((column) => {
          const { sortKey } = column;
          const sorted = sortKey !== null && sort.key === sortKey;
          return (
            <span
              key={column.word}
              role="columnheader"
              className={`${column.right === true ? (styles['right'] ?? '') : ''} ${column.wide === true ? (styles['wide'] ?? '') : ''}`}
              aria-sort={sorted ? (sort.descending ? 'descending' : 'ascending') : undefined}
            >
              {sortKey === null ? (
                column.word
              ) : (
                <button
                  type="button"
                  className={styles['sort']}
                  data-sorted={sorted || undefined}
                  title={words.sortBy(column.word)}
                  onClick={() => {
                    onSort(sortKey);
                  }}
                >
                  {column.word}
                  {sorted ? <Icon name={sort.descending ? 'chevron-down' : 'chevron-up'} size={10} /> : null}
                </button>
              )}
            </span>
          );
        })}
      </div>
    </div>
  );
});
