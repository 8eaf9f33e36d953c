/**
 * The machine a controller runs on is known by its host name, which may be another one now: networks give laptops names. What lives of
 * before runs here all the same, so it counts as what this machine holds, or its cards and processors would be given out a second time.
 */
import type { Attempt, Machine, Task } from '../../core/model/entities.js';
import type { Store } from '../store/types.js';

interface Named {
  readonly tasks: readonly Task[];
  readonly attempts: readonly Attempt[];
  readonly machines: readonly { readonly id: string; readonly machine: Machine | null }[];
}

/** Rows as they were read, with the name this machine has now where they name one that was never added. What is over keeps its name. */
export function hereNamed<Live extends Named>(live: Live, here: string): Live {
  const added = new Set(live.machines.filter(({ machine }) => machine?.address !== null).map(({ id }) => id));
  if (added.has(here)) return live;
  const isRenamed = (workerId: string) => workerId !== here && !added.has(workerId);
  return {
    ...live,
    tasks: live.tasks.map((task) =>
      task.claim !== null && isRenamed(task.claim.workerId)
        ? { ...task, claim: { ...task.claim, workerId: here } }
        : task,
    ),
    attempts: live.attempts.map((attempt) =>
      attempt.finishedAtMs === null && isRenamed(attempt.workerId) ? { ...attempt, workerId: here } : attempt,
    ),
    machines: machinesNamed(live.machines, here),
  };
}

/** The store as a controller on that machine reads it. */
export function storeHere(store: Store, here: string): Store {
  return { ...store, loadLive: () => hereNamed(store.loadLive(), here) };
}

/** What was set of it by hand goes on under its new name, unless something was set of it under that. */
function machinesNamed(machines: Named['machines'], here: string): Named['machines'] {
  const known = machines.some(({ id }) => id === here);
  const before = known ? undefined : machines.findLast(({ machine }) => machine?.address === null);
  const others = machines.filter(({ id, machine }) => id === here || machine?.address !== null);
  if (before === undefined || before.machine === null) return others;
  return [...others, { id: here, machine: { ...before.machine, id: here } }];
}
