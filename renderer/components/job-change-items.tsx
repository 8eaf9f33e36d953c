/** Hold, release, band and place of jobs as items of a menu: the same in the queue, on a job's page and wherever else they are. */
import { Menu } from '@mantine/core';
import type { BudgetView } from '../../core/contract/budgets.js';
import type { JobChange } from '../../core/contract/queue.js';
import { bands, type Band } from '../../core/contract/states.js';
import { mayAskFor } from '../state/job-changes.js';
import { bandWords, budgets } from '../strings/budgets.js';
import { queue as words } from '../strings/queue.js';
import { Icon } from './icon.js';
import { KeyHint } from './key-hint.js';

export interface Changeable {
  readonly held: boolean;
  readonly band: Band;
  /** 0 in its usual place; null where that is not known. */
  readonly rank: number | null;
}

export interface JobChangeItemsProps {
  readonly jobs: readonly Changeable[];
  /** Whose bands are offered; all while it is not known. */
  readonly budget: BudgetView | null;
  /** Shows the keys of the queue beside the items. */
  readonly withKeys: boolean;
  readonly onChange: (change: JobChange) => void;
}

export function JobChangeItems({ jobs, budget, withKeys, onChange }: JobChangeItemsProps) {
  const key = (keys: string) => (withKeys ? <KeyHint keys={keys} /> : null);
  const someHeld = jobs.some((job) => job.held);
  const someFree = jobs.some((job) => !job.held);
  return (
    <>
      {someFree ? (
        <Menu.Item
          leftSection={<Icon name="hold" size={14} />}
          rightSection={key('h')}
          onClick={() => {
            onChange({ kind: 'hold' });
          }}
        >
          {words.hold}
        </Menu.Item>
      ) : null}
      {someHeld ? (
        <Menu.Item
          leftSection={<Icon name="release" size={14} />}
          rightSection={someFree ? null : key('h')}
          onClick={() => {
            onChange({ kind: 'release' });
          }}
        >
          {words.release}
        </Menu.Item>
      ) : null}
      <Menu.Item
        leftSection={<Icon name="to-front" size={14} />}
        rightSection={key('alt+ArrowUp')}
        title={words.firstHint}
        onClick={() => {
          onChange({ kind: 'move', to: 'first' });
        }}
      >
        {words.toFirst}
      </Menu.Item>
      <Menu.Item
        leftSection={<Icon name="to-back" size={14} />}
        rightSection={key('alt+ArrowDown')}
        title={words.lastHint}
        onClick={() => {
          onChange({ kind: 'move', to: 'last' });
        }}
      >
        {words.toLast}
      </Menu.Item>
      {jobs.every((job) => job.rank === 0) ? null : (
        <Menu.Item
          leftSection={<Icon name="clock" size={14} />}
          rightSection={key('u')}
          title={words.usualHint}
          onClick={() => {
            onChange({ kind: 'move', to: 'usual' });
          }}
        >
          {words.toUsual}
        </Menu.Item>
      )}
      <Menu.Divider />
      <Menu.Label>{words.band}</Menu.Label>
      <BandItems jobs={jobs} budget={budget} onChange={onChange} />
    </>
  );
}

export function BandItems({ jobs, budget, onChange }: Omit<JobChangeItemsProps, 'withKeys'>) {
  return bands.map((band) => {
    const isNow = jobs.every((job) => job.band === band);
    const open = budget === null || mayAskFor(budget, band);
    return (
      <Menu.Item
        key={band}
        disabled={isNow || !open}
        onClick={() => {
          onChange({ kind: 'band', band });
        }}
      >
        {isNow ? words.bandNow(band) : open ? words.bandOf(band) : closedBand(band)}
      </Menu.Item>
    );
  });
}

function closedBand(band: Band): string {
  return band === 'SYSTEM' || band === 'PRODUCTION'
    ? budgets.bandNeedsRight(bandWords[band])
    : budgets.bandAboveBest(bandWords[band]);
}
