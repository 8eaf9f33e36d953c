/** What can be done with one job, or with the selection it belongs to, at the pointer. */
import { Menu } from '@mantine/core';
import type { JobSummary } from '../../../core/contract/views.js';
import { Icon } from '../../components/icon.js';
import { KeyHint } from '../../components/key-hint.js';
import { PointerMenu } from '../../components/pointer-menu.js';
import { canRunAgain, canStop } from '../../state/job-actions.js';
import { common } from '../../strings/common.js';
import { jobs as words } from '../../strings/jobs.js';
import { queue as queueWords } from '../../strings/queue.js';

export interface RowMenuProps {
  readonly rows: readonly JobSummary[];
  readonly at: { readonly x: number; readonly y: number };
  readonly onClose: () => void;
  readonly onOpen: (row: JobSummary) => void;
  readonly onStop: (rows: readonly JobSummary[]) => void;
  readonly onRunAgain: (rows: readonly JobSummary[]) => void;
  /** Of those that wait: holds them, or lets them go. */
  readonly onHold: (rows: readonly JobSummary[], held: boolean) => void;
  readonly onEdit: (row: JobSummary) => void;
}

export function RowMenu({ rows, at, onClose, onOpen, onStop, onRunAgain, onHold, onEdit }: RowMenuProps) {
  const single = rows.length === 1 ? rows[0] : undefined;
  const stoppable = rows.filter(canStop);
  const ended = rows.filter(canRunAgain);
  const waiting = rows.filter((row) => row.state === 'PENDING');
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
      {[true, false].map((held) => {
        const concerned = waiting.filter((row) => row.held !== held);
        return concerned.length === 0 ? null : (
          <Menu.Item
            key={String(held)}
            leftSection={<Icon name={held ? 'hold' : 'release'} size={14} />}
            onClick={() => {
              onHold(concerned, held);
            }}
          >
            {held ? queueWords.hold : queueWords.release}
          </Menu.Item>
        );
      })}
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
