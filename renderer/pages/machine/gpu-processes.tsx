/** Processes on one card, with whose they are. */
import type { GpuView } from '../../../core/contract/gpus.js';
import { formatSize } from '../../../core/formats/sizes.js';
import { jobRoute, routeHash } from '../../app/router.js';
import type { Holders } from '../../components/gpu-state.js';
import { Dash } from '../../components/values.js';
import { machine as words } from '../../strings/machine.js';
import styles from './machine-page.module.css';

export function GpuProcesses({ gpu, holders }: { readonly gpu: GpuView; readonly holders: Holders }) {
  if (gpu.processes.length === 0) return <p className={styles['reason']}>{words.noProcesses}</p>;
  return (
    <table className={styles['table']} aria-label={words.processes(gpu.index)}>
      <thead>
        <tr>
          <th scope="col">{words.program}</th>
          <th scope="col">{words.pid}</th>
          <th scope="col">{words.user}</th>
          <th scope="col">{words.usedMemory}</th>
          <th scope="col">{words.kind}</th>
          <th scope="col">{words.ofJob}</th>
        </tr>
      </thead>
      <tbody>
        {gpu.processes.map((process) => {
          const item = process.attemptUid === null ? undefined : holders.get(process.attemptUid);
          return (
            <tr key={process.pid}>
              <th scope="row" className="iris-mono">
                {process.name}
              </th>
              <td>{process.pid}</td>
              <td>{process.user ?? <Dash reason={words.unknownUser} />}</td>
              <td>
                {process.usedBytes === null ? (
                  <Dash reason={gpu.note ?? words.notGiven} />
                ) : (
                  formatSize(process.usedBytes)
                )}
              </td>
              <td>{process.computes ? words.computes : words.draws}</td>
              <td>
                {item === undefined ? (
                  (process.attemptUid ?? <Dash reason={words.notOurs} />)
                ) : (
                  <a href={routeHash(jobRoute(item.jobId))}>{item.jobName}</a>
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
