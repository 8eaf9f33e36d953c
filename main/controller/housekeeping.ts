/** What a host does beside its jobs: retention, and folding the write-ahead log in when idle. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Store } from '../store/types.js';
import { describeError, type Logger } from './logger.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Periods of the original (iris-behaviour section 0): jobs seven days. Records outlive them: they are small and asked for later. */
const jobsKeptMs = 7 * dayMs;
const recordsKeptMs = 90 * dayMs;
const receiptsKeptMs = dayMs;
const sweepEveryMs = hourMs;
const checkpointEveryMs = 10 * 60_000;
/** Trees deleted in one turn of the event loop, so that a sweep never delays a round. */
const treesATurn = 5;

export interface Housekeeping {
  stop(): void;
}

export function startHousekeeping(options: {
  readonly store: Store;
  readonly attemptsFolder: string;
  readonly logger: Logger;
  readonly nowMs: () => number;
  /** True while a round is due: the sweep waits. */
  readonly busy: () => boolean;
}): Housekeeping {
  const { store, logger, nowMs } = options;
  let stopped = false;
  let next: NodeJS.Timeout | null = null;

  function later(ms: number, task: () => void): void {
    if (stopped) return;
    next = setTimeout(task, ms);
    next.unref();
  }

  async function sweep(): Promise<void> {
    if (stopped) return;
    if (options.busy()) {
      later(1000, () => void sweep());
      return;
    }
    try {
      const now = nowMs();
      const pruned = store.prune(now - jobsKeptMs, treesATurn);
      for (const uid of pruned.attemptUids) {
        await rm(path.join(options.attemptsFolder, uid), { recursive: true, force: true });
      }
      const records = store.pruneRecords(
        { receiptsMs: now - receiptsKeptMs, inboxMs: now - recordsKeptMs, auditMs: now - recordsKeptMs },
        1000,
      );
      if (pruned.rootIds.length > 0 || records > 0) {
        later(1000, () => void sweep());
        return;
      }
    } catch (error) {
      logger.error('Retention failed; it is tried again in an hour', describeError(error));
    }
    later(sweepEveryMs, () => void sweep());
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
  later(60_000, () => void sweep());

  return {
    stop() {
      stopped = true;
      if (next !== null) clearTimeout(next);
      clearInterval(checkpoint);
    },
  };
}
