/** Budgets: one's own first, then everybody's, changed in place by who may. */
import { Button } from '@mantine/core';
import { useRef, useState } from 'react';
import { ErrorState, LoadingNote, Skeleton } from '../../components/feedback.js';
import { Icon } from '../../components/icon.js';
import { PageHeader } from '../../components/page-header.js';
import { useBudgets, type BudgetsState } from '../../state/use-budgets.js';
import { halfLifeWords, budgets as words } from '../../strings/budgets.js';
import { draftOf, newDraft } from './budget-edit.js';
import { BudgetRow } from './budget-row.js';
import styles from './budgets-page.module.css';
import { EditRow } from './edit-row.js';
import { PastUse } from './past-use.js';
import { OwnBudget } from './own-budget.js';
import { useEditFocus, type Editing } from './use-edit-focus.js';

export function BudgetsPage() {
  const state = useBudgets();
  const [editing, setEditing] = useState<Editing>(null);
  const mayManage = state.kind === 'live' && state.mayManage;
  const addButton = useRef<HTMLButtonElement>(null);
  const rows = useRef<HTMLDivElement>(null);
  useEditFocus(editing, addButton, rows);
  return (
    <>
      <PageHeader
        title={words.title}
        actions={
          mayManage ? (
            <Button
              ref={addButton}
              variant="default"
              leftSection={<Icon name="plus" size={14} />}
              disabled={editing?.kind === 'new'}
              onClick={() => {
                setEditing({ kind: 'new' });
              }}
            >
              {words.add}
            </Button>
          ) : null
        }
      />
      <div className={styles['scroller']} tabIndex={0} role="region" aria-label={words.title} ref={rows}>
        {state.kind === 'failed' ? (
          <ErrorState what={words.what} refusal={state.refusal} onRetry={state.retry} />
        ) : (
          <div className={styles['page']}>
            {state.kind === 'live' && state.mine !== null ? <OwnBudget budget={state.mine} /> : null}
            {state.kind === 'loading' ? <Skeleton width="100%" height={52} /> : null}
            <Table state={state} editing={editing} onEdit={setEditing} />
            {state.kind === 'live' ? <PastUse halfLifeMs={state.halfLifeMs} mayManage={mayManage} /> : null}
            <p className={styles['intro']}>
              {words.intro} {state.kind === 'live' && !mayManage ? words.owner : null}
            </p>
          </div>
        )}
      </div>
    </>
  );
}

interface TableProps {
  readonly state: Exclude<BudgetsState, { kind: 'failed' }>;
  readonly editing: Editing;
  readonly onEdit: (editing: Editing) => void;
}

function Table({ state, editing, onEdit }: TableProps) {
  const halfLifeMs = state.kind === 'live' ? state.halfLifeMs : null;
  const columns = halfLifeMs === null ? 8 : 9;
  const hours = `${styles['colHours'] ?? ''} ${styles['number'] ?? ''}`;
  const done = () => {
    onEdit(null);
  };
  return (
    <table className={styles['table']} aria-label={words.table} data-fades={halfLifeMs !== null || undefined}>
      <thead>
        <tr>
          <th scope="col" className={styles['colUser']}>
            {words.user}
          </th>
          <th scope="col" className={`${styles['colLimit'] ?? ''} ${styles['number'] ?? ''}`}>
            {words.limit}
          </th>
          <th scope="col" className={styles['colUsed']}>
            {words.usedNow}
          </th>
          <th scope="col" className={hours} title={words.hoursHint}>
            {words.hours}
          </th>
          {halfLifeMs === null ? null : (
            <th
              scope="col"
              className={`${styles['colFaded'] ?? ''} ${styles['number'] ?? ''}`}
              title={words.fadedHint(halfLifeWords(halfLifeMs))}
            >
              {words.faded}
            </th>
          )}
          <th scope="col" className={styles['colBand']}>
            {words.maxBand}
          </th>
          <th scope="col" className={styles['colRights']}>
            {words.rights}
          </th>
          <th scope="col">{words.quota}</th>
          <td className={`${styles['colAction'] ?? ''} ${styles['action'] ?? ''}`} />
        </tr>
      </thead>
      <tbody>
        {state.kind === 'loading' ? (
          <tr>
            <td colSpan={columns}>
              <LoadingNote />
              <Skeleton width="60%" />
            </td>
          </tr>
        ) : (
          state.rows.map((row) =>
            editing?.kind === 'user' && editing.user === row.user ? (
              <EditRow
                key={`edit ${row.user}`}
                before={draftOf(row)}
                isNew={false}
                columns={columns}
                onDone={done}
              />
            ) : (
              <BudgetRow
                key={row.user}
                row={row}
                columns={columns}
                isMe={row.user === state.me}
                {...(state.mayManage
                  ? {
                      onEdit: () => {
                        onEdit({ kind: 'user', user: row.user });
                      },
                    }
                  : {})}
              />
            ),
          )
        )}
        {editing?.kind === 'new' ? <EditRow before={newDraft} isNew columns={columns} onDone={done} /> : null}
      </tbody>
    </table>
  );
}
