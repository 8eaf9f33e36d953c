/** Processor time, memory and use of disks of many sessions by one look at the system's processes. */
import { readdirSync, readFileSync } from 'node:fs';

export interface SessionUsage extends DiskUse {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

/** Null: not told here. */
export interface DiskUse {
  readonly readBytes: number | null;
  readonly writtenBytes: number | null;
}

export interface SystemUnits {
  readonly ticksPerSecond: number;
  readonly pageBytes: number;
}

/** From /proc/self/auxv, what the kernel tells each program of itself: pairs of a key and a value. Node tells neither. */
export function parseUnits(auxv: Uint8Array): SystemUnits {
  const pairs = new DataView(auxv.buffer, auxv.byteOffset, auxv.byteLength);
  const found = new Map<bigint, number>();
  for (let at = 0; at + 16 <= pairs.byteLength; at += 16)
    found.set(pairs.getBigUint64(at, true), Number(pairs.getBigUint64(at + 8, true)));
  // As nearly every system has them.
  return { pageBytes: found.get(6n) || 4096, ticksPerSecond: found.get(17n) || 100 };
}

let units: SystemUnits | null = null;

function unitsHere(): SystemUnits {
  if (units === null) {
    let auxv = new Uint8Array();
    try {
      auxv = readFileSync('/proc/self/auxv');
    } catch {
      // Not this system.
    }
    units = parseUnits(auxv);
  }
  return units;
}

/** Fields of /proc/PID/stat after the name: 1 parent, 3 session, 11 to 14 times of its own and of its ended children, 21 resident pages. */
export function parseUsage(
  stat: string,
  { ticksPerSecond, pageBytes }: SystemUnits = unitsHere(),
): (Omit<SessionUsage, keyof DiskUse> & { readonly parent: number; readonly session: number }) | null {
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
  return {
    cpuSeconds: sum('cpuSeconds'),
    memoryBytes: sum('memoryBytes'),
    ...diskUseOf(found),
    pids: found,
  };
}

/**
 * Of these processes together: what the kernel has counted of each and of its ended children (/proc/PID/io; only who runs them may look).
 * What lies in memory, as of a tmpfs or a file read before, is no use of a disk.
 */
export function diskUseOf(pids: Iterable<number | string>): DiskUse {
  const uses = Array.from(pids, readDiskUse).filter((use) => use !== null);
  if (uses.length === 0) return { readBytes: null, writtenBytes: null };
  return {
    readBytes: uses.reduce((sum, { readBytes }) => sum + readBytes, 0),
    writtenBytes: uses.reduce((sum, { writtenBytes }) => sum + writtenBytes, 0),
  };
}

function readDiskUse(pid: number | string): { readBytes: number; writtenBytes: number } | null {
  try {
    return parseDiskUse(readFileSync(`/proc/${pid}/io`, 'latin1'));
  } catch {
    return null; // ended meanwhile, somebody else's, or not this system
  }
}

/** Written and then thrown away before it reached the disk is not written. */
export function parseDiskUse(text: string): { readBytes: number; writtenBytes: number } | null {
  const field = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? NaN);
  const [readBytes, written] = [field('read_bytes'), field('write_bytes')];
  const cancelled = field('cancelled_write_bytes') || 0;
  if (Number.isNaN(readBytes) || Number.isNaN(written)) return null;
  return { readBytes, writtenBytes: Math.max(0, written - cancelled) };
}

/** By the number of a session's first process; shared pages count once for each process that has them. */
export function usageOfSessions(sessions: ReadonlySet<number>): ReadonlyMap<number, SessionUsage> {
  const found = new Map<number, { cpuSeconds: number; memoryBytes: number; pids: string[] }>();
  for (const name of pids()) {
    const usage = readUsage(name);
    if (usage === null || !sessions.has(usage.session)) continue;
    const { cpuSeconds = 0, memoryBytes = 0, pids: others = [] } = found.get(usage.session) ?? {};
    others.push(name);
    found.set(usage.session, {
      cpuSeconds: cpuSeconds + usage.cpuSeconds,
      memoryBytes: memoryBytes + usage.memoryBytes,
      pids: others,
    });
  }
  return new Map(
    Array.from(found, ([session, { pids: own, ...usage }]) => [session, { ...usage, ...diskUseOf(own) }]),
  );
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
