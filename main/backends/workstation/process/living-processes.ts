/** One look at the system's processes, so that what belongs to an attempt is found without going through all that lives. */
import type { OwnedProcess } from '../../../machine/processes.js';

export interface Belonging {
  readonly uid: string;
  /** Number of a session and of process groups that are the attempt's for certain; null: none is. */
  readonly session: number | null;
  /** Proved to be its otherwise: by its control groups. */
  readonly pids: Iterable<number>;
  /** What was found to be its before, by pid with its start, and stays so although who started it has gone since. */
  readonly seen: ReadonlyMap<number, number>;
}

export class LivingProcesses {
  private readonly byPid = new Map<number, OwnedProcess>();
  private readonly byUid = new Map<string, OwnedProcess[]>();
  private readonly byLeader = new Map<number, OwnedProcess[]>();
  private readonly byParent = new Map<number, OwnedProcess[]>();

  constructor(readonly all: readonly OwnedProcess[]) {
    for (const entry of all) {
      this.byPid.set(entry.pid, entry);
      if (entry.attemptUid !== null) add(this.byUid, entry.attemptUid, entry);
      add(this.byLeader, entry.sessionId, entry);
      if (entry.groupId !== entry.sessionId) add(this.byLeader, entry.groupId, entry);
      add(this.byParent, entry.parentPid, entry);
    }
  }

  get(pid: number): OwnedProcess | undefined {
    return this.byPid.get(pid);
  }

  /** With what they have started, as far as it is known to be of them; whoever is `isProtected` counts in no way. */
  membersOf(
    { uid, session, pids, seen }: Belonging,
    isProtected: (pid: number) => boolean,
  ): readonly OwnedProcess[] {
    const found = new Set<OwnedProcess>();
    const take = (entry: OwnedProcess | undefined): void => {
      if (entry !== undefined && !isProtected(entry.pid)) found.add(entry);
    };
    for (const entry of this.byUid.get(uid) ?? []) take(entry);
    if (session !== null) for (const entry of this.byLeader.get(session) ?? []) take(entry);
    for (const pid of pids) take(this.byPid.get(pid));
    for (const [pid, startTicks] of seen) {
      const entry = this.byPid.get(pid);
      if (entry?.startTicks === startTicks) take(entry);
    }
    // A set is walked through with what is added to it on the way.
    for (const { pid } of found) for (const child of this.byParent.get(pid) ?? []) take(child);
    return [...found];
  }
}

function add<Key>(lists: Map<Key, OwnedProcess[]>, key: Key, entry: OwnedProcess): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [entry]);
  else list.push(entry);
}
