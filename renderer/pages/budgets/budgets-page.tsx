/** Budgets: one's own first, then everybody's, changed in place by who may. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { ErrorState, LoadingNote, Skeleton } from '../../components/feedback.js';
import { Icon } from '../../components/icon.js';
import { PageHeader } from '../../components/page-header.js';
import { useBudgets, type BudgetsState } from '../../state/use-budgets.js';
import { budgets as words } from '../../strings/budgets.js';
import { draftOf, newDraft } from './budget-edit.js';
import { BudgetRow } from './budget-row.js';
import styles from './budgets-page.module.css';
import { EditRow } from './edit-row.js';
import { OwnBudget } from './own-budget.js';

/** The row being edited: a user, or a new one. */
type Editing = { readonly kind: 'user'; readonly user: string } | { readonly kind: 'new' } | null;

export function BudgetsPage() {
  const state = useBudgets();
  const [editing, setEditing] = useState<Editing>(null);
  const mayManage = state.kind === 'live' && state.mayManage;
  return (
    <>
      <PageHeader
        title={words.title}
        actions={
          mayManage ? (
            <Button
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
      <div className={styles['scroller']} tabIndex={0} role="region" aria-label={words.title}>
        {state.kind === 'failed' ? (
          <ErrorState what={words.what} refusal={state.refusal} onRetry={state.retry} />
        ) : (
          <div className={styles['page']}>
            {state.kind === 'live' && state.mine !== null ? <OwnBudget budget={state.mine} /> : null}
            {state.kind === 'loading' ? <Skeleton width="100%" height={52} /> : null}
            <Table state={state} editing={editing} onEdit={setEditing} />
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
  const done = () => {
    onEdit(null);
  };
  return (
    <table className={styles['table']} aria-label={words.table}>
      <thead>
        <tr>
          <th scope="col">{words.user}</th>
          <th scope="col" className={styles['number']}>
            {words.limit}
          </th>
          <th scope="col">{words.usedNow}</th>
          <th scope="col">{words.maxBand}</th>
          <th scope="col">{words.rights}</th>
          <th scope="col">{words.quota}</th>
          <td className={styles['action']} />
        </tr>
      </thead>
      <tbody>
        {state.kind === 'loading' ? (
          <tr>
            <td colSpan={7}>
              <LoadingNote />
              <Skeleton width="60%" />
            </td>
          </tr>
        ) : (
          state.rows.map((row) =>
            editing?.kind === 'user' && editing.user === row.user ? (
              <EditRow key={`edit ${row.user}`} before={draftOf(row)} isNew={false} onDone={done} />
            ) : (
              <BudgetRow
                key={row.user}
                row={row}
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
        {editing?.kind === 'new' ? <EditRow before={newDraft} isNew onDone={done} /> : null}
      </tbody>
    </table>
  );
}
