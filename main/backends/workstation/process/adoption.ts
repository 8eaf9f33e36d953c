/** Looks at attempts that another host or launcher started: what their folders prove, and when they end. */
import { type FSWatcher, readFileSync, watch } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { ProcessView } from '../../../machine/processes.js';
import { supervisedUid } from './attempt-start.js';
import { claimPath, readClaim, type CommandStatus, type ProcessIdentity } from './claim.js';

export type Found =
  /** No claim: nobody has started it. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'fenced' }
  /** A claim without content and nobody who would fill it. */
  | { readonly kind: 'unfilled' }
  | { readonly kind: 'alive'; readonly supervisor: ProcessIdentity }
  | { readonly kind: 'ended'; readonly supervisor: ProcessIdentity; readonly status: CommandStatus }
  /** No end was written and its supervisor lives no more. */
  | { readonly kind: 'lost'; readonly supervisor: ProcessIdentity; readonly rebooted: boolean };

export function lookAt(folder: string, processes: ProcessView): Found {
  const claim = readClaim(folder);
  if (claim.kind === 'none') return { kind: 'absent' };
  if (claim.kind !== 'claimed') return { kind: claim.kind };
  const { supervisor, status } = claim;
  if (status !== null) return { kind: 'ended', supervisor, status };
  const living = met(path.basename(folder), supervisor, processes);
  if (living !== null) return { kind: 'alive', supervisor: living };
  // It may have ended between the two looks.
  const again = readClaim(folder);
  if (again.kind === 'claimed' && again.status !== null)
    return { kind: 'ended', supervisor, status: again.status };
  const boot = processes.bootId();
  return { kind: 'lost', supervisor, rebooted: boot !== null && supervisor.bootId !== boot };
}

/** Boot, pid and start time must all agree: a pid alone is never proof. */
function isAlive(identity: ProcessIdentity, processes: ProcessView): boolean {
  const boot = processes.bootId();
  if (boot === null) return isPidAlive(identity.pid);
  if (identity.bootId !== boot) return false;
  const entry = processes.read(identity.pid);
  return entry !== null && entry.startTicks === identity.startTicks;
}

/** The supervisor with its start time, which its claim may lack: then it is known by its arguments. Null: it lives no more. */
function met(uid: string, supervisor: ProcessIdentity, processes: ProcessView): ProcessIdentity | null {
  const { pid, startTicks } = supervisor;
  const entry = startTicks === null ? processes.read(pid) : null;
  const known = entry === null ? supervisor : { ...supervisor, startTicks: entry.startTicks };
  if (entry !== null && supervisedUid(processes.argv(pid)) !== uid) return null;
  // After the look at its arguments: the pid is still that of the process whose start time was read.
  return isAlive(known, processes) ? known : null;
}

/** All that can be had where there is no /proc. */
function isPidAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Control groups the attempt was started in, as its launcher noted them. */
export function readGroupsFile(folder: string): readonly string[] {
  try {
    return z.array(z.string()).parse(JSON.parse(readFileSync(path.join(folder, 'groups'), 'utf8')));
  } catch {
    return []; // none were made, or the note was cut by a crash before the start
  }
}

/** Watches adopted attempts: the claim file for the end, and, as no event tells of a killed supervisor, its pid now and then. */
export class AdoptedWatch {
  private readonly watched = new Map<
    string,
    { readonly supervisor: ProcessIdentity; readonly watcher: FSWatcher | null }
  >();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly processes: ProcessView,
    private readonly onChange: (uid: string) => void,
    everyMs: number,
  ) {
    this.timer = setInterval(() => this.check(), everyMs);
    this.timer.unref();
  }

  add(uid: string, folder: string, supervisor: ProcessIdentity): void {
    this.remove(uid);
    let watcher: FSWatcher | null;
    try {
      watcher = watch(claimPath(folder), { persistent: false }, () => this.onChange(uid));
      // The timer finds the end all the same.
      watcher.on('error', () => undefined);
    } catch {
      watcher = null; // no watches left on this system: the timer alone then
    }
    this.watched.set(uid, { supervisor, watcher });
  }

  remove(uid: string): void {
    this.watched.get(uid)?.watcher?.close();
    this.watched.delete(uid);
  }

  close(): void {
    clearInterval(this.timer);
    for (const uid of [...this.watched.keys()]) this.remove(uid);
  }

  private check(): void {
    for (const [uid, { supervisor }] of this.watched) {
      if (!isAlive(supervisor, this.processes)) this.onChange(uid);
    }
  }
}
