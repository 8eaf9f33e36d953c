/** What SQLite leaves to us about files: their mode, and that their names are on disk too. */
import { chmodSync, closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

export function syncFile(path: string): void {
  const handle = openSync(path, 'r+');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export function syncFolder(path: string): void {
  // Windows has no folder handles to sync; there NTFS journals names itself.
  if (process.platform === 'win32') return;
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Makes sure the file exists and only its owner reads it; the log and index files beside it take the mode from it. */
export function prepareDatabaseFile(path: string): void {
  if (existsSync(path)) {
    chmodSync(path, 0o600);
    return;
  }
  closeSync(openSync(path, 'a', 0o600));
  syncFolder(dirname(path));
}
