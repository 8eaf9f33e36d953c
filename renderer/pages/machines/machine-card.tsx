/** One machine at a glance: how it is, its load, its cards and who uses them. */
import { ActionIcon, Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import { imagesRoute, machineRoute, routeHash } from '../../app/router.js';
import { jobsDiskPurpose, type MachineView } from '../../../core/contract/machines.js';
import { formatSize } from '../../../core/formats/sizes.js';
import type { Holders } from '../../components/gpu-state.js';
import { Icon } from '../../components/icon.js';
import { MachineMenuItems } from '../../components/machine-menu-items.js';
import { ConditionBadge, SchedulingBadge, conditionOf } from '../../components/machine-state.js';
import { Meter } from '../../components/meter.js';
import { RelativeTime } from '../../components/time.js';
import type { MachineActions } from '../../components/use-machine-actions.js';
import { common } from '../../strings/common.js';
import { machines as words } from '../../strings/machines.js';
import { formatCores } from '../../strings/numbers.js';
import { GpuTile } from './gpu-tile.js';
import styles from './machine-card.module.css';
import { lowDisks, ofOthers } from '../../components/machine-figures.js';

export interface MachineCardProps {
  readonly machine: MachineView;
  readonly holders: Holders;
  readonly actions: MachineActions;
}

export function MachineCard({ machine, holders, actions }: MachineCardProps) {
  const { answers } = conditionOf(machine);
  const refused = actions.refusals.get(machine.id);
  return (
    <li className={styles['card']} aria-label={machine.id} aria-busy={actions.pending.has(machine.id)}>
      <div className={styles['head']}>
        <a
          className={`${styles['name'] ?? ''} iris-ellipsis`}
          href={routeHash(machineRoute(machine.id))}
          data-machine={machine.id}
        >
          {machine.id}
        </a>
        <ConditionBadge machine={machine} />
        <span className={styles['space']} />
        <span className={styles['tasks']}>{words.tasks(machine.runningTasks)}</span>
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
      </div>
      <p className={`${styles['model'] ?? ''} iris-ellipsis`} title={machine.platform}>
        {machine.address === null ? words.here : machine.address.replace(/^ssh:\/\//, '')}
        {' · '}
        {machine.cpuModel}
      </p>
      <Notes machine={machine} refused={refused} />
      {answers ? <Load machine={machine} /> : null}
      {machine.gpus.length === 0 ? (
        <p className={styles['note']}>{machine.gpuNote ?? words.noGpus}</p>
      ) : (
        <ul className={styles['gpus']} aria-label={words.gpus}>
          {machine.gpus.map((gpu) => (
            <GpuTile
              key={gpu.uuid}
              gpu={gpu}
              holders={holders}
              onRelease={() => void actions.change(machine, { kind: 'release-gpu', uuid: gpu.uuid })}
            />
          ))}
        </ul>
      )}
      {machine.gpus.length > 0 && machine.gpuNote !== null ? (
        <p className={styles['note']}>{machine.gpuNote}</p>
      ) : null}
    </li>
  );
}

/** What is not as it should be, each in one line; nothing when all is well. */
function Notes({
  machine,
  refused,
}: {
  readonly machine: MachineView;
  readonly refused: string | undefined;
}) {
  const { contact, docker } = machine;
  // What was known of its disks says nothing while it does not answer.
  const low = conditionOf(machine).answers ? lowDisks(machine) : [];
  return (
    <>
      {machine.scheduling === 'OPEN' ? null : (
        <p className={styles['line']}>
          <SchedulingBadge machine={machine} />
        </p>
      )}
      {contact.message === null ? null : (
        <Note>
          {contact.message}
          {contact.lastContactMs === null ? null : (
            <span className="iris-muted">
              {' '}
              <RelativeTime atMs={contact.lastContactMs} long />
            </span>
          )}
        </Note>
      )}
      {low.map((disk) => (
        <Note key={disk.mountPoint}>
          {words.diskLow(disk.mountPoint, formatSize(disk.freeBytes))}
          {disk.purpose === jobsDiskPurpose && docker.state === 'READY' ? (
            <>
              {words.cachesLieThere} <a href={routeHash(imagesRoute)}>{words.seeCaches}</a>
            </>
          ) : null}
        </Note>
      ))}
      {docker.message !== null && (docker.state === 'FAILED' || docker.state === 'READY') ? (
        <Note>{docker.message}</Note>
      ) : null}
      {refused === undefined ? null : (
        <p className={styles['refused']} role="alert">
          {refused}
        </p>
      )}
    </>
  );
}

function Note({ children }: { readonly children: ReactNode }) {
  return (
    <p className={styles['trouble']}>
      <span className={styles['troubleIcon']}>
        <Icon name="warning" size={13} />
      </span>
      <span>{children}</span>
    </p>
  );
}

function Load({ machine }: { readonly machine: MachineView }) {
  const used = machine.memoryTotalBytes - machine.memoryAvailableBytes;
  const busy = machine.cpuBusyPercent;
  const cpu = busy === null ? words.notMeasured : words.busy(busy);
  const others = ofOthers(machine);
  const memory = words.memoryUsed(formatSize(used), formatSize(machine.memoryTotalBytes));
  return (
    <div className={styles['load']}>
      <span>{words.processors}</span>
      <Meter label={words.processors} value={busy === null ? null : busy / 100} text={cpu} />
      <span className={styles['figure']}>{busy === null ? common.dash : cpu}</span>
      <span className={`${styles['free'] ?? ''} iris-ellipsis`}>
        {words.coresFree(formatCores(machine.cpuMillicoresFree), formatCores(machine.cpuMillicoresTotal))}
      </span>
      <span>{words.memory}</span>
      <Meter
        label={words.memory}
        value={machine.memoryTotalBytes === 0 ? null : used / machine.memoryTotalBytes}
        text={memory}
      />
      <span className={styles['figure']}>{memory}</span>
      <span className={`${styles['free'] ?? ''} iris-ellipsis`}>
        {words.memoryFree(formatSize(machine.memoryFreeForJobsBytes))}
      </span>
      {others === null ? null : <span className={styles['others']}>{others}</span>}
    </div>
  );
}
