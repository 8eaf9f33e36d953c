/** What can be done with the chosen jobs, always in the same place. */
import { Button, Menu } from '@mantine/core';
import type { RefObject } from 'react';
import type { BudgetView } from '../../../core/contract/budgets.js';
import type { JobChange, QueuedJobView } from '../../../core/contract/queue.js';
import { Icon } from '../../components/icon.js';
import { BandItems } from '../../components/job-change-items.js';
import { queue as words } from '../../strings/queue.js';
import { changeableOf } from './queue-menu.js';
import styles from './queue-page.module.css';

export interface QueueToolbarProps {
  readonly chosen: readonly QueuedJobView[];
  readonly may: boolean;
  readonly budget: BudgetView | null;
  readonly bandButton: RefObject<HTMLButtonElement | null>;
  readonly onChange: (change: JobChange) => void;
}

export function QueueToolbar({ chosen, may, budget, bandButton, onChange }: QueueToolbarProps) {
  const off = chosen.length === 0 || !may;
  const first = chosen[0];
  return (
    <div className={styles['toolbar']} role="toolbar" aria-label={words.actions}>
      {chosen.some((job) => job.held) && chosen.every((job) => job.held) ? (
        <Button
          variant="default"
          disabled={off}
          leftSection={<Icon name="release" size={14} />}
          onClick={() => {
            onChange({ kind: 'release' });
          }}
        >
          {words.release}
        </Button>
      ) : (
        <Button
          variant="default"
          disabled={off}
          leftSection={<Icon name="hold" size={14} />}
          onClick={() => {
            onChange({ kind: 'hold' });
          }}
        >
          {words.hold}
        </Button>
      )}
      <Button
        variant="default"
        disabled={off}
        title={words.firstHint}
        leftSection={<Icon name="to-front" size={14} />}
        onClick={() => {
          onChange({ kind: 'move', to: 'first' });
        }}
      >
        {words.toFirst}
      </Button>
      <Button
        variant="default"
        disabled={off}
        title={words.lastHint}
        leftSection={<Icon name="to-back" size={14} />}
        onClick={() => {
          onChange({ kind: 'move', to: 'last' });
        }}
      >
        {words.toLast}
      </Button>
      <Button
        variant="default"
        disabled={off || chosen.every((job) => job.rank === 0)}
        title={words.usualHint}
        onClick={() => {
          onChange({ kind: 'move', to: 'usual' });
        }}
      >
        {words.toUsual}
      </Button>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button
            ref={bandButton}
            variant="default"
            disabled={off}
            rightSection={<Icon name="chevron-down" size={10} />}
          >
            {words.band}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <BandItems jobs={chosen.map(changeableOf)} budget={budget} onChange={onChange} />
        </Menu.Dropdown>
      </Menu>
      <span className={`${styles['chosen'] ?? ''} iris-muted iris-ellipsis`}>
        {first === undefined
          ? words.noneChosen
          : !may
            ? words.notYours
            : chosen.length === 1
              ? first.name
              : words.chosen(chosen.length)}
      </span>
    </div>
  );
}
