/** Whose the folder of a host's socket is. What is sent there may be secret, and whoever listens there is believed. */
import { lstatSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { refusal, type Refusal } from '../../core/contract/errors.js';

/**
 * Why a socket folder is not to be used; null for one's own, and for none: then nobody listens. In a shared place such as /tmp anybody may
 * have made it under the name that ours would have.
 */
export function foreignSocketFolder(
  folder: string,
  asks: 'listens' | 'connects',
  ownId = process.getuid?.(),
): Refusal | null {
  if (ownId === undefined) return null;
  // Root may speak to the host of another user, where nobody but that user could have made the folder.
  const mayEnter = () => asks === 'connects' && ownId === 0 && !isForAll(statSync(path.dirname(folder)));
  const isForeign = (stat: Stats) => stat.uid !== ownId && !mayEnter();
  try {
    // A link counts as much as what it leads to.
    if (!isForeign(lstatSync(folder)) && !isForeign(statSync(folder))) return null;
  } catch {
    return null; // there is none
  }
  return refusal(
    'FOLDER_UNUSABLE',
    `The socket folder ${folder} belongs to somebody else: ${advice(folder)}.`,
  );
}

/** Never to remove a folder that may be the other's data. */
function advice(folder: string): string {
  const another = 'name another data folder with --home';
  if (!isForAll(statSync(path.dirname(folder)))) return another;
  return `have an administrator look at it and remove it, or ${another}`;
}

const isForAll = ({ mode }: Stats): boolean => (mode & 0o002) !== 0;
