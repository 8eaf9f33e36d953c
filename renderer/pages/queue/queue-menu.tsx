/** What can be done with one waiting job, or with the selection it belongs to, at the pointer. */
import { Menu } from '@mantine/core';
import type { BudgetView } from '../../../core/contract/budgets.js';
import type { JobChange, QueuedJobView } from '../../../core/contract/queue.js';
import { Icon } from '../../components/icon.js';
import { JobChangeItems, type Changeable } from '../../components/job-change-items.js';
import { KeyHint } from '../../components/key-hint.js';
import { PointerMenu } from '../../components/pointer-menu.js';
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
    <PointerMenu label={words.menu} at={at} onClose={onClose}>
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
    </PointerMenu>
  );
}
