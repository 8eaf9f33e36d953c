/** What a container's runtime needs of the files of the machine the containers run on; here: the machine we run on ourselves. */
import { mkdirSync, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import type { JobSpec } from '../../../../core/contract/job-request.js';
import type { Cause } from '../../../../core/contract/views.js';
import { cachesAdvice } from '../../../../core/formats/docker/data-room.js';
import type { AttemptLaunch } from '../../backend.js';
import { isFullDisk, messageOf } from '../process/error-code.js';
import { workFolder } from '../process/attempt-start.js';
import { runCachesScriptHere, type RunCachesScript } from './caches-script.js';
import { cacheFolders, cachesBeside } from './container-environment.js';
import { localRoom, type ReadRoom } from './engine-room.js';
import type { StartFault } from '../process/program.js';
import { stageFiles } from '../process/staging.js';

type Prepared = { readonly scratch: string } | { readonly cause: Cause; readonly blameless?: true };

export interface HostFiles {
  /** With all links followed; null: nothing is there. */
  realPath(path: string): Promise<string | null>;
  /**
   * Makes the attempt's private folder with its staged files; its path there, or what went wrong: `blameless` when the task cannot
   * be blamed for it. On another machine its cards are claimed first.
   */
  prepare(folder: string, files: JobSpec['files'], launch: AttemptLaunch): Promise<Prepared>;
  /** Who may use the Engine's socket; null: it is not a file there. */
  socketGroup(path: string): number | null;
  /** On that machine, in a process of its own. */
  readonly runCachesScript: RunCachesScript;
  /** Of the file system an Engine keeps its data on. */
  readonly room: ReadRoom;
  /** While something is at work there, so often. */
  readonly roomEveryMs?: number | undefined;
}

export function preparedNot({ cause, blameless }: Pick<StartFault, 'cause' | 'blameless'>): Prepared {
  const { code, message } = cause;
  const told = code === 'LOG_STORAGE_FULL' ? { code, message: `${message} ${cachesAdvice}` } : cause;
  return blameless === true ? { cause: told, blameless } : { cause: told };
}

export const localFiles: HostFiles = {
  room: localRoom,
  runCachesScript: runCachesScriptHere,
  async realPath(path) {
    try {
      return await realpath(path);
    } catch {
      return null; // the caller says so
    }
  },
  prepare(folder, files) {
    const scratch = workFolder(folder);
    const folders = [scratch, ...cacheFolders(cachesBeside(scratch))];
    try {
      for (const each of folders) mkdirSync(each, { recursive: true, mode: 0o700 });
    } catch (error) {
      const message = `A folder of the attempt could not be made: ${messageOf(error)}.`;
      const code = isFullDisk(error) ? 'LOG_STORAGE_FULL' : 'START_FAILED';
      return Promise.resolve(preparedNot({ cause: { code, message }, blameless: true }));
    }
    const staged = stageFiles(scratch, files);
    return Promise.resolve(staged.ok ? { scratch } : preparedNot(staged.fault));
  },
  socketGroup(path) {
    try {
      return statSync(path).gid;
    } catch {
      return null;
    }
  },
};
