/** What comes before a start, whichever launcher makes it: the attempt's folder, its control groups, the supervisor's arguments. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Cause } from '../../../../core/contract/views.js';
import { claimPath } from './claim.js';
import { createGroups } from './control-groups.js';
import { isErrorCode } from './error-code.js';
import type { LauncherEvent, LauncherSetup, StartItem } from './launcher-protocol.js';
import type { StartFault } from './program.js';

export type Refusal = Extract<LauncherEvent, { kind: 'refused' }>;

export function attemptFolder(setup: LauncherSetup, uid: string): string {
  return path.join(setup.attemptsFolder, uid);
}

/** The attempt's private folder, kept for its command. */
export function workFolder(folder: string): string {
  return path.join(folder, 'work');
}

export function makeFolders(folder: string): 'made' | 'claimed' {
  for (const each of [folder, workFolder(folder)]) {
    try {
      mkdirSync(each, { mode: 0o700 });
    } catch (error) {
      if (!isErrorCode(error, 'EEXIST')) throw error;
      // A start that was asked for before: either somebody runs it, or nobody got that far.
      if (each === folder && readClaimText(folder) !== null) return 'claimed';
    }
  }
  return 'made';
}

/** Null: there is none. */
export function readClaimText(folder: string): string | null {
  try {
    return readFileSync(claimPath(folder), 'latin1');
  } catch {
    return null; // absent: the caller knows what that means
  }
}

/** Makes the control groups and notes them for whoever adopts the attempt. */
export function makeGroups(setup: LauncherSetup, item: StartItem, folder: string): readonly string[] {
  const groups = item.limits === null ? [] : createGroups(setup.groups, item.uid, item.limits);
  if (groups.length > 0) writeFileSync(path.join(folder, 'groups'), JSON.stringify(groups), { mode: 0o600 });
  return groups;
}

/** The command that runs the supervisor, up to the program it shall run. The head of supervisor.sh says what each is. */
export function supervisorCommand(
  setup: LauncherSetup,
  item: StartItem,
  groups: readonly string[],
): readonly [shell: string, ...args: string[]] {
  return [
    setup.shell,
    setup.supervisor,
    attemptFolder(setup, item.uid),
    setup.umask.toString(8).padStart(3, '0'),
    item.timeLimitMs === null ? '-' : String(item.timeLimitMs / 1000),
    item.stopSignal.replace(/^SIG/, ''),
    String(item.graceMs / 1000),
    item.uid,
    setup.bootId ?? '-',
    String(groups.length),
    ...groups.map((group) => path.join(group, 'cgroup.procs')),
  ];
}

/** The attempt a process with these arguments is the supervisor of; undefined when it is none. */
export function supervisedUid(argv: readonly string[]): string | undefined {
  const [, file, folder, , , , , uid] = argv;
  const isSupervisor =
    /\/\.supervisor-[0-9a-f]+\.sh$/.test(file ?? '') && path.basename(folder ?? '') === uid;
  return isSupervisor ? uid : undefined;
}

export function refuseByFault(uid: string, fault: StartFault): Refusal {
  return {
    kind: 'refused',
    uid,
    cause: fault.cause,
    exitCode: fault.exitCode,
    fault: fault.blameless !== true,
  };
}

export function refuseFolder(
  uid: string,
  folder: string,
  code: string | undefined,
  message: string,
): Refusal {
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  const cause = {
    code: full ? 'LOG_STORAGE_FULL' : 'START_FAILED',
    message: `The attempt's folder ${folder} could not be made: ${message}.`,
  } as const;
  return { kind: 'refused', uid, cause, exitCode: null, fault: false };
}

export function refuseSpawn(uid: string, code: string | undefined, message: string): Refusal {
  const tooLong = code === 'E2BIG';
  const said = tooLong
    ? 'The command line and the environment together are longer than this system allows (E2BIG).'
    : `The command could not be started: ${message}.`;
  return {
    kind: 'refused',
    uid,
    cause: { code: 'START_FAILED', message: said },
    exitCode: null,
    fault: tooLong,
  };
}

/** `machine`: null for this one. Another try, or another machine, may get an answer. */
export function silentStart(folder: string, seconds: number | string, machine: string | null): Cause {
  const where = machine === null ? '' : ` on the machine ${machine}`;
  const message = `Neither the working folder ${folder} nor its program could be looked at${where} within ${seconds} s: a file system there does not answer.`;
  return { code: 'START_FAILED', message };
}
