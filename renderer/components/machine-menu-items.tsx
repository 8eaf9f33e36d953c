/** What can be done to a machine, as items of a menu. What is not possible is grey and says why. */
import { Menu } from '@mantine/core';
import { machineRoute, navigate } from '../app/router.js';
import type { MachineView } from '../../core/contract/machines.js';
import { machines as words } from '../strings/machines.js';
import { Icon } from './icon.js';
import {
  canConnect,
  canCordon,
  canDrain,
  canRemove,
  canWake,
  type MachineActions,
} from './use-machine-actions.js';

export interface MachineMenuItemsProps {
  readonly machine: MachineView;
  readonly actions: MachineActions;
  /** On its own page there is nothing to open. */
  readonly withOpen: boolean;
  readonly onRemoved?: () => void;
}

export function MachineMenuItems({ machine, actions, withOpen, onRemoved }: MachineMenuItemsProps) {
  return (
    <>
      {withOpen ? (
        <Menu.Item
          leftSection={<Icon name="machine" size={14} />}
          onClick={() => {
            navigate(machineRoute(machine.id));
          }}
        >
          {words.open}
        </Menu.Item>
      ) : null}
      {canCordon(machine) ? (
        <Menu.Item
          leftSection={<Icon name="no-entry" size={14} />}
          onClick={() => void actions.change(machine, { kind: 'cordon' })}
        >
          {words.cordon}
        </Menu.Item>
      ) : (
        <Menu.Item
          leftSection={<Icon name="check" size={14} />}
          onClick={() => void actions.change(machine, { kind: 'uncordon' })}
        >
          {words.uncordon}
        </Menu.Item>
      )}
      <Menu.Item
        leftSection={<Icon name="drain" size={14} />}
        disabled={!canDrain(machine)}
        onClick={() => {
          actions.drain(machine);
        }}
      >
        {words.drain}
      </Menu.Item>
      {machine.address === null ? null : (
        <Menu.Item
          leftSection={<Icon name="rerun" size={14} />}
          disabled={!canConnect(machine)}
          onClick={() => void actions.connect(machine)}
        >
          {words.connect}
        </Menu.Item>
      )}
      {machine.address === null ? null : (
        <Menu.Item
          leftSection={<Icon name="power" size={14} />}
          disabled={!canWake(machine)}
          title={machine.wakeAddress === null ? words.noWakeAddress : undefined}
          onClick={() => void actions.wake(machine)}
        >
          {words.wake}
        </Menu.Item>
      )}
      <Menu.Divider />
      <Menu.Item
        leftSection={<Icon name="trash" size={14} />}
        disabled={!canRemove(machine)}
        title={canRemove(machine) ? undefined : words.notLocal}
        onClick={() =>
          void actions.remove(machine).then((gone) => {
            if (gone) onRemoved?.();
          })
        }
      >
        {words.remove}
      </Menu.Item>
    </>
  );
}
