/** What can be done to a machine, with the questions before and the refusals after: the same from the list and a machine's page. */
import { useCallback, useMemo, useState, type ReactNode } from 'react';
import type { MachineChange, MachineView } from '../../core/contract/machines.js';
import { useHost } from '../state/desktop-context.js';
import { asRefusal } from '../state/hooks.js';
import { newRequestId } from '../state/request-id.js';
import { machines as words } from '../strings/machines.js';
import { useConfirm } from './confirm.js';
import { DrainDialog } from './drain-dialog.js';
import { useToast } from './toasts.js';
import { useIsShown } from './use-is-shown.js';

export interface MachineActions {
  readonly change: (machine: MachineView, change: MachineChange) => Promise<boolean>;
  /** Asks how. */
  readonly drain: (machine: MachineView) => void;
  /** Asks; resolves true when it is gone. */
  readonly remove: (machine: MachineView) => Promise<boolean>;
  /** Tries at once, and asks what has to be asked for it. */
  readonly connect: (machine: MachineView) => Promise<boolean>;
  readonly wake: (machine: MachineView) => Promise<boolean>;
  /** The last refusal of each machine, until something is done to it again. */
  readonly refusals: ReadonlyMap<string, string>;
  readonly pending: ReadonlySet<string>;
  /** To be drawn beside the page. */
  readonly dialog: ReactNode;
}

export const canCordon = (machine: MachineView): boolean => machine.scheduling === 'OPEN';
export const canDrain = (machine: MachineView): boolean =>
  machine.scheduling === 'OPEN' || machine.scheduling === 'CORDONED';
export const canWake = (machine: MachineView): boolean =>
  machine.wakeAddress !== null && machine.contact.state !== 'CONNECTED';
export const canConnect = (machine: MachineView): boolean =>
  machine.address !== null && machine.contact.state !== 'CONNECTED';
export const canRemove = (machine: MachineView): boolean => machine.address !== null;

export function useMachineActions(): MachineActions {
  const host = useHost();
  const confirm = useConfirm();
  const toast = useToast();
  const isShown = useIsShown();
  const [refusals, setRefusals] = useState<ReadonlyMap<string, string>>(new Map());
  const [pending, setPending] = useState<ReadonlySet<string>>(new Set());
  const [draining, setDraining] = useState<MachineView | null>(null);

  const run = useCallback(
    async (id: string, command: () => Promise<unknown>): Promise<boolean> => {
      setRefusals((before) => new Map([...before].filter(([known]) => known !== id)));
      setPending((before) => new Set([...before, id]));
      try {
        await command();
        return true;
      } catch (error) {
        const { message } = asRefusal(error);
        // A machine that is far may answer when its page has long been left.
        if (isShown.current) setRefusals((before) => new Map([...before, [id, message]]));
        else toast({ tone: 'error', text: `${id}: ${message}` });
        return false;
      } finally {
        setPending((before) => new Set([...before].filter((known) => known !== id)));
      }
    },
    [isShown, toast],
  );

  const functions = useMemo(() => {
    const change = (machine: MachineView, what: MachineChange): Promise<boolean> =>
      run(machine.id, () =>
        host.call('machine.change', { requestId: newRequestId(), machineId: machine.id, change: what }),
      );
    return {
      change,
      drain: (machine: MachineView) => {
        setDraining(machine);
      },
      async remove(machine: MachineView) {
        const running = machine.runningTasks;
        const yes = await confirm({
          title: words.removeTitle(machine.id),
          body: running === 0 ? words.removeBody : `${words.removeRuns(running)} ${words.removeBody}`,
          action: running === 0 ? words.removeAction(machine.id) : words.removeLosing(running),
          danger: true,
        });
        if (!yes) return false;
        return run(machine.id, async () => {
          const { notStopped } = await host.call('machine.remove', {
            requestId: newRequestId(),
            machineId: machine.id,
            force: running > 0,
          });
          if (notStopped !== null) toast({ tone: 'error', text: notStopped });
        });
      },
      connect: (machine: MachineView) =>
        run(machine.id, () => host.call('machine.connect', { machineId: machine.id })),
      async wake(machine: MachineView) {
        const sent = await run(machine.id, () => host.call('machine.wake', { machineId: machine.id }));
        if (sent) toast({ tone: 'info', text: words.woken(machine.id) });
        return sent;
      },
    };
  }, [confirm, host, run, toast]);

  const dialog = (
    <DrainDialog
      machine={draining}
      onClose={() => {
        setDraining(null);
      }}
      onDrain={(machine, deadlineMs) => void functions.change(machine, { kind: 'drain', deadlineMs })}
    />
  );
  return { ...functions, refusals, pending, dialog };
}
