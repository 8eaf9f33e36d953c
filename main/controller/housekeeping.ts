/** What a host does beside its jobs: retention, a copy a day, and folding the write-ahead log in when idle. */
import type { Store } from '../store/types.js';
import { AttemptFolders } from './attempt-folders.js';
import { describeError, type Logger } from './logger.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Periods of the original (iris-behaviour section 0): jobs seven days. Records outlive them: they are small and asked for later. */
const jobsKeptMs = 7 * dayMs;
const recordsKeptMs = 90 * dayMs;
const receiptsKeptMs = dayMs;
const sweepEveryMs = hourMs;
/** Folders nobody knows are looked for so often; young ones are left alone. */
const foldersEveryMs = dayMs;
const unknownKeptMs = jobsKeptMs + dayMs;
const checkpointEveryMs = 10 * 60_000;
/** Trees deleted in one turn of the event loop, so that a sweep never delays a round; the next turn is so much later. */
const treesATurn = 5;
const recordsATurn = 1000;
const betweenTurnsMs = 100;
export interface Housekeeping {
  stop(): void;
}

export function startHousekeeping(options: {
  readonly store: Pick<Store, 'prune' | 'unknownAttempts' | 'pruneRecords' | 'checkpoint'>;
  readonly attemptsFolder: string;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** True while a round is due: the sweep waits. */
  readonly busy: () => boolean;
  /** Root jobs of the trees that jobs still wait for. */
  readonly waitedFor: () => readonly string[];
  /** These are not there any more. */
  readonly forgotten: (jobIds: readonly string[]) => void;
  /** What is counted over the last day is to be counted anew. */
  readonly anHourPassed: () => void;
  readonly copy: { makeIfDue(): Promise<void>; stop(): void };
}): Housekeeping {
  const { store, logger, nowMs } = options;
  const folders = new AttemptFolders(options.attemptsFolder, logger);
  let foldersDueMs = Number.NEGATIVE_INFINITY;
  let course = { wallMs: nowMs(), monotonicMs: options.monotonicMs() };
  let stopped = false;
  let next: NodeJS.Timeout | null = null;

  /** Read through a function: it changes while a promise is waited for. */
  const isStopped = () => stopped;

  function later(ms: number, task: () => void): void {
    if (stopped) return;
    next = setTimeout(task, ms);
    next.unref();
  }

  /**
   * What is old by a wrong clock would be gone for good. So a wall clock that was set on, or whose machine slept, is believed once it
   * has said so for an hour; until then time is what has passed since the sweep before. One that is asleep more than it is awake
   * forgets an hour late, and not never.
   */
  function believedMs(): number {
    return Math.min(nowMs(), course.wallMs + (options.monotonicMs() - course.monotonicMs));
  }

  async function overForNow(): Promise<void> {
    await options.copy.makeIfDue();
    course = { wallMs: nowMs(), monotonicMs: options.monotonicMs() };
    later(sweepEveryMs, anHourPassed);
  }

  /** Whether something can be forgotten or not, the last day is another one now. */
  function anHourPassed(): void {
    try {
      options.anHourPassed();
    } catch (error) {
      logger.error('What is counted over the last day could not be counted anew', describeError(error));
    }
    void sweep();
  }

  async function sweep(): Promise<void> {
    if (stopped) return;
    if (options.busy()) {
      later(1000, () => void sweep());
      return;
    }
    try {
      const now = believedMs();
      const pruned = store.prune(now - jobsKeptMs, treesATurn, options.waitedFor());
      if (pruned.jobIds.length > 0) options.forgotten(pruned.jobIds);
      for (const uid of pruned.attemptUids) await folders.remove(uid);
      if (isStopped()) return;
      const recordsMs = now - recordsKeptMs;
      const before = { receiptsMs: now - receiptsKeptMs, inboxMs: recordsMs, auditMs: recordsMs };
      // After the trees: to find what is old among messages all of them are looked through.
      if (pruned.rootIds.length > 0 || store.pruneRecords(before, recordsATurn) > 0) {
        later(betweenTurnsMs, () => void sweep());
        return;
      }
      if (now >= foldersDueMs || foldersDueMs > now + foldersEveryMs) {
        foldersDueMs = now + foldersEveryMs;
        await folders.removeUnknown(
          (uids) => store.unknownAttempts(uids),
          now - unknownKeptMs,
          () => !isStopped(),
        );
      }
    } catch (error) {
      // Beside the host's end the store may be closed by now.
      if (isStopped()) return;
      logger.error('Retention failed; it is tried again in an hour', describeError(error));
    }
    if (!isStopped()) await overForNow();
  }

  const checkpoint = setInterval(() => {
    if (options.busy()) return;
    try {
      store.checkpoint();
    } catch (error) {
      logger.error('A checkpoint of the database failed', describeError(error));
    }
  }, checkpointEveryMs);
  checkpoint.unref();
  later(60_000, anHourPassed);

  return {
    stop() {
      stopped = true;
      options.copy.stop();
      if (next !== null) clearTimeout(next);
      clearInterval(checkpoint);
    },
  };
}
