/** What graphs over time are looked at by: how much of it is shown, and whether they stand still. */
import { Button, SegmentedControl } from '@mantine/core';
import { Icon } from '../icon.js';
import { charts as words } from '../../strings/charts.js';
import styles from './load-charts.module.css';

/** Lengths of time that graphs go back, for those that go on with the time. */
export const ranges = { '10min': 600_000, '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;
export type Range = keyof typeof ranges;
export const rangeNames = Object.keys(ranges) as Range[];

export interface ChartControlsProps<R extends keyof typeof words.ranges> {
  readonly offered: readonly R[];
  readonly range: R;
  readonly onRange: (range: R) => void;
  readonly paused: boolean;
  /** Null: what is shown is over and stands still anyway. */
  readonly onPause: ((paused: boolean) => void) | null;
}

export function ChartControls<R extends keyof typeof words.ranges>(props: ChartControlsProps<R>) {
  const { offered, range, onRange, paused, onPause } = props;
  return (
    <div className={styles['controls']}>
      <SegmentedControl
        aria-label={words.range}
        value={range}
        onChange={onRange}
        data={offered.map((value) => ({ value, label: words.ranges[value] }))}
      />
      {onPause === null ? null : (
        <Button
          variant="default"
          leftSection={<Icon name={paused ? 'release' : 'hold'} size={14} />}
          aria-pressed={paused}
          onClick={() => {
            onPause(!paused);
          }}
        >
          {paused ? words.goOn : words.pause}
        </Button>
      )}
    </div>
  );
}
