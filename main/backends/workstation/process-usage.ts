/** Processor time and memory of many sessions by one look at the system's processes. */
import { readdirSync, readFileSync } from 'node:fs';

export interface SessionUsage {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

/** Linux has had both on every machine for decades; Node tells neither. */
const ticksPerSecond = 100;
const pageBytes = 4096;

/** Fields of /proc/PID/stat after the name: 1 parent, 3 session, 11 to 14 times of its own and of its ended children, 21 resident pages. */
export function parseUsage(
  stat: string,
): (SessionUsage & { readonly parent: number; readonly session: number }) | null {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const parent = Number(fields[1]);
  const session = Number(fields[3]);
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
  const pages = Number(fields[21]);
  if (!Number.isInteger(session) || !Number.isFinite(ticks) || !Number.isFinite(pages)) return null;
  return { parent, session, cpuSeconds: ticks / ticksPerSecond, memoryBytes: pages * pageBytes };
}

/** Of a process and all that descend from it, by one look; null when it is gone. `pids` are theirs. */
export function usageOfTree(root: number): (SessionUsage & { readonly pids: readonly number[] }) | null {
  const all = new Map<number, NonNullable<ReturnType<typeof parseUsage>>>();
  const children = new Map<number, number[]>();
  for (const name of pids()) {
    const usage = readUsage(name);
    if (usage === null) continue;
    all.set(Number(name), usage);
    children.set(usage.parent, [...(children.get(usage.parent) ?? []), Number(name)]);
  }
  if (!all.has(root)) return null;
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  const sum = (of: 'cpuSeconds' | 'memoryBytes'): number =>
    found.reduce((total, pid) => total + (all.get(pid)?.[of] ?? 0), 0);
  return { cpuSeconds: sum('cpuSeconds'), memoryBytes: sum('memoryBytes'), pids: found };
}

/** By the number of a session's first process; shared pages count once for each process that has them. */
export function usageOfSessions(sessions: ReadonlySet<number>): ReadonlyMap<number, SessionUsage> {
  const found = new Map<number, SessionUsage>();
  for (const name of pids()) {
    const usage = readUsage(name);
    if (usage === null || !sessions.has(usage.session)) continue;
    const { cpuSeconds = 0, memoryBytes = 0 } = found.get(usage.session) ?? {};
    found.set(usage.session, {
      cpuSeconds: cpuSeconds + usage.cpuSeconds,
      memoryBytes: memoryBytes + usage.memoryBytes,
    });
  }
  return found;
}

function pids(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return []; // not this system
  }
}

function readUsage(pid: string): ReturnType<typeof parseUsage> {
  try {
    return parseUsage(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return null; // ended meanwhile
  }
}
