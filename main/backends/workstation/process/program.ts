/** Checks before a start: the folder, and the program as the job's own PATH finds it. */
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import type { Cause } from '../../../../core/contract/views.js';
import { errorCode, messageOf } from './error-code.js';

/** A start that cannot be: the job's own fault, so the attempt is FAILED with this exit code, unless it is `blameless`. */
export interface StartFault {
  readonly cause: Cause;
  readonly exitCode: number | null;
  readonly blameless?: true;
}

export type Checked<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: StartFault };

const defaultPath = '/usr/local/bin:/usr/bin:/bin';

export function checkFolder(folder: string): Checked<string> {
  try {
    if (!statSync(folder).isDirectory()) return { ok: false, fault: folderFault(folder, 'file', '') };
    accessSync(folder, constants.X_OK);
    return { ok: true, value: folder };
  } catch (error) {
    return { ok: false, fault: folderFault(folder, errorCode(error), messageOf(error)) };
  }
}

/** `code`: the system's error, or `file` for what is there and no folder. */
export function folderFault(folder: string, code: string | undefined, message: string): StartFault {
  const permitted = code !== 'EACCES' && code !== 'EPERM';
  const why = (): string => {
    if (code === 'file') return 'is not a folder but a file';
    if (!permitted) return 'may not be entered by this user';
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist on this machine';
    return `cannot be used: ${message}`;
  };
  return {
    cause: {
      code: permitted ? 'FOLDER_MISSING' : 'FOLDER_NOT_PERMITTED',
      message: `The working folder ${folder} ${why()}.`,
    },
    exitCode: null,
  };
}

/** Where a program may be, in the order execvp looks. */
export interface ProgramPlaces {
  readonly files: readonly string[];
  /** The folders of PATH; null for a name with a slash, which is one file. */
  readonly searched: readonly string[] | null;
}

export function programPlaces(name: string, folder: string, searchPath: string | undefined): ProgramPlaces {
  if (name.includes('/')) return { files: [path.resolve(folder, name)], searched: null };
  const searched = (searchPath === undefined || searchPath === '' ? defaultPath : searchPath).split(':');
  return { files: searched.map((place) => path.resolve(folder, place, name)), searched };
}

/** The absolute path of the program, found as execvp would find it. */
export function findProgram(name: string, places: ProgramPlaces): Checked<string> {
  let seen: { readonly file: string; readonly state: ProgramState } | null = null;
  for (const file of places.files) {
    const state = programState(file);
    if (state === null) return { ok: true, value: file };
    if (seen?.state !== 'refused') seen = { file, state };
  }
  return { ok: false, fault: programFault(name, places, seen?.file ?? name, seen?.state ?? 'missing') };
}

/** What stands in the way of a program; `hidden`: nobody may look. */
export const programStates = ['missing', 'folder', 'refused', 'hidden'] as const;
export type ProgramState = (typeof programStates)[number];

function programState(file: string): ProgramState | null {
  try {
    if (statSync(file).isDirectory()) return 'folder';
    accessSync(file, constants.X_OK);
    // The superuser passes the check above for any file that has one execute bit, and for none without.
    return null;
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'EACCES' && code !== 'EPERM') return 'missing';
    try {
      statSync(file);
      return 'refused';
    } catch {
      return 'hidden';
    }
  }
}

/** Of a program that was searched for, only a file that may not be executed is worth naming. */
export function programFault(
  name: string,
  places: ProgramPlaces,
  file: string,
  state: ProgramState,
): StartFault {
  if (places.searched !== null && state !== 'refused') {
    const message = `The program ${name} was not found in any folder of PATH (${places.searched.join(':')}).`;
    return { cause: { code: 'PROGRAM_NOT_FOUND', message }, exitCode: 127 };
  }
  if (state === 'missing') {
    const message = `The program ${name} was not found (${file} does not exist).`;
    return { cause: { code: 'PROGRAM_NOT_FOUND', message }, exitCode: 127 };
  }
  const why = {
    folder: `${file} is a folder, not a program.`,
    hidden: `The program ${file} may not be reached by this user.`,
    refused: `The program ${file} is not executable by this user (chmod +x would make it so).`,
  }[state];
  return { cause: { code: 'PROGRAM_NOT_EXECUTABLE', message: why }, exitCode: 126 };
}
