/** Checks before a start: the folder, and the program as the job's own PATH finds it. */
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import type { Cause } from '../../../../core/contract/views.js';
import { errorCode, messageOf } from './error-code.js';

/** A start that cannot be: the job's own fault, so the attempt is FAILED with this exit code. */
export interface StartFault {
  readonly cause: Cause;
  readonly exitCode: number | null;
}

export type Checked<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: StartFault };

const defaultPath = '/usr/local/bin:/usr/bin:/bin';

export function checkFolder(folder: string): Checked<string> {
  const fault = (code: 'FOLDER_MISSING' | 'FOLDER_NOT_PERMITTED', message: string): Checked<string> => ({
    ok: false,
    fault: { cause: { code, message }, exitCode: null },
  });
  try {
    if (!statSync(folder).isDirectory()) {
      return fault('FOLDER_MISSING', `The working folder ${folder} is not a folder but a file.`);
    }
    accessSync(folder, constants.X_OK);
    return { ok: true, value: folder };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EACCES' || code === 'EPERM') {
      return fault('FOLDER_NOT_PERMITTED', `The working folder ${folder} may not be entered by this user.`);
    }
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      return fault('FOLDER_MISSING', `The working folder ${folder} does not exist on this machine.`);
    }
    return fault('FOLDER_MISSING', `The working folder ${folder} cannot be used: ${messageOf(error)}.`);
  }
}

/** The absolute path of the program, found as execvp would find it. */
export function findProgram(name: string, folder: string, searchPath: string | undefined): Checked<string> {
  if (name.includes('/')) {
    const file = path.resolve(folder, name);
    const state = executableState(file);
    return state === 'yes'
      ? { ok: true, value: file }
      : { ok: false, fault: programFault(name, file, state) };
  }
  let refused: string | null = null;
  const places = (searchPath === undefined || searchPath === '' ? defaultPath : searchPath).split(':');
  for (const place of places) {
    const file = path.resolve(folder, place, name);
    const state = executableState(file);
    if (state === 'yes') return { ok: true, value: file };
    if (state === 'not executable') refused ??= file;
  }
  if (refused !== null) return { ok: false, fault: programFault(name, refused, 'not executable') };
  const message = `The program ${name} was not found in any folder of PATH (${places.join(':')}).`;
  return { ok: false, fault: { cause: { code: 'PROGRAM_NOT_FOUND', message }, exitCode: 127 } };
}

type ExecutableState = 'yes' | 'missing' | 'folder' | 'not executable' | 'not permitted';

function executableState(file: string): ExecutableState {
  try {
    const found = statSync(file);
    if (found.isDirectory()) return 'folder';
    accessSync(file, constants.X_OK);
    // The superuser passes the check above for any file that has one execute bit, and for none without.
    return 'yes';
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'EACCES' && code !== 'EPERM') return 'missing';
    try {
      statSync(file);
      return 'not executable';
    } catch {
      return 'not permitted';
    }
  }
}

function programFault(name: string, file: string, state: ExecutableState): StartFault {
  if (state === 'missing') {
    const message = `The program ${name} was not found (${file} does not exist).`;
    return { cause: { code: 'PROGRAM_NOT_FOUND', message }, exitCode: 127 };
  }
  const why = {
    folder: `${file} is a folder, not a program.`,
    'not permitted': `The program ${file} may not be reached by this user.`,
    'not executable': `The program ${file} is not executable by this user (chmod +x would make it so).`,
    yes: '',
  }[state];
  return { cause: { code: 'PROGRAM_NOT_EXECUTABLE', message: why }, exitCode: 126 };
}
