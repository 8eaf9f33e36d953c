/** The last minutes, hours or days of a machine, small, below what it does now. */
import { useMemo, useState } from 'react';
import type { MachineView } from '../../../core/contract/machines.js';
import { ChartControls, rangeNames, ranges, type Range } from '../../components/charts/chart-controls.js';
import { LoadCharts, type LoadFigure } from '../../components/charts/load-charts.js';
import { lastMs } from '../../components/charts/use-history.js';
import { charts } from '../../strings/charts.js';
import { graphs as words } from '../../strings/graphs.js';
import styles from './machine-panel.module.css';

const own: readonly LoadFigure[] = ['cpu', 'memory'];
const ofCards: readonly LoadFigure[] = ['gpu-use', 'gpu-memory'];

export function MachineTrend({ machine }: { readonly machine: MachineView }) {
  const [range, setRange] = useState<Range>('10min');
  const [paused, setPaused] = useState(false);
  const span = useMemo(() => lastMs(ranges[range]), [range]);
  return (
    <section aria-label={words.trend(machine.id, charts.ranges[range])} className={styles['trend']}>
      <ChartControls
        offered={rangeNames}
        range={range}
        onRange={setRange}
        paused={paused}
        onPause={setPaused}
      />
      <LoadCharts
        machine={machine}
        span={span}
        paused={paused}
        figures={machine.gpus.length === 0 ? own : ofCards}
        height={84}
      />
    </section>
  );
}
