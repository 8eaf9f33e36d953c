/** Graphs of the machine's load in a chosen time, which can be held still. */
import { useMemo, useState } from 'react';
import type { MachineView } from '../../../core/contract/machines.js';
import { ChartControls, rangeNames, ranges, type Range } from '../../components/charts/chart-controls.js';
import { LoadCharts, loadFigures, type LoadFigure } from '../../components/charts/load-charts.js';
import { lastMs } from '../../components/charts/use-history.js';
import { machine as machineWords } from '../../strings/machine.js';
import styles from './machine-page.module.css';

const own: readonly LoadFigure[] = ['cpu', 'memory', 'disk'];

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
        <ChartControls
          offered={rangeNames}
          range={range}
          onRange={setRange}
          paused={paused}
          onPause={onPause}
        />
      </div>
      <LoadCharts
        machine={machine}
        span={span}
        paused={paused}
        figures={machine.gpus.length === 0 ? own : loadFigures}
      />
    </div>
  );
}
