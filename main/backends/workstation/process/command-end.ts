/** What was seen of the end of an attempt's command: by the launcher that started it, or from its folder. */
import { statSync } from 'node:fs';
import type { Cause } from '../../../../core/contract/views.js';
import type { Found } from './adoption.js';
import { claimPath, type Claim, type CommandStatus } from './claim.js';
import type { LauncherEvent } from './launcher-protocol.js';
import { fullDisk } from './log-storage.js';
import { rebooted, supervisorLost } from './outcome.js';

export interface CommandEnd {
  readonly finishedAtMs: number;
  readonly durationMs: number | null;
  readonly status: Pick<CommandStatus, 'kind' | 'code'> | null;
  /** The cause when no status was written. */
  readonly otherwise: Cause;
}

/** `folderGone`: its claim was taken away with its folder, in which it was made before anything else. */
export function endByLauncher(
  event: Extract<LauncherEvent, { kind: 'ended' }>,
  claim: Claim,
  folder: string,
  folderGone: boolean,
): CommandEnd {
  const claimed = claim.kind === 'claimed' || folderGone;
  // When its line could not be written, the supervisor's own exit code tells the same.
  const spoken = claimed && event.code !== null ? ({ kind: 'exit', code: event.code } as const) : null;
  return {
    finishedAtMs: event.atMs,
    durationMs: event.durationMs,
    status: (claim.kind === 'claimed' ? claim.status : null) ?? spoken,
    otherwise: claimed ? supervisorLost : notClaimedCause(folder),
  };
}

export function endByFolder(
  found: Extract<Found, { kind: 'ended' | 'lost' }>,
  folder: string,
  nowMs: number,
): CommandEnd {
  if (found.kind === 'lost') {
    return {
      finishedAtMs: nowMs,
      durationMs: null,
      status: null,
      otherwise: found.rebooted ? rebooted : supervisorLost,
    };
  }
  return {
    finishedAtMs: claimTimes(folder)?.writtenMs ?? nowMs,
    durationMs: found.status.durationMs,
    status: found.status,
    otherwise: supervisorLost,
  };
}

/** Null: its folder is there, as it should be. */
export function folderLost(folder: string): Cause | null {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return null;
  const message = `The attempt's folder ${folder} was removed by somebody while the task ran: its log and what it kept in IRIS_WORKDIR are lost. Its exit code is the command's own.`;
  return { code: 'FOLDER_LOST', message };
}

/** Why a supervisor ended without having started its command. */
export function notClaimedCause(folder: string): Cause {
  const full = fullDisk(folder);
  return full === null
    ? {
        code: 'START_FAILED',
        message: 'The process that watches over the task ended before it could start it.',
      }
    : {
        code: 'LOG_STORAGE_FULL',
        message: `The task could not start: the disk that holds its folder (${full}) is full.`,
      };
}

/** When the claim was made, and when it was last written: the start and the end of an attempt nobody watched. */
export function claimTimes(folder: string): { readonly bornMs: number; readonly writtenMs: number } | null {
  try {
    const { birthtimeMs, mtimeMs } = statSync(claimPath(folder));
    return { bornMs: Math.round(birthtimeMs > 0 ? birthtimeMs : mtimeMs), writtenMs: Math.round(mtimeMs) };
  } catch {
    return null;
  }
}
