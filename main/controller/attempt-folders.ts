/** The folders of attempts that are no longer kept. One that cannot be removed holds up no other, and is tried again another day. */
import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describeError, type Logger } from './logger.js';

/** Names looked up in one turn of the event loop. */
const namesATurn = 500;

export class AttemptFolders {
  constructor(
    private readonly folder: string,
    private readonly logger: Logger,
  ) {}

  /** Never rejects. */
  async remove(uid: string): Promise<void> {
    const folder = path.join(this.folder, uid);
    try {
      try {
        await rm(folder, { recursive: true, force: true });
      } catch (error) {
        if (!isDenied(error)) throw error;
        // Programs leave folders that cannot be written to, as modules are kept.
        await makeWritable(folder);
        await rm(folder, { recursive: true, force: true });
      }
    } catch (error) {
      this.logger.warn('The folder of a forgotten attempt could not be removed', {
        folder,
        ...describeError(error),
      });
    }
  }

  /**
   * What a crash between the deletion of a job and that of its folders left, and what could not be removed then. `unknown` gives those of
   * these attempts nobody knows any more; what was written to since `beforeMs` stays, whoever it belongs to.
   */
  async removeUnknown(
    unknown: (uids: readonly string[]) => readonly string[],
    beforeMs: number,
    goesOn: () => boolean,
  ): Promise<void> {
    const names = (await readdir(this.folder)).filter((name) => /^[0-9a-f]{16}$/.test(name));
    for (let at = 0; at < names.length && goesOn(); at += namesATurn) {
      for (const uid of unknown(names.slice(at, at + namesATurn))) {
        const stat = await lstat(path.join(this.folder, uid)).catch(() => null);
        if (stat !== null && stat.mtimeMs < beforeMs) await this.remove(uid);
      }
      await nextTurn();
    }
  }
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM');
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await makeWritable(path.join(folder, entry.name));
}
