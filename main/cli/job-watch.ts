/** Watches one job until it has ended and nothing of it lives any more. */
import { RefusalError, type Refusal } from '../../core/contract/errors.js';
import { isTerminalJobState } from '../../core/contract/states.js';
import type { JobSummary, TaskView } from '../../core/contract/views.js';
import type { HostLink } from './host-link.js';

export interface WatchedJob {
  readonly summary: JobSummary;
  /** By index; complete from the first snapshot on. */
  readonly tasks: ReadonlyMap<number, TaskView>;
}

/** True when the job has ended and every attempt is verified gone. */
export function isSettled(job: WatchedJob): boolean {
  if (!isTerminalJobState(job.summary.state)) return false;
  for (const task of job.tasks.values()) {
    if (task.attempts.some((attempt) => attempt.finishedAtMs === null)) return false;
  }
  return true;
}

/**
 * Calls `changed` with each state seen, the first at once, until it returns true; resolves with that state. Goes on through
 * lost connections. Rejects with the host's refusal, such as NOT_FOUND.
 */
export async function watchJob(
  link: HostLink,
  jobId: string,
  changed: (job: WatchedJob) => boolean,
): Promise<WatchedJob> {
  return await link.persist(
    (connection) =>
      new Promise<WatchedJob>((resolve, reject) => {
        let tasks = new Map<number, TaskView>();
        let over = false;
        let unsubscribe: () => void = () => undefined;
        const finish = () => {
          over = true;
          unsubscribe();
        };
        const take = (summary: JobSummary, some: readonly TaskView[]) => {
          if (over) return;
          for (const task of some) tasks.set(task.index, task);
          const job = { summary, tasks };
          try {
            if (!changed(job)) return;
          } catch (error) {
            finish();
            reject(error instanceof Error ? error : new Error(String(error)));
            return;
          }
          finish();
          resolve(job);
        };
        unsubscribe = connection.subscribe(
          'job',
          { jobId },
          {
            snapshot: (value) => {
              tasks = new Map();
              take(value.summary, value.tasks);
            },
            delta: (value) => take(value.summary, value.tasks),
            ended: (reason: Refusal) => {
              if (!over) reject(new RefusalError(reason));
            },
          },
        );
      }),
  );
}
