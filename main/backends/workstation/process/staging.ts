/** Puts the files of a request into the attempt's private folder. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isConfinedPath } from '../../../../core/contract/job-request.js';
import { messageOf } from './error-code.js';
import type { Checked } from './program.js';

export interface StagedFile {
  readonly path: string;
  readonly contentBase64: string;
}

/**
 * The folder was made a moment ago and holds only what is put here, so no link in it can lead outside; a path that would leave it is
 * refused once more, since it may come from a database an older version wrote.
 */
export function stageFiles(workFolder: string, files: readonly StagedFile[]): Checked<null> {
  for (const file of files) {
    const fault = (message: string): Checked<null> => ({
      ok: false,
      fault: { cause: { code: 'STAGING_FAILED', message }, exitCode: null },
    });
    if (!isConfinedPath(file.path)) {
      return fault(
        `The staged file ${JSON.stringify(file.path)} must be a relative path that stays inside IRIS_WORKDIR.`,
      );
    }
    const target = path.join(workFolder, file.path);
    try {
      mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
      writeFileSync(target, Buffer.from(file.contentBase64, 'base64'), { mode: 0o600 });
    } catch (error) {
      return fault(`The staged file ${file.path} could not be written to ${target}: ${messageOf(error)}.`);
    }
  }
  return { ok: true, value: null };
}
