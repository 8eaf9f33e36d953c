/** Graphs of the machine's load in a chosen time, which can be held still. */
import { Button, SegmentedControl } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { MachineView } from '../../../core/contract/machines.js';
import { LoadCharts, type LoadFigure } from '../../components/charts/load-charts.js';
import { lastMs } from '../../components/charts/use-history.js';
import { Icon } from '../../components/icon.js';
import { charts as words } from '../../strings/charts.js';
import { machine as machineWords } from '../../strings/machine.js';
import styles from './machine-page.module.css';

const ranges = { '10min': 600_000, '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;
type Range = keyof typeof ranges;

const own: readonly LoadFigure[] = ['cpu', 'memory'];
const all: readonly LoadFigure[] = ['cpu', 'memory', 'gpu-use', 'gpu-memory', 'gpu-power', 'gpu-heat'];

export interface LoadTabProps {
  readonly machine: MachineView;
  readonly paused: boolean;
  readonly onPause: (paused: boolean) => void;
}

export function LoadTab({ machine, paused, onPause }: LoadTabProps) {
  const [range, setRange] = useState<Range>('10min');
  const span = useMemo(() => lastMs(ranges[range]), [range]);
  return (
    <div className={styles['scroller']} tabIndex={0} role="region" aria-label={machineWords.load}>
      <div className={styles['toolbar']}>
        <SegmentedControl
          aria-label={words.range}
          value={range}
          onChange={setRange}
          data={(Object.keys(ranges) as Range[]).map((value) => ({ value, label: words.ranges[value] }))}
        />
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
      </div>
      <LoadCharts
        machine={machine}
        span={span}
        paused={paused}
        figures={machine.gpus.length === 0 ? own : all}
      />
    </div>
  );
}
