/** Watches one job until it has ended and nothing of it lives any more. */
import { RefusalError, type Refusal } from '../../core/contract/errors.js';
import { isTerminalJobState } from '../../core/contract/states.js';
import type { JobSummary, TaskView } from '../../core/contract/views.js';
import type { Connection } from './connection.js';
import type { HostLink } from './host-link.js';

export interface WatchedJob {
  readonly summary: JobSummary;
  /** By index; all of them, unless fewer were asked for. */
  readonly tasks: ReadonlyMap<number, TaskView>;
}

const pageSize = 500;

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
 * lost connections. Rejects with the host's refusal, such as NOT_FOUND. `some`: as many tasks as a first answer holds will do.
 */
export async function watchJob(
  link: HostLink,
  jobId: string,
  changed: (job: WatchedJob) => boolean,
  wanted: 'all' | 'some' = 'all',
): Promise<WatchedJob> {
  return await link.persist(
    (connection) =>
      new Promise<WatchedJob>((resolve, reject) => {
        let tasks = new Map<number, TaskView>();
        /** Null: tasks of the last snapshot are still missing. */
        let seen: WatchedJob | null = null;
        let over = false;
        let unsubscribe: () => void = () => undefined;
        const finish = (end: () => void) => {
          if (over) return;
          over = true;
          unsubscribe();
          end();
        };
        const fail = (error: unknown) =>
          finish(() => reject(error instanceof Error ? error : new Error(String(error))));
        const tell = (job: WatchedJob) => {
          if (over) return;
          seen = job;
          try {
            if (changed(job)) finish(() => resolve(job));
          } catch (error) {
            fail(error);
          }
        };
        let latest: JobSummary | null = null;
        /** A snapshot holds the first tasks alone. What has changed meanwhile is not undone by what is read of it. */
        const complete = async (mine: Map<number, TaskView>) => {
          for await (const task of tasksFrom(connection, jobId, mine.size)) {
            if (tasks !== mine || over) return;
            if (!mine.has(task.index)) mine.set(task.index, task);
          }
          if (tasks === mine && latest !== null) tell({ summary: latest, tasks });
        };
        unsubscribe = connection.subscribe(
          'job',
          { jobId },
          {
            snapshot: (value) => {
              const fresh = new Map(value.tasks.map((task) => [task.index, task]));
              [tasks, latest, seen] = [fresh, value.summary, null];
              if (wanted === 'some' || fresh.size >= value.summary.numTasks) tell({ summary: latest, tasks });
              else complete(fresh).catch(fail);
            },
            delta: (value) => {
              for (const task of value.tasks) tasks.set(task.index, task);
              latest = value.summary;
              if (seen !== null) tell({ summary: latest, tasks });
            },
            ended: (reason: Refusal) => fail(new RefusalError(reason)),
          },
        );
      }),
  );
}

async function* tasksFrom(connection: Connection, jobId: string, first: number): AsyncGenerator<TaskView> {
  for (let offset = first; ; offset += pageSize) {
    const { rows } = await connection.call('task.list', { jobId, offset, limit: pageSize });
    yield* rows;
    if (rows.length < pageSize) return;
  }
}
