/**
 * Finds what a finished attempt left behind without reading all of /proc. A process whose parents are gone is handed to the nearest
 * reaper above (init, or systemd --user); once the supervisor is gone, whatever it left is therefore among the reaper's children,
 * however often it forked and whatever session it made. One read of one file then answers for every attempt that just ended.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { attemptOf, readProcess } from '../../../machine/processes.js';

export interface Orphans {
  /** Call once before asking about attempts that ended since. */
  refresh(): void;
  /** True when something of this attempt still lives below the reaper. */
  has(uid: string, supervisorPid: number): boolean;
  close(): void;
}

interface Known {
  readonly startTicks: number;
  readonly sessionId: number;
  readonly uid: string | null;
}

/** A known pid is looked at again after this time, as it may be another process by then. */
const trustMs = 1000;

/**
 * `reaper`: who gets our orphans. Null when this system does not list a process's children (no /proc, or a kernel built without): then every end is
 * looked into.
 */
export function createOrphans(reaper: number | null, monotonicMs: () => number): Orphans | null {
  if (reaper === null) return null;
  let file: number;
  try {
    file = openSync(`/proc/${reaper}/task/${reaper}/children`, 'r');
  } catch {
    return null;
  }
  const bornAtTicks = readProcess(reaper)?.startTicks ?? null;
  /** It has ended, as a login's own does at the logout: nobody knows who gets our orphans now. */
  let isGone = false;
  let known = new Map<number, Known>();
  let readAtMs = Number.NEGATIVE_INFINITY;

  function look(pid: number): Known | null {
    const entry = readProcess(pid);
    return entry === null
      ? null
      : { startTicks: entry.startTicks, sessionId: entry.sessionId, uid: attemptOf(pid) };
  }

  return {
    refresh: () => {
      const now = monotonicMs();
      const trusted = now - readAtMs < trustMs;
      readAtMs = now;
      const next = new Map<number, Known>();
      const children = readAll(file);
      isGone ||= children === '' && readProcess(reaper)?.startTicks !== bornAtTicks;
      for (const word of children.split(' ')) {
        if (word === '') continue;
        const pid = Number(word);
        const before = known.get(pid);
        const same = before !== undefined && (trusted || readProcess(pid)?.startTicks === before.startTicks);
        const entry = same ? before : look(pid);
        if (entry !== null) next.set(pid, entry);
      }
      known = next;
    },
    has: (uid, supervisorPid) => {
      if (isGone) return true;
      for (const entry of known.values()) {
        if (entry.uid === uid || entry.sessionId === supervisorPid) return true;
      }
      return false;
    },
    close: () => closeSync(file),
  };
}

const chunk = Buffer.alloc(64 * 1024);

function readAll(file: number): string {
  let text = '';
  for (;;) {
    const length = readSync(file, chunk, 0, chunk.length, text.length);
    text += chunk.toString('latin1', 0, length);
    if (length === 0) return text;
  }
}

/** Who gets our orphans: asked by making one. */
export function findReaper(shell: string): number | null {
  const answer = spawnSync(shell, ['-c', 'sleep 1 >/dev/null 2>&1 </dev/null & echo $!'], {
    encoding: 'utf8',
    timeout: 5000,
  });
  const pid = Number(answer.stdout);
  if (!Number.isInteger(pid) || pid <= 1) return null;
  const parent = readProcess(pid)?.parentPid;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return null;
  }
  return parent === undefined || parent === process.pid || parent === 0 ? null : parent;
}
