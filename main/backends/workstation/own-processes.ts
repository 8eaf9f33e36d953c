/**
 * Which attempt a process belongs to. Mostly its environment says so; a program that was given another one (`env -i`), that wrote its
 * title over it (as setproctitle does) or that became another user has none to be read, and is known by the session it was started
 * in, or by who started it. What shook off all of these may be anybody's.
 */
import { attemptOf, type ProcessView } from '../../machine/processes.js';
import type { AttemptEntry } from './process/attempt-entry.js';

export interface OwnProcessesOptions {
  readonly processes: Pick<ProcessView, 'read'>;
  /** An attempt of ours has that uid. */
  readonly isKnown: (uid: string) => boolean;
  readonly environmentOf?: (pid: number) => string | null;
}

/** Nobody nests deeper; a table of processes that changes while it is read may hold a ring. */
const mostAncestors = 64;

export class OwnProcesses {
  private readonly running = new Map<string, AttemptEntry>();

  constructor(private readonly options: OwnProcessesOptions) {}

  add(entry: AttemptEntry): void {
    this.running.set(entry.uid, entry);
  }

  remove(uid: string): void {
    this.running.delete(uid);
  }

  /** Null: to none of ours, as far as can be seen. */
  attemptOf(pid: number): string | null {
    const { processes, isKnown, environmentOf = attemptOf } = this.options;
    let sessions: ReadonlyMap<number, string> | null = null;
    let next = pid;
    for (let steps = 0; steps < mostAncestors && next > 1; steps += 1) {
      const named = environmentOf(next);
      if (named !== null && isKnown(named)) return named;
      const entry = processes.read(next);
      if (entry === null) return null;
      sessions ??= this.sessions();
      const uid = sessions.get(entry.sessionId) ?? sessions.get(entry.groupId);
      if (uid !== undefined) return uid;
      next = entry.parentPid;
    }
    return null;
  }

  /** By their number, which is that of the supervisor; it is nobody else's while the attempt runs. */
  private sessions(): ReadonlyMap<number, string> {
    const found = new Map<number, string>();
    for (const { uid, supervisor, sessionKnown } of this.running.values())
      if (supervisor !== null && sessionKnown) found.set(supervisor.pid, uid);
    return found;
  }
}
