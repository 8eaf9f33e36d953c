/** What may live on the machines of a fleet, and its end on one that is removed. */
import type { Contact } from '../../../core/contract/machines.js';
import type { AttemptObservation, Backend, DesiredAttempt } from '../backend.js';
import { supersededStop } from './process/attempt-entry.js';

/** The rest is killed after this long, whatever grace it was given: who removes a machine waits for it. */
const mostGraceMs = 5000;

interface Living {
  readonly name: string;
  readonly item: DesiredAttempt;
  /** It was given up with its machine, and may live on there until that is back. */
  readonly givenUp: boolean;
}

type Live = ReadonlyMap<string, Living>;

export class Leaving {
  private readonly live = new Map<Backend, Map<string, Living>>();
  private readonly waiting = new Map<Backend, () => void>();

  /** All that is wanted there; what was before and has not ended yet is remembered all the same. */
  wanted(machine: Backend, share: readonly DesiredAttempt[]): void {
    const live = this.live.get(machine) ?? new Map<string, Living>();
    for (const item of share) {
      const uid = item.kind === 'run' ? item.launch.uid : item.uid;
      const name = item.kind === 'stop' ? (live.get(uid)?.name ?? uid) : item.launch.taskId;
      live.set(uid, { name, item, givenUp: live.get(uid)?.givenUp ?? false });
    }
    this.live.set(machine, live);
  }

  heard(machine: Backend, batch: readonly AttemptObservation[]): void {
    const live = this.live.get(machine);
    if (live === undefined) return;
    for (const { uid, state, cause } of batch) {
      const living = live.get(uid);
      if (living === undefined || state === 'BUILDING' || state === 'RUNNING') continue;
      if (cause?.code === 'WORKER_LOST') live.set(uid, { ...living, givenUp: true });
      else live.delete(uid);
    }
    if (live.size === 0) this.waiting.get(machine)?.();
  }

  /** It takes new attempts: what was given up with it is gone by then. */
  isWell(machine: Backend): void {
    const live = this.live.get(machine);
    for (const [uid, { givenUp }] of live ?? []) if (givenUp) live?.delete(uid);
  }

  /** Null: nothing of ours lives there any more. Otherwise one sentence that names what may. */
  async stopAll(machine: Backend, boundMs: number): Promise<string | null> {
    const { id } = machine.describe();
    const live: Live = this.live.get(machine) ?? new Map();
    try {
      if (live.size === 0) return null;
      const contact = machine.observe()[0]?.contact ?? null;
      if (contact !== null && !answers(contact))
        return `${id} is not in contact, so what runs there could not be stopped: ${namesOf(live)}.`;
      const over = this.whenNoneLives(machine, boundMs);
      machine.reconcile([...live.values()].map(({ item }) => stopOf(item, id)));
      await over;
      if (live.size === 0) return null;
      return `Not seen to end within ${Math.round(boundMs / 1000)} s, and may go on at ${id}: ${namesOf(live)}.`;
    } catch (error) {
      return `What runs on ${id} could not be stopped (${String(error)}): ${namesOf(live)}.`;
    } finally {
      this.live.delete(machine);
    }
  }

  /** Nobody waits any longer. */
  close(): void {
    for (const done of this.waiting.values()) done();
  }

  private whenNoneLives(machine: Backend, boundMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(machine);
        resolve();
      };
      const timer = setTimeout(done, boundMs);
      this.waiting.set(machine, done);
    });
  }
}

/** Also while it is still looked at: only a machine that was never heard of connects without ever having said anything. */
function answers({ state, lastContactMs }: Contact): boolean {
  return state === 'CONNECTED' || (state === 'CONNECTING' && lastContactMs !== null);
}

function stopOf(item: DesiredAttempt, workerId: string): DesiredAttempt {
  if (item.kind === 'stop') return { ...item, graceMs: Math.min(item.graceMs, mostGraceMs) };
  const { launch } = item;
  const stop = supersededStop(launch.uid, launch, { workerId, container: launch.spec.image !== null });
  return { ...stop, graceMs: Math.min(stop.graceMs, mostGraceMs) };
}

function namesOf(live: Live): string {
  const names = [...live.values()].map(({ name }) => name);
  const more = names.length - 5;
  return more > 0 ? `${names.slice(0, 5).join(', ')} and ${more} more` : names.join(', ');
}
