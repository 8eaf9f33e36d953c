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
/** Trees deleted in one turn of the event loop, so that a sweep never delays a round. */
const treesATurn = 5;
/** A wall clock that is so much further on than the time that passed was set, or the machine slept: for good, if it is so an hour later. */
const clockLeapMs = hourMs;

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

  /** Since it was asked last. What is old by a wrong clock would be gone for good. */
  function clockLeapt(): boolean {
    const before = course;
    course = { wallMs: nowMs(), monotonicMs: options.monotonicMs() };
    const passedMs = course.monotonicMs - before.monotonicMs;
    return course.wallMs - before.wallMs - passedMs > clockLeapMs;
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
    if (clockLeapt()) {
      await options.copy.makeIfDue();
      later(sweepEveryMs, anHourPassed);
      return;
    }
    try {
      const now = nowMs();
      const pruned = store.prune(now - jobsKeptMs, treesATurn, options.waitedFor());
      if (pruned.jobIds.length > 0) options.forgotten(pruned.jobIds);
      for (const uid of pruned.attemptUids) await folders.remove(uid);
      if (isStopped()) return;
      const records = store.pruneRecords(
        { receiptsMs: now - receiptsKeptMs, inboxMs: now - recordsKeptMs, auditMs: now - recordsKeptMs },
        1000,
      );
      if (pruned.rootIds.length > 0 || records > 0) {
        later(1000, () => void sweep());
        return;
      }
      if (now >= foldersDueMs) {
        foldersDueMs = now + foldersEveryMs;
        await folders.removeUnknown(
          (uids) => store.unknownAttempts(uids),
          now - unknownKeptMs,
          () => !isStopped(),
        );
      }
      await options.copy.makeIfDue();
    } catch (error) {
      logger.error('Retention failed; it is tried again in an hour', describeError(error));
    }
    later(sweepEveryMs, anHourPassed);
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
