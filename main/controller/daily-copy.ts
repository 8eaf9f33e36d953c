/** A copy of the database each day on which something was written, so that a damaged disk costs a day of history and not all of it. */
import { statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { RefusalError } from '../../core/contract/errors.js';
import { backupBeside, newestBackup } from '../store/backups.js';
import { describeError, type Logger } from './logger.js';

const kind = 'daily';
const dayMs = 86_400_000;
/** Beyond the copy that is made and those that are kept; jobs need room more than we do. */
const leftFreeBytes = 1024 ** 3;

export interface DailyCopyOptions {
  /** The database. */
  readonly path: string;
  /** Writes a whole copy to that file, durably; rejects when the signal comes first. */
  readonly copy: (to: string, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly freeBytes?: (folder: string) => number;
  /** `damage` is another than before. */
  readonly onDamage?: () => void;
}

export class DailyCopy {
  private readonly ending = new AbortController();
  private found: string | null = null;

  constructor(private readonly options: DailyCopyOptions) {}

  /** What the check before a copy has found, and what to do; null: nothing. */
  get damage(): string | null {
    return this.found;
  }

  /** Never rejects. To be called each hour. */
  async makeIfDue(): Promise<void> {
    const { path: database, copy, logger, nowMs } = this.options;
    const { signal } = this.ending;
    try {
      if (signal.aborted || !this.isDue()) return;
      const bytes = sizeOf(database);
      const free = (this.options.freeBytes ?? freeBytesOf)(path.dirname(database));
      if (free < 2 * bytes + leftFreeBytes) {
        logger.warn('No copy of the database is made: the disk has too little room', { free, bytes });
        return;
      }
      const file = await backupBeside(database, kind, nowMs(), (to) => copy(to, signal));
      logger.info('Copied the database', { file, bytes });
      this.note(null);
    } catch (error) {
      if (signal.aborted) return;
      logger.error('The database could not be copied', describeError(error));
      if (error instanceof RefusalError && error.refusal.code === 'DATABASE_CORRUPT')
        this.note(`${error.refusal.message} ${this.advice()}`);
    }
  }

  /** It still works, and nothing says for how long. */
  private advice(): string {
    const last = newestBackup(this.options.path);
    const copy = last === null ? 'There is no copy of it' : `The newest sound copy is ${last.file}`;
    return `${copy}. Let what runs end, stop the controller, and start it again: it then says how to go on.`;
  }

  private note(damage: string | null): void {
    if (damage === this.found) return;
    this.found = damage;
    this.options.onDamage?.();
  }

  stop(): void {
    this.ending.abort();
  }

  private isDue(): boolean {
    const nowMs = this.options.nowMs();
    // A time far ahead is of a clock that was wrong: it says nothing of what was written since.
    const last = newestBackup(this.options.path, kind, nowMs + dayMs - 1);
    if (last === null) return true;
    return (
      nowMs - last.atMs >= dayMs && filesOf(this.options.path).some((file) => modifiedMs(file) > last.atMs)
    );
  }
}

/** What was written last may be in the write-ahead log only. */
function filesOf(database: string): string[] {
  return [database, `${database}-wal`];
}

function modifiedMs(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function sizeOf(database: string): number {
  return filesOf(database).reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
