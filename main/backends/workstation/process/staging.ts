/** Puts the files of a request into the attempt's private folder. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isConfinedPath } from '../../../../core/contract/job-request.js';
import { errorCode, isFullDisk, messageOf } from './error-code.js';
import type { Checked, StartFault } from './program.js';

export interface StagedFile {
  readonly path: string;
  readonly contentBase64: string;
}

/** What comes of the names alone, on any machine: too long, or one file where another needs a folder. */
const faultsOfNames: readonly string[] = ['ENAMETOOLONG', 'ENOTDIR', 'EISDIR', 'EEXIST', 'EINVAL', 'EILSEQ'];

/** Why a staged file could not be written. Another try, or another machine, may have the room that was lacking. */
export function stagingFault(code: string | undefined, message: string): StartFault {
  if (faultsOfNames.includes(code ?? ''))
    return { cause: { code: 'STAGING_FAILED', message }, exitCode: null };
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return {
    cause: { code: full ? 'LOG_STORAGE_FULL' : 'START_FAILED', message },
    exitCode: null,
    blameless: true,
  };
}

/**
 * The folder was made a moment ago and holds only what is put here, so no link in it can lead outside; a path that would leave it is
 * refused once more, since it may come from a database an older version wrote.
 */
export function stageFiles(workFolder: string, files: readonly StagedFile[]): Checked<null> {
  for (const file of files) {
    if (!isConfinedPath(file.path)) {
      const message = `The staged file ${JSON.stringify(file.path)} must be a relative path that stays inside IRIS_WORKDIR.`;
      return { ok: false, fault: { cause: { code: 'STAGING_FAILED', message }, exitCode: null } };
    }
    const target = path.join(workFolder, file.path);
    try {
      mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
      writeFileSync(target, Buffer.from(file.contentBase64, 'base64'), { mode: 0o600 });
    } catch (error) {
      const message = `The staged file ${file.path} could not be written to ${target}: ${messageOf(error)}.`;
      // What did get there of it would take the room of others for as long as the attempt is kept.
      if (isFullDisk(error)) rmSync(target, { force: true });
      return { ok: false, fault: stagingFault(errorCode(error), message) };
    }
  }
  return { ok: true, value: null };
}
