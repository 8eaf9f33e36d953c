/** Copies of the logs of containers on a machine reached by SSH, one folder an attempt: kept for as long as the controller keeps their jobs. */
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../process/error-code.js';
import type { LinkLog } from '../process/launcher-link.js';
import { unknownOf } from './far-retention.js';

const dayMs = 86_400_000;
/** Younger ones are not asked about: a day more than jobs are kept. */
const keptMs = 8 * dayMs;

export class ContainerCopies {
  private lookedMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly folder: string,
    private readonly options: {
      readonly log: LinkLog;
      readonly nowMs: () => number;
      readonly monotonicMs: () => number;
      readonly isKnown?: ((uid: string) => Promise<boolean>) | undefined;
    },
  ) {}

  /** Its container is over: from now on its time counts. A folder's own time is that of its start. */
  ended(uid: string): void {
    const now = new Date(this.options.nowMs());
    const folder = path.join(this.folder, uid);
    try {
      // One that was never started has none.
      if (existsSync(folder)) utimesSync(folder, now, now);
    } catch (error) {
      this.options.log.warn('The end of a log could not be noted', { uid, error: messageOf(error) });
    }
  }

  /** Once a day; of what is wanted nothing is old. */
  removeOld(isWanted: (uid: string) => boolean): void {
    const { monotonicMs, nowMs } = this.options;
    if (monotonicMs() - this.lookedMs < dayMs || !existsSync(this.folder)) return;
    this.lookedMs = monotonicMs();
    const old = readdirSync(this.folder).filter(
      (uid) =>
        /^[0-9a-f]{16}$/.test(uid) &&
        !isWanted(uid) &&
        nowMs() - lastMs(path.join(this.folder, uid)) > keptMs,
    );
    void this.remove(old);
  }

  private async remove(old: readonly string[]): Promise<void> {
    for (const uid of await unknownOf(old, this.options)) {
      try {
        await rm(path.join(this.folder, uid), { recursive: true, force: true });
      } catch (error) {
        this.options.log.warn('An old log could not be removed', { uid, error: messageOf(error) });
      }
    }
  }
}

/** When anything of it was written last. */
function lastMs(folder: string): number {
  const times = [folder, ...['out', 'err'].map((name) => path.join(folder, name))].map(
    (name) => statSync(name, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  return Math.max(...times);
}
