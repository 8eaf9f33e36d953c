/** A weight for processors asked for: given to attempts that live on, so that a short command does not pay for a control group. */
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AttemptEntry } from './attempt-entry.js';
import {
  createGroups,
  groupFolders,
  groupMembers,
  type GroupLimits,
  type GroupRoots,
} from './control-groups.js';
import { isErrorCode, messageOf } from './error-code.js';
import type { LinkLog } from './launcher-link.js';

/** A process that forks while its tree is being moved may leave a child behind; a few passes catch those. */
const passes = 3;

/** What a start needs a group for: a memory limit holds from the first instruction; version 2 keeps both in one group. */
export function limitsAtStart(roots: GroupRoots, asked: GroupLimits): GroupLimits {
  return asked.memoryBytes !== null && roots.version === 2 ? asked : { ...asked, cpuMillicores: null };
}

/** Moves a running attempt into a group of its weight. Nothing is done where it asked for none or has one. */
export async function giveWeight(
  entry: AttemptEntry,
  roots: GroupRoots,
  members: () => Promise<readonly { readonly pid: number }[]>,
  log: LinkLog,
): Promise<void> {
  try {
    await moveIntoGroup(entry, roots, members);
  } catch (error) {
    const detail = { uid: entry.uid, error: messageOf(error) };
    log.warn('An attempt could not be given its processor weight', detail);
  }
}

async function moveIntoGroup(
  entry: AttemptEntry,
  roots: GroupRoots,
  members: () => Promise<readonly { readonly pid: number }[]>,
): Promise<void> {
  const spec = entry.launch?.spec;
  if (spec?.asked.cpu !== true || !runs(entry)) return;
  const limits: GroupLimits = { memoryBytes: null, cpuMillicores: spec.cpuMillicores };
  const [folder] = groupFolders(roots, entry.uid, limits);
  if (folder === undefined || entry.groups.includes(folder)) return;
  // Noted before it is made, so that whoever adopts the attempt removes it.
  const groups = [...entry.groups, folder];
  writeFileSync(path.join(entry.folder, 'groups'), JSON.stringify(groups), { mode: 0o600 });
  entry.groups = groups;
  createGroups(roots, entry.uid, limits);
  for (let pass = 0; pass < passes && runs(entry); pass += 1) {
    const inside = new Set(groupMembers([folder]));
    const outside = (await members()).filter(({ pid }) => !inside.has(pid));
    if (outside.length === 0) return;
    for (const { pid } of outside) join(folder, pid);
  }
}

/** Asked anew after each wait. */
function runs(entry: AttemptEntry): boolean {
  return entry.phase === 'running';
}

function join(folder: string, pid: number): void {
  try {
    appendFileSync(path.join(folder, 'cgroup.procs'), String(pid));
  } catch (error) {
    // Ended meanwhile; or the group was removed because the attempt did.
    if (!isErrorCode(error, 'ESRCH') && !isErrorCode(error, 'ENOENT')) throw error;
  }
}
