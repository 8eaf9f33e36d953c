/** What can be done with one job, or with the selection it belongs to, at the pointer. */
import { Menu } from '@mantine/core';
import type { JobSummary } from '../../../core/contract/views.js';
import type { JobChange } from '../../../core/contract/queue.js';
import { Icon } from '../../components/icon.js';
import { JobChangeItems } from '../../components/job-change-items.js';
import { KeyHint } from '../../components/key-hint.js';
import { PointerMenu } from '../../components/pointer-menu.js';
import { canRunAgain, canStop } from '../../state/job-actions.js';
import { useBudgets } from '../../state/use-budgets.js';
import { common } from '../../strings/common.js';
import { jobs as words } from '../../strings/jobs.js';

export interface RowMenuProps {
  readonly rows: readonly JobSummary[];
  readonly at: { readonly x: number; readonly y: number };
  readonly onClose: () => void;
  readonly onOpen: (row: JobSummary) => void;
  readonly onStop: (rows: readonly JobSummary[]) => void;
  readonly onRunAgain: (rows: readonly JobSummary[]) => void;
  /** Of those that are not over: holds, releases, moves them or changes their band. */
  readonly onChange: (rows: readonly JobSummary[], change: JobChange) => void;
  readonly onEdit: (row: JobSummary) => void;
}

export function RowMenu({ rows, at, onClose, onOpen, onStop, onRunAgain, onChange, onEdit }: RowMenuProps) {
  const single = rows.length === 1 ? rows[0] : undefined;
  const stoppable = rows.filter(canStop);
  const ended = rows.filter(canRunAgain);
  return (
    <PointerMenu label={words.moreActions} at={at} onClose={onClose}>
      {single === undefined ? null : (
        <Menu.Item
          leftSection={<Icon name="arrow" size={14} />}
          rightSection={<KeyHint keys="Enter" />}
          onClick={() => {
            onOpen(single);
          }}
        >
          {common.open}
        </Menu.Item>
      )}
      {stoppable.length === 0 ? null : (
        <Menu.Item
          leftSection={<Icon name="stop" size={14} />}
          rightSection={<KeyHint keys="x" />}
          onClick={() => {
            onStop(stoppable);
          }}
        >
          {words.stopMany(stoppable.length, rows.length)}
        </Menu.Item>
      )}
      {ended.length === 0 ? null : (
        <Menu.Item
          leftSection={<Icon name="rerun" size={14} />}
          rightSection={<KeyHint keys="r" />}
          onClick={() => {
            onRunAgain(ended);
          }}
        >
          {words.runAgainMany(ended.length, rows.length)}
        </Menu.Item>
      )}
      {stoppable.length === 0 ? null : (
        <>
          <Menu.Divider />
          <ChangeItems rows={stoppable} onChange={onChange} />
          {single === undefined ? null : <Menu.Divider />}
        </>
      )}
      {single === undefined ? null : (
        <>
          <Menu.Item
            leftSection={<Icon name="edit" size={14} />}
            rightSection={<KeyHint keys="e" />}
            onClick={() => {
              onEdit(single);
            }}
          >
            {common.editAndRun}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            leftSection={<Icon name="copy" size={14} />}
            onClick={() => {
              void navigator.clipboard.writeText(single.name);
            }}
          >
            {common.copyName}
          </Menu.Item>
          <Menu.Item
            leftSection={<Icon name="copy" size={14} />}
            onClick={() => {
              void navigator.clipboard.writeText(single.id);
            }}
          >
            {common.copyId}
          </Menu.Item>
        </>
      )}
    </PointerMenu>
  );
}

/** Apart, so that budgets are asked for only while the menu is open. */
function ChangeItems({ rows, onChange }: Pick<RowMenuProps, 'rows' | 'onChange'>) {
  const budgets = useBudgets();
  const [first] = rows;
  const ofOne = rows.every((row) => row.user === first?.user);
  const budget =
    budgets.kind === 'live' && ofOne ? (budgets.rows.find((row) => row.user === first?.user) ?? null) : null;
  return (
    <JobChangeItems
      jobs={rows.map(({ held, band }) => ({ held, band, rank: null }))}
      budget={budget}
      withKeys
      onChange={(change) => {
        onChange(concernedBy(rows, change), change);
      }}
    />
  );
}

/** Those of the rows that a change would change. */
export function concernedBy(rows: readonly JobSummary[], change: JobChange): readonly JobSummary[] {
  switch (change.kind) {
    case 'hold':
    case 'release':
      return rows.filter((row) => canStop(row) && row.held !== (change.kind === 'hold'));
    case 'band':
      return rows.filter((row) => canStop(row) && row.band !== change.band);
    case 'move':
      return rows.filter(canStop);
  }
}
