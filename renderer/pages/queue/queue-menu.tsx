/** What can be done with one waiting job, or with the selection it belongs to, at the pointer. */
import { Menu } from '@mantine/core';
import type { BudgetView } from '../../../core/contract/budgets.js';
import type { JobChange, QueuedJobView } from '../../../core/contract/queue.js';
import { Icon } from '../../components/icon.js';
import { JobChangeItems, type Changeable } from '../../components/job-change-items.js';
import { KeyHint } from '../../components/key-hint.js';
import { common } from '../../strings/common.js';
import { queue as words } from '../../strings/queue.js';

export const changeableOf = (job: QueuedJobView): Changeable => ({
  held: job.held,
  band: job.requestedBand,
  rank: job.rank,
});

export interface QueueMenuProps {
  readonly jobs: readonly QueuedJobView[];
  readonly at: { readonly x: number; readonly y: number };
  readonly may: boolean;
  readonly budget: BudgetView | null;
  readonly onClose: () => void;
  readonly onOpen: (id: string) => void;
  readonly onStop: () => void;
  readonly onChange: (change: JobChange) => void;
}

export function QueueMenu({ jobs, at, may, budget, onClose, onOpen, onStop, onChange }: QueueMenuProps) {
  const single = jobs.length === 1 ? jobs[0] : undefined;
  return (
    <Menu
      opened
      position="bottom-start"
      offset={2}
      returnFocus
      onChange={(opened) => {
        if (!opened) onClose();
      }}
    >
      <Menu.Target>
        {/* Nothing to see: the place of the pointer, named for the menu that hangs on it. */}
        <button
          type="button"
          tabIndex={-1}
          aria-label={words.menu}
          style={{
            position: 'fixed',
            left: at.x,
            top: at.y,
            width: 1,
            height: 1,
            padding: 0,
            border: 0,
            opacity: 0,
          }}
        />
      </Menu.Target>
      <Menu.Dropdown>
        {single === undefined ? null : (
          <Menu.Item
            leftSection={<Icon name="arrow" size={14} />}
            rightSection={<KeyHint keys="Enter" />}
            onClick={() => {
              onOpen(single.jobId);
            }}
          >
            {words.open}
          </Menu.Item>
        )}
        {may ? (
          <>
            <Menu.Item
              leftSection={<Icon name="stop" size={14} />}
              rightSection={<KeyHint keys="x" />}
              onClick={onStop}
            >
              {common.stop}
            </Menu.Item>
            <Menu.Divider />
            <JobChangeItems jobs={jobs.map(changeableOf)} budget={budget} withKeys onChange={onChange} />
          </>
        ) : (
          <Menu.Label>{words.notYours}</Menu.Label>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
