/** What the job uses, or used: load of its machines and of its own cards over its run. */
import { useMemo, useState } from 'react';
import type { MachineView } from '../../../core/contract/machines.js';
import type { TaskView } from '../../../core/contract/views.js';
import { machineRoute, routeHash } from '../../app/router.js';
import { ChartControls } from '../../components/charts/chart-controls.js';
import { LoadCharts, type LoadFigure } from '../../components/charts/load-charts.js';
import { EmptyState } from '../../components/feedback.js';
import { useTopic } from '../../state/hooks.js';
import { graphs as words } from '../../strings/graphs.js';
import { jobRuns, mostMachines, runRanges, spanOf, type RunRange } from './job-runs.js';
import styles from './job-page.module.css';

const own: readonly LoadFigure[] = ['cpu', 'memory', 'disk'];
const withCards: readonly LoadFigure[] = ['gpu-use', 'gpu-memory', 'gpu-power', 'cpu', 'memory', 'disk'];

export function GraphsTab({ tasks }: { readonly tasks: readonly TaskView[] }) {
  const [range, setRange] = useState<RunRange>('whole');
  const [paused, setPaused] = useState(false);
  const overview = useTopic('overview', {});
  const machines = overview.kind === 'live' ? overview.value.machines : [];
  const written = JSON.stringify(jobRuns(tasks));
  // The same until an attempt starts or ends, so that a graph is not begun anew with each change of the job.
  const runs = useMemo(
    () =>
      (JSON.parse(written) as ReturnType<typeof jobRuns>).map((run) => ({
        ...run,
        span: spanOf(run, range),
      })),
    [written, range],
  );
  if (runs.length === 0) {
    return (
      <EmptyState icon="activity" title={words.noneTitle}>
        {words.noneBody}
      </EmptyState>
    );
  }
  const goesOn = runs.some((run) => run.toMs === null);
  return (
    <div className={styles['graphs']}>
      <div className={styles['graphsHead']}>
        <p className="iris-muted">{words.intro}</p>
        <ChartControls
          offered={runRanges}
          range={range}
          onRange={setRange}
          paused={paused}
          onPause={goesOn ? setPaused : null}
        />
      </div>
      {runs.slice(0, mostMachines).map((run) => {
        const known = machines.find(({ id }) => id === run.machineId);
        const machine: Pick<MachineView, 'id' | 'memoryTotalBytes' | 'gpus'> = known ?? {
          id: run.machineId,
          memoryTotalBytes: 0,
          gpus: [],
        };
        return (
          <section key={run.machineId} aria-label={run.machineId}>
            <h2 className={styles['graphsMachine']}>
              <a href={routeHash(machineRoute(run.machineId))}>{run.machineId}</a>
            </h2>
            <LoadCharts
              machine={machine}
              span={run.span}
              paused={paused}
              figures={run.devices.length === 0 ? own : withCards}
              devices={run.devices}
            />
          </section>
        );
      })}
      {runs.length > mostMachines ? (
        <p className="iris-muted">{words.firstMachines(mostMachines, runs.length)}</p>
      ) : null}
    </div>
  );
}
