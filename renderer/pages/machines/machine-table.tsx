/** Machines one a line, for many of them. */
import { ActionIcon, Menu } from '@mantine/core';
import { machineRoute, routeHash } from '../../app/router.js';
import type { DockerState, MachineView } from '../../../core/contract/machines.js';
import { formatSize } from '../../../core/formats/sizes.js';
import { gpuLooks, gpuUser, type Holders } from '../../components/gpu-state.js';
import { Icon } from '../../components/icon.js';
import { MachineMenuItems } from '../../components/machine-menu-items.js';
import { ConditionBadge, SchedulingBadge, conditionOf } from '../../components/machine-state.js';
import { Meter } from '../../components/meter.js';
import type { MachineActions } from '../../components/use-machine-actions.js';
import { Dash } from '../../components/values.js';
import { machines as words } from '../../strings/machines.js';
import { freeGpus } from '../../components/machine-figures.js';
import styles from './machine-table.module.css';

export interface MachineTableProps {
  readonly machines: readonly MachineView[];
  readonly holders: Holders;
  readonly actions: MachineActions;
}

export function MachineTable({ machines, holders, actions }: MachineTableProps) {
  return (
    <table className={styles['table']} aria-label={words.list}>
      <thead>
        <tr>
          <th scope="col">{words.machine}</th>
          <th scope="col">{words.state}</th>
          <th scope="col" className={styles['number']}>
            {words.tasksColumn}
          </th>
          <th scope="col">{words.processors}</th>
          <th scope="col">{words.memory}</th>
          <th scope="col">{words.gpus}</th>
          <th scope="col">{words.docker}</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {machines.map((machine) => (
          <Row key={machine.id} machine={machine} holders={holders} actions={actions} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly machine: MachineView;
  readonly holders: Holders;
  readonly actions: MachineActions;
}

function Row({ machine, holders, actions }: RowProps) {
  const { answers } = conditionOf(machine);
  const refused = actions.refusals.get(machine.id);
  const used = machine.memoryTotalBytes - machine.memoryAvailableBytes;
  const busy = machine.cpuBusyPercent;
  return (
    <tr aria-busy={actions.pending.has(machine.id)}>
      <th scope="row">
        <a
          href={routeHash(machineRoute(machine.id))}
          data-machine={machine.id}
          title={machine.address ?? words.here}
        >
          {machine.id}
        </a>
      </th>
      <td>
        <span className={styles['states']} title={machine.contact.message ?? undefined}>
          <ConditionBadge machine={machine} />
          <SchedulingBadge machine={machine} />
          {refused === undefined ? null : (
            <span className={styles['refused']} role="alert">
              {refused}
            </span>
          )}
        </span>
      </td>
      <td className={styles['number']}>{machine.runningTasks}</td>
      <td>
        {!answers || busy === null ? (
          <Dash reason={answers ? words.notMeasured : words.notReached} />
        ) : (
          <span className={styles['meter']}>
            <Meter label={words.processors} value={busy / 100} text={words.busy(busy)} />
            {words.busy(busy)}
          </span>
        )}
      </td>
      <td>
        {!answers || machine.memoryTotalBytes === 0 ? (
          <Dash reason={words.notReached} />
        ) : (
          <span className={styles['meter']}>
            <Meter
              label={words.memory}
              value={used / machine.memoryTotalBytes}
              text={words.memoryUsed(formatSize(used), formatSize(machine.memoryTotalBytes))}
            />
            {formatSize(machine.memoryTotalBytes)}
          </span>
        )}
      </td>
      <td>
        {machine.gpus.length === 0 ? (
          <Dash reason={machine.gpuNote ?? words.noGpus} />
        ) : (
          <span className={styles['gpus']}>
            <span className={styles['icons']}>
              {machine.gpus.map((gpu) => (
                <span
                  key={gpu.uuid}
                  role="img"
                  aria-label={words.gpuTile(gpu, gpuUser(gpu, holders))}
                  title={words.gpuTile(gpu, gpu.stateReason ?? gpuUser(gpu, holders))}
                  style={{ color: gpuLooks[gpu.state].color }}
                >
                  <Icon name={gpuLooks[gpu.state].icon} size={13} />
                </span>
              ))}
            </span>
            {words.gpusFree(freeGpus(machine.gpus), machine.gpus.length)}
          </span>
        )}
      </td>
      <td title={machine.docker.message ?? undefined}>
        <Docker docker={machine.docker} />
      </td>
      <td className={styles['action']}>
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon aria-label={words.actions(machine.id)}>
              <Icon name="more" />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <MachineMenuItems machine={machine} actions={actions} withOpen />
          </Menu.Dropdown>
        </Menu>
      </td>
    </tr>
  );
}

function Docker({ docker }: { readonly docker: DockerState }) {
  switch (docker.state) {
    case 'READY':
      return <>{words.dockerReady(docker.version)}</>;
    case 'ABSENT':
      return <span className="iris-muted">{words.dockerAbsent}</span>;
    case 'FAILED':
      return <span style={{ color: 'var(--iris-waiting)' }}>{words.dockerFailed}</span>;
    case 'UNKNOWN':
      return <Dash reason={words.dockerUnknown} />;
  }
}
