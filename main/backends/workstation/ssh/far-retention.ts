/** What lies of old attempts on another machine goes when the controller keeps them no more, however long ago it was written. */
import { messageOf } from '../process/error-code.js';
import type { LinkLog } from '../process/launcher-link.js';
import type { FarText, FarWord } from './far-words.js';

export interface RetentionOptions {
  readonly log: Pick<LinkLog, 'warn'>;
  readonly isKnown?: ((uid: string) => Promise<boolean>) | undefined;
}

/** old UID...: those nobody knows any more are told. */
export async function forgetOld(
  word: FarWord,
  options: RetentionOptions,
  send: (...texts: readonly FarText[]) => void,
): Promise<void> {
  const uids = Array.from({ length: word.count }, (_, index) => word.text(index));
  const unknown = await unknownOf(uids, options);
  if (unknown.length > 0) send('forget', ...unknown);
}

/** Where that cannot be asked, or there is nobody to ask, each is kept. */
export async function unknownOf(
  uids: readonly string[],
  { log, isKnown }: RetentionOptions,
): Promise<readonly string[]> {
  if (isKnown === undefined) return [];
  const unknown: string[] = [];
  try {
    for (const uid of uids) if (!(await isKnown(uid))) unknown.push(uid);
  } catch (error) {
    log.warn('What is kept of old attempts could not be asked, so nothing of them is removed', {
      error: messageOf(error),
    });
    return [];
  }
  return unknown;
}
