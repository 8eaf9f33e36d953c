/**
 * One owner a data folder. The lock is an exclusive transaction on `lock.db`, held open: the system frees it however its owner dies,
 * which neither a pid file nor anything in Node can promise. Who holds it is told by `owner.json` beside it, for people only.
 *
 * On POSIX systems a process loses its locks on a file when it closes any other handle on that file: nothing else in the
 * program may ever open `lock.db`.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { refusal, RefusalError } from '../../core/contract/errors.js';
import { asRefusal, isBusy } from './failures.js';
import type { OwnerInfo, OwnerLock } from './types.js';

const ownerSchema = z.object({
  bootId: z.string(),
  pid: z.number().int(),
  startTime: z.string(),
  host: z.enum(['desktop', 'headless']),
  version: z.string(),
});

export function ownerFile(folder: string): string {
  return join(folder, 'owner.json');
}

/** Who last wrote himself down as owner; he may be gone. Null when nobody did or the file is not readable. */
export function readOwner(folder: string): OwnerInfo | null {
  try {
    const parsed = ownerSchema.safeParse(JSON.parse(readFileSync(ownerFile(folder), 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** Takes the folder at once or throws FOLDER_OWNED naming the holder. */
export function acquireOwnerLock(folder: string, owner: OwnerInfo): OwnerLock {
  const path = join(folder, 'lock.db');
  let database: Database.Database | null = null;
  try {
    // Made by hand for its mode; never opened by hand once it may be locked.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
    else chmodSync(path, 0o600);
    database = new Database(path, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    writeOwner(folder, owner);
  } catch (error) {
    database?.close();
    if (isBusy(error)) throw new RefusalError(refusal('FOLDER_OWNED', ownedMessage(folder)));
    if (error instanceof Database.SqliteError) throw asRefusal(error, 'Taking the data folder', path);
    const reason = error instanceof Error ? error.message : String(error);
    throw new RefusalError(
      refusal('FOLDER_UNUSABLE', `The data folder ${folder} cannot be used: ${reason}.`),
    );
  }

  const held = database;
  return {
    owner,
    release: () => {
      if (!held.open) return;
      // While the lock is still held: the file then never names one who has let go.
      rmSync(ownerFile(folder), { force: true });
      held.close();
    },
  };
}

function writeOwner(folder: string, owner: OwnerInfo): void {
  const file = ownerFile(folder);
  writeFileSync(`${file}.new`, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function ownedMessage(folder: string): string {
  const owner = readOwner(folder);
  const who =
    owner === null
      ? 'another host'
      : `the ${owner.host} host with process id ${owner.pid} (version ${owner.version})`;
  return `The data folder ${folder} is in use by ${who}. Attach to it, stop it, or choose another folder.`;
}
