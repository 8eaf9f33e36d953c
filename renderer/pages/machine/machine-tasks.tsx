/** What is on the machine now, longest first. */
import type { LaneItem } from '../../../core/contract/queue.js';
import type { MachineView } from '../../../core/contract/machines.js';
import { jobRoute, routeHash } from '../../app/router.js';
import { StateBadge } from '../../components/state-badge.js';
import { RunningFor } from '../../components/time.js';
import { Dash } from '../../components/values.js';
import { bandWords } from '../../strings/budgets.js';
import { formatExactTime } from '../../strings/common.js';
import { charts } from '../../strings/charts.js';
import { machine as words } from '../../strings/machine.js';
import styles from './machine-page.module.css';

export interface MachineTasksProps {
  readonly machine: MachineView;
  readonly items: readonly LaneItem[];
}

export function MachineTasks({ machine, items }: MachineTasksProps) {
  const sorted = [...items].sort((a, b) => a.fromMs - b.fromMs);
  const cardOf = (uuid: string) => {
    const gpu = machine.gpus.find((known) => known.uuid === uuid);
    return gpu === undefined ? uuid.slice(0, 12) : charts.gpu(gpu.index);
  };
  return (
    <div className={styles['scroller']} tabIndex={0} role="region" aria-label={words.tasksList}>
      <table className={styles['table']} aria-label={words.tasksList}>
        <thead>
          <tr>
            <th scope="col">{words.job}</th>
            <th scope="col">{words.task}</th>
            <th scope="col">{words.owner}</th>
            <th scope="col">{words.band}</th>
            <th scope="col">{words.state}</th>
            <th scope="col">{words.card}</th>
            <th scope="col">{words.since}</th>
            <th scope="col">{words.until}</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((item) => (
            <tr key={item.uid ?? item.taskId}>
              <th scope="row">
                <a href={routeHash(jobRoute(item.jobId))} title={item.jobId}>
                  {item.jobName}
                </a>
              </th>
              <td>{item.taskId.slice(item.taskId.lastIndexOf('/') + 1)}</td>
              <td>{item.user}</td>
              <td>{bandWords[item.band]}</td>
              <td>{item.state === 'PROMISED' ? words.promised : <StateBadge state={item.state} />}</td>
              <td>
                {item.devices.length === 0 ? (
                  <Dash reason={words.noCards} />
                ) : (
                  item.devices.map(cardOf).join(', ')
                )}
              </td>
              <td>
                <RunningFor startedAtMs={item.fromMs} />
              </td>
              <td>{item.toMs === null ? <Dash reason={words.noLimit} /> : formatExactTime(item.toMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
