/**
 * The note that a stop has sent its signal, for a host that comes after this one: a program may take a second one for impatience, and
 * quit without what the first made it begin to save.
 *
 * It is made after the signal, at once and in the same turn. A host that is killed between the two makes the next one send it twice; were
 * it made before, the task would never be told, and would spend its whole grace unknowing and then be killed. The first costs the programs
 * that count signals, the second every program that saves its work.
 */
import { closeSync, existsSync, openSync } from 'node:fs';
import path from 'node:path';
import type { AttemptEntry } from './attempt-entry.js';
import { isErrorCode, messageOf } from './error-code.js';
import type { LinkLog } from './launcher-link.js';

/** That it is there says it, so that one step makes it, with nothing in it that could be cut off. */
const sentFile = (folder: string, signal: string): string => path.join(folder, `sent.${signal}`);

export function wasSent(folder: string, signal: string): boolean {
  return existsSync(sentFile(folder, signal));
}

export function noteSent(
  { uid, folder }: Pick<AttemptEntry, 'uid' | 'folder'>,
  signal: string,
  log: LinkLog,
): void {
  try {
    closeSync(openSync(sentFile(folder, signal), 'a', 0o600));
  } catch (error) {
    // With its folder removed there is nobody to be told of it either.
    if (isErrorCode(error, 'ENOENT')) return;
    log.warn('That a stop has sent its signal could not be noted', { uid, error: messageOf(error) });
  }
}
