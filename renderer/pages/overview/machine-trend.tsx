/** The last ten minutes of a machine, small, below what it does now. */
import { useMemo } from 'react';
import type { MachineView } from '../../../core/contract/machines.js';
import { LoadCharts, type LoadFigure } from '../../components/charts/load-charts.js';
import { lastMs } from '../../components/charts/use-history.js';
import { graphs as words } from '../../strings/graphs.js';
import styles from './machine-panel.module.css';

const own: readonly LoadFigure[] = ['cpu', 'memory'];
const ofCards: readonly LoadFigure[] = ['gpu-use', 'gpu-memory'];
const shownMs = 600_000;

export function MachineTrend({ machine }: { readonly machine: MachineView }) {
  const span = useMemo(() => lastMs(shownMs), []);
  return (
    <section aria-label={words.trend(machine.id)} className={styles['trend']}>
      <LoadCharts
        machine={machine}
        span={span}
        paused={false}
        figures={machine.gpus.length === 0 ? own : ofCards}
        height={84}
      />
    </section>
  );
}
