/** Search, chips and the state menu. With a selection, the same line holds what can be done with it. */
import { ActionIcon, Button, Menu, TextInput, UnstyledButton } from '@mantine/core';
import { memo, type RefObject } from 'react';
import { jobStates, type JobState } from '../../../core/contract/states.js';
import { Icon } from '../../components/icon.js';
import { StateBadge } from '../../components/state-badge.js';
import { jobs as words } from '../../strings/jobs.js';
import styles from './filter-bar.module.css';
import { mostSelected } from './job-list.js';
import { presets, type JobsView, type Preset } from './jobs-view.js';

const presetWords: Readonly<Record<Preset, string>> = {
  all: words.all,
  running: words.running,
  waiting: words.waiting,
  'failed-today': words.failedToday,
  ended: words.ended,
};

export interface FilterBarProps {
  readonly view: JobsView;
  readonly user: string | null;
  readonly onChange: (view: JobsView) => void;
}

export const FilterBar = memo(function FilterBar({ view, user, onChange }: FilterBarProps) {
  const toggleState = (state: JobState, on: boolean) => {
    const states = jobStates.filter((candidate) =>
      candidate === state ? on : view.states.includes(candidate),
    );
    onChange({ ...view, show: states.length === 0 ? 'all' : 'states', states, sort: null });
  };
  return (
    <div className={styles['bar']} role="group" aria-label={words.filterLabel}>
      {presets.map((preset) => (
        <UnstyledButton
          key={preset}
          className={styles['chip']}
          aria-pressed={view.show === preset}
          onClick={() => {
            onChange({ ...view, show: preset, states: [], sort: null });
          }}
        >
          {presetWords[preset]}
        </UnstyledButton>
      ))}
      <Menu position="bottom-start">
        <Menu.Target>
          <UnstyledButton
            className={styles['chip']}
            aria-pressed={view.show === 'states'}
            title={words.stateFilter}
          >
            {view.show === 'states' ? words.stateCount(view.states.length) : words.state}
            <Icon name="chevron-down" size={10} />
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{words.stateFilter}</Menu.Label>
          {jobStates.map((state) => (
            <Menu.CheckboxItem
              key={state}
              checked={view.states.includes(state)}
              onChange={(on) => {
                toggleState(state, on);
              }}
            >
              <StateBadge state={state} />
            </Menu.CheckboxItem>
          ))}
        </Menu.Dropdown>
      </Menu>
      {user === null ? null : (
        <>
          <span className={styles['line']} />
          <UnstyledButton
            className={styles['chip']}
            aria-pressed={view.mine}
            title={words.mineHint(user)}
            onClick={() => {
              onChange({ ...view, mine: !view.mine });
            }}
          >
            {words.mine}
          </UnstyledButton>
        </>
      )}
    </div>
  );
});

export interface SearchBoxProps {
  readonly value: string;
  readonly inputRef: RefObject<HTMLInputElement | null>;
  readonly onChange: (value: string) => void;
  /** Down or Enter: on to the list. */
  readonly onLeave: () => void;
}

export function SearchBox({ value, inputRef, onChange, onLeave }: SearchBoxProps) {
  return (
    <TextInput
      ref={inputRef}
      className={styles['search'] ?? ''}
      aria-label={words.search}
      placeholder={`${words.search}  (/)`}
      leftSection={<Icon name="search" size={14} />}
      value={value}
      maxLength={500}
      rightSection={
        value === '' ? null : (
          <ActionIcon
            aria-label={words.clearSearch}
            size={20}
            onClick={() => {
              onChange('');
            }}
          >
            <Icon name="cross" size={12} />
          </ActionIcon>
        )
      }
      onChange={(event) => {
        onChange(event.currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && value !== '') {
          event.preventDefault();
          onChange('');
        } else if (event.key === 'ArrowDown' || event.key === 'Enter') {
          event.preventDefault();
          onLeave();
        }
      }}
    />
  );
}

export interface SelectionBarProps {
  readonly count: number;
  /** All that the filter finds. */
  readonly total: number;
  /** The rest of a long list is being selected. */
  readonly busy: boolean;
  readonly stoppable: number;
  readonly endable: number;
  readonly onStop: () => void;
  readonly onRunAgain: () => void;
  readonly onClear: () => void;
}

export function SelectionBar({
  count,
  total,
  busy,
  stoppable,
  endable,
  onStop,
  onRunAgain,
  onClear,
}: SelectionBarProps) {
  // More can be found than be selected: who chose all is not to believe it is all.
  const said =
    count >= mostSelected && total > count ? words.selectedOf(count, total) : words.selected(count);
  return (
    <div className={styles['bar']} role="toolbar" aria-label={said}>
      <strong className={styles['selected']}>{busy ? words.selecting : said}</strong>
      {stoppable === 0 ? null : (
        <Button variant="default" leftSection={<Icon name="stop" size={14} />} onClick={onStop}>
          {words.stopMany(stoppable, count)}
        </Button>
      )}
      {endable === 0 ? null : (
        <Button variant="default" leftSection={<Icon name="rerun" size={14} />} onClick={onRunAgain}>
          {words.runAgainMany(endable, count)}
        </Button>
      )}
      <Button variant="subtle" color="gray" onClick={onClear}>
        {words.clearSelection}
      </Button>
    </div>
  );
}
