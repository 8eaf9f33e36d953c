/** Keys of the Machines page. The machine whose name has the focus is the one they act on; Enter follows that link by itself. */
import type { RefObject } from 'react';
import type { MachineView } from '../../../core/contract/machines.js';
import { useShortcuts } from '../../components/shortcuts.js';
import {
  canCordon,
  canDrain,
  canRemove,
  canWake,
  type MachineActions,
} from '../../components/use-machine-actions.js';
import { machines as words } from '../../strings/machines.js';

export interface MachinesKeysOptions {
  readonly list: RefObject<HTMLElement | null>;
  readonly machines: readonly MachineView[];
  readonly actions: MachineActions;
  readonly onAdd: () => void;
  readonly onView: () => void;
}

export function useMachinesKeys({ list, machines, actions, onAdd, onView }: MachinesKeysOptions): void {
  const links = (): HTMLElement[] => [
    ...(list.current?.querySelectorAll<HTMLElement>('a[data-machine]') ?? []),
  ];
  const active = (): number => {
    const focused = document.activeElement;
    // From a button of a card on, its machine is the one.
    const all = links();
    return all.findIndex((link) => link === focused || link.closest('li, tr')?.contains(focused) === true);
  };
  const goTo = (at: number) => {
    const all = links();
    const link = all[Math.max(0, Math.min(all.length - 1, at))];
    if (link === undefined) return false;
    link.focus();
    link.closest('li, tr')?.scrollIntoView({ block: 'nearest' });
    return true;
  };
  const move = (by: number) => {
    const at = active();
    return goTo(at < 0 ? 0 : at + by);
  };
  const withActive = (can: (machine: MachineView) => boolean, act: (machine: MachineView) => void) => () => {
    const machine = machines.find(({ id }) => id === links()[active()]?.dataset['machine']);
    if (machine === undefined || !can(machine)) return false;
    act(machine);
    return true;
  };

  useShortcuts(words.keysTitle, [
    {
      keys: ['j', 'ArrowDown'],
      label: words.keyMove,
      shown: ['j', 'k', 'ArrowDown', 'ArrowUp'],
      run: () => move(1),
    },
    { keys: ['k', 'ArrowUp'], run: () => move(-1) },
    { keys: 'Home', label: words.keyEnds, shown: ['Home', 'End'], run: () => goTo(0) },
    { keys: 'End', run: () => goTo(Number.MAX_SAFE_INTEGER) },
    // The focused link answers it; listed for the help.
    { keys: 'Enter', label: words.keyOpen, run: () => false },
    { keys: 'a', label: words.keyAdd, run: onAdd },
    { keys: 'v', label: words.keyView, run: onView },
    {
      keys: 'c',
      label: words.keyCordon,
      run: withActive(
        () => true,
        (machine) => void actions.change(machine, { kind: canCordon(machine) ? 'cordon' : 'uncordon' }),
      ),
    },
    { keys: 'd', label: words.keyDrain, run: withActive(canDrain, actions.drain) },
    {
      keys: 'w',
      label: words.keyWake,
      run: withActive(canWake, (machine) => void actions.wake(machine)),
    },
    {
      keys: 'Delete',
      label: words.keyRemove,
      run: withActive(canRemove, (machine) => void actions.remove(machine)),
    },
  ]);
}
