/**
 * Control groups of attempts that asked for memory (a limit) or for processors (a weight): version 1 as root, version 2 where a
 * group is ours to divide. Where neither is, there is no weight and memory is measured instead.
 */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync, accessSync, constants } from 'node:fs';
import path from 'node:path';
import { isErrorCode } from './error-code.js';

export interface GroupLimits {
  readonly memoryBytes: number | null;
  readonly cpuMillicores: number | null;
}

/** Folders below which a group per attempt may be made; null: no such control here. Version 2 has one folder for both. */
export interface GroupRoots {
  readonly version: 1 | 2;
  readonly memory: string | null;
  readonly cpu: string | null;
}

export const noGroups: GroupRoots = { version: 1, memory: null, cpu: null };

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null; // absent here, or not ours to read
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** What this process may use, from the texts of /proc/self/cgroup and /proc/self/mountinfo. */
export function findGroupRoots(
  ownGroups = readText('/proc/self/cgroup') ?? '',
  mounts = readText('/proc/self/mountinfo') ?? '',
): GroupRoots {
  const memory = versionOneFolder('memory', ownGroups, mounts);
  const cpu = versionOneFolder('cpu', ownGroups, mounts);
  if (memory !== null || cpu !== null) return { version: 1, memory, cpu };
  const own = /^0::(.*)$/m.exec(ownGroups)?.[1];
  const mount = mountPoint(mounts, (type) => type === 'cgroup2');
  if (own === undefined || mount === null) return noGroups;
  // Groups with members may have no divided children, so the groups are made beside ours where the level above is delegated.
  for (const folder of [path.join(mount, own), path.dirname(path.join(mount, own))]) {
    const divided = readText(path.join(folder, 'cgroup.subtree_control'))?.trim().split(' ') ?? [];
    if (!isWritable(folder) || !isWritable(path.join(folder, 'cgroup.procs'))) continue;
    const usable = (name: string) => (divided.includes(name) ? folder : null);
    if (usable('memory') !== null || usable('cpu') !== null) {
      return { version: 2, memory: usable('memory'), cpu: usable('cpu') };
    }
  }
  return noGroups;
}

function versionOneFolder(controller: string, ownGroups: string, mounts: string): string | null {
  const line = ownGroups
    .split('\n')
    .find((text) => text.split(':')[1]?.split(',').includes(controller) === true);
  const mount = mountPoint(
    mounts,
    (type, options) => type === 'cgroup' && options.split(',').includes(controller),
  );
  if (line === undefined || mount === null) return null;
  const folder = path.join(mount, line.split(':').slice(2).join(':'));
  return isWritable(folder) && readText(path.join(folder, 'cgroup.procs')) !== null ? folder : null;
}

function mountPoint(mounts: string, matches: (type: string, options: string) => boolean): string | null {
  for (const line of mounts.split('\n')) {
    const [front, back] = line.split(' - ');
    const point = front?.split(' ')[4];
    const [type, , options] = back?.split(' ') ?? [];
    if (point !== undefined && type !== undefined && matches(type, options ?? '')) return point;
  }
  return null;
}

const groupName = (uid: string) => `iris-${uid}`;

/** Folders of an attempt's groups that would exist for these limits. */
export function groupFolders(roots: GroupRoots, uid: string, limits: GroupLimits): readonly string[] {
  const folders = new Set<string>();
  if (limits.memoryBytes !== null && roots.memory !== null)
    folders.add(path.join(roots.memory, groupName(uid)));
  if (limits.cpuMillicores !== null && roots.cpu !== null) folders.add(path.join(roots.cpu, groupName(uid)));
  return [...folders];
}

/** Makes the groups and sets their limits; throws when the system refuses. */
export function createGroups(roots: GroupRoots, uid: string, limits: GroupLimits): readonly string[] {
  const folders = groupFolders(roots, uid, limits);
  for (const folder of folders) {
    try {
      mkdirSync(folder);
    } catch (error) {
      if (!isErrorCode(error, 'EEXIST')) throw error;
    }
  }
  if (limits.memoryBytes !== null && roots.memory !== null) limitMemory(roots, uid, limits.memoryBytes);
  if (limits.cpuMillicores !== null && roots.cpu !== null) weighProcessors(roots, uid, limits.cpuMillicores);
  return folders;
}

function limitMemory(roots: GroupRoots, uid: string, bytes: number): void {
  const folder = path.join(roots.memory ?? '', groupName(uid));
  if (roots.version === 2) {
    writeFileSync(path.join(folder, 'memory.max'), String(bytes));
    writeIfThere(path.join(folder, 'memory.swap.max'), '0');
    // One end for the whole attempt instead of a random process of it.
    writeIfThere(path.join(folder, 'memory.oom.group'), '1');
    return;
  }
  writeFileSync(path.join(folder, 'memory.limit_in_bytes'), String(bytes));
  writeIfThere(path.join(folder, 'memory.memsw.limit_in_bytes'), String(bytes));
}

function weighProcessors(roots: GroupRoots, uid: string, millicores: number): void {
  const folder = path.join(roots.cpu ?? '', groupName(uid));
  const clamp = (value: number, low: number, high: number) =>
    Math.min(high, Math.max(low, Math.round(value)));
  if (roots.version === 2) {
    writeIfThere(path.join(folder, 'cpu.weight'), String(clamp(millicores / 10, 1, 10_000)));
  } else {
    writeIfThere(path.join(folder, 'cpu.shares'), String(clamp((millicores * 1024) / 1000, 2, 262_144)));
  }
}

/** Not every kernel has every file (swap accounting is often off); what is missing there is not needed for the limit itself. */
function writeIfThere(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'r+' });
  } catch (error) {
    if (!isErrorCode(error, 'ENOENT') && !isErrorCode(error, 'EOPNOTSUPP') && !isErrorCode(error, 'EINVAL'))
      throw error;
  }
}

export function groupMembers(folders: readonly string[]): readonly number[] {
  const pids = new Set<number>();
  for (const folder of folders) {
    for (const line of readText(path.join(folder, 'cgroup.procs'))?.split('\n') ?? []) {
      if (line !== '' && line !== '0') pids.add(Number(line));
    }
  }
  return [...pids];
}

export interface GroupUsage {
  readonly peakMemoryBytes: number | null;
  /** Processes the kernel ended for want of memory within the limit. */
  readonly outOfMemoryKills: number;
}

export function readGroupUsage(folders: readonly string[]): GroupUsage {
  let peak: number | null = null;
  let kills = 0;
  for (const folder of folders) {
    const text =
      readText(path.join(folder, 'memory.max_usage_in_bytes')) ?? readText(path.join(folder, 'memory.peak'));
    if (text !== null && /^\d+\s*$/.test(text)) peak = Number(text);
    const events =
      readText(path.join(folder, 'memory.events')) ?? readText(path.join(folder, 'memory.oom_control')) ?? '';
    kills += Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0);
  }
  return { peakMemoryBytes: peak, outOfMemoryKills: kills };
}

/** Removes groups whose members are gone. False: something still lives in one. */
export function removeGroups(folders: readonly string[]): boolean {
  let gone = true;
  for (const folder of folders) {
    try {
      rmdirSync(folder);
    } catch (error) {
      if (!isErrorCode(error, 'ENOENT')) gone = false;
    }
  }
  return gone;
}
