/** Name, how the machine is, and what can be done to it. */
import { ActionIcon, Button, Menu } from '@mantine/core';
import type { MachineView } from '../../../core/contract/machines.js';
import { currentRoute, machinesRoute, navigate, routeHash } from '../../app/router.js';
import { Icon } from '../../components/icon.js';
import { MachineMenuItems } from '../../components/machine-menu-items.js';
import { ConditionBadge, SchedulingBadge } from '../../components/machine-state.js';
import { RelativeTime } from '../../components/time.js';
import { canCordon, canDrain, canWake, type MachineActions } from '../../components/use-machine-actions.js';
import { common } from '../../strings/common.js';
import { machine as words } from '../../strings/machine.js';
import { machines } from '../../strings/machines.js';
import styles from './machine-page.module.css';

export interface MachineHeaderProps {
  readonly machine: MachineView;
  readonly actions: MachineActions;
}

export function MachineHeader({ machine, actions }: MachineHeaderProps) {
  const { contact } = machine;
  const refused = actions.refusals.get(machine.id);
  const busy = actions.pending.has(machine.id);
  return (
    <header className={styles['header']}>
      <div className={styles['headLine']}>
        <nav className={styles['crumbs']} aria-label={words.crumbs}>
          <a href={routeHash(machinesRoute)}>{common.machines}</a>
          <Icon name="chevron-right" size={12} />
        </nav>
        <h1 className="iris-ellipsis" title={machine.id}>
          {machine.id}
        </h1>
        <ConditionBadge machine={machine} />
        <SchedulingBadge machine={machine} />
        <span className={styles['space']} />
        {canWake(machine) ? (
          <Button
            variant="default"
            disabled={busy}
            leftSection={<Icon name="power" size={14} />}
            onClick={() => void actions.wake(machine)}
          >
            {machines.wake}
          </Button>
        ) : null}
        <Button
          variant="default"
          disabled={busy}
          leftSection={<Icon name={canCordon(machine) ? 'no-entry' : 'check'} size={14} />}
          onClick={() => void actions.change(machine, { kind: canCordon(machine) ? 'cordon' : 'uncordon' })}
        >
          {canCordon(machine) ? machines.cordon : machines.uncordon}
        </Button>
        {canDrain(machine) ? (
          <Button
            variant="default"
            disabled={busy}
            leftSection={<Icon name="drain" size={14} />}
            onClick={() => {
              actions.drain(machine);
            }}
          >
            {machines.drain}
          </Button>
        ) : null}
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon aria-label={words.more}>
              <Icon name="more" />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <MachineMenuItems
              machine={machine}
              actions={actions}
              withOpen={false}
              onRemoved={() => {
                const shown = currentRoute();
                if (shown.page === 'machine' && shown.machineId === machine.id) navigate(machinesRoute);
              }}
            />
          </Menu.Dropdown>
        </Menu>
      </div>
      <p className={`${styles['facts'] ?? ''} iris-ellipsis`}>
        {[
          machine.address === null ? machines.here : machine.address.replace(/^ssh:\/\//, ''),
          machine.cpuModel,
          machine.platform,
          machines.tasks(machine.runningTasks),
        ].join(' · ')}
      </p>
      {contact.message === null ? null : (
        <p className={styles['contact']}>
          <span style={{ color: 'var(--iris-waiting)' }}>
            <Icon name="warning" size={14} />
          </span>
          <span>
            {contact.message}
            {contact.lastContactMs === null ? null : (
              <span className="iris-muted">
                {' '}
                {words.lastContact} <RelativeTime atMs={contact.lastContactMs} long />.
              </span>
            )}
          </span>
        </p>
      )}
      {refused === undefined ? null : (
        <p role="alert" className={styles['refused']}>
          {machines.failed(machine.id, refused)}
        </p>
      )}
    </header>
  );
}
