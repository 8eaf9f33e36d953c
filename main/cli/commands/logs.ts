/** `job logs`: what tasks printed, their two streams on ours. */
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import type { AttemptView, TaskView } from '../../../core/contract/views.js';
import type { Context } from '../context.js';
import { exitCodes } from '../exit-codes.js';
import { JobLogs } from '../job-logs.js';
import { isSettled, watchJob, type WatchedJob } from '../job-watch.js';
import { readTail } from '../log-tail.js';
import { jsonSink } from '../task-output.js';
import { getJob } from '../targets.js';
import { readTasks } from './show.js';

export interface LogsOptions {
  readonly follow?: boolean;
  /** Lines from the end of each log; undefined: all. */
  readonly tail?: number;
  /** Only what was written in the last so many seconds. */
  readonly sinceSeconds?: number;
  /** Likewise, by a time in epoch milliseconds. */
  readonly sinceMs?: number;
  readonly stream?: 'out' | 'err';
  readonly task?: number;
  readonly attempt?: number;
  readonly prefix?: boolean;
}

export async function logsCommand(context: Context, named: string, options: LogsOptions): Promise<number> {
  const { link, output } = context;
  refuseTwoBeginnings(options);
  const target = splitTarget(named, options);
  const { summary } = await getJob(link, target.jobName);
  const tasks = await readTasks(context, summary.id);
  refuseUnknown(summary.id, tasks, target);
  const unread = new Set<string>();
  const logs = createLogs(context, options, target, tasks, unread);
  const now: WatchedJob = { summary, tasks: new Map(tasks.map((task) => [task.index, task])) };
  if (options.follow === true) {
    const ended = watchJob(link, summary.id, (job) => {
      logs.update(job);
      return isSettled(job) || output.outputGone;
    }).then(() => logs.drained());
    await Promise.race([ended, logs.abandoned]);
  } else {
    // One task after the other, so that each log comes whole.
    for (const task of tasks) {
      logs.update({ ...now, tasks: new Map([[task.index, task]]) });
      await logs.drained();
    }
  }
  if (output.outputGone) return exitCodes.brokenPipe;
  return unread.size > 0 ? exitCodes.refused : exitCodes.ok;
}

interface Target {
  readonly jobName: string;
  readonly taskIndex: number | undefined;
  readonly attemptNumber: number | undefined;
}

/** `/user/job`, `/user/job/0` (a task) and `/user/job/0:2` (an attempt), as ids are shown elsewhere. */
export function splitTarget(named: string, options: LogsOptions): Target {
  const match = /^(\/[^/]+\/.+)\/(\d+)(?::(\d+))?$/.exec(named);
  return {
    jobName: match?.[1] ?? named,
    taskIndex: match?.[2] === undefined ? options.task : Number(match[2]),
    attemptNumber: match?.[3] === undefined ? options.attempt : Number(match[3]),
  };
}

/** Each of these says where a log begins. */
function refuseTwoBeginnings(options: LogsOptions): void {
  const given = (
    [
      ['--tail', options.tail],
      ['--since-seconds', options.sinceSeconds],
      ['--since-ms', options.sinceMs],
    ] as const
  ).filter(([, value]) => value !== undefined);
  const [first, second] = given;
  if (first === undefined || second === undefined) return;
  throw new RefusalError(
    refusal('INVALID_ARGUMENT', `${first[0]} and ${second[0]} cannot be used together: give one of them.`, [
      { field: second[0], value: String(second[1]), expected: `nothing beside ${first[0]}` },
    ]),
  );
}

function sinceMsOf({ sinceMs, sinceSeconds }: LogsOptions, nowMs: number): number | undefined {
  return sinceSeconds === undefined ? sinceMs : nowMs - sinceSeconds * 1000;
}

function refuseUnknown(jobId: string, tasks: readonly TaskView[], target: Target): void {
  const { taskIndex, attemptNumber } = target;
  if (taskIndex !== undefined && !tasks.some((task) => task.index === taskIndex)) {
    const expected = tasks.length === 1 ? '0' : `0 to ${tasks.length - 1}`;
    throw new RefusalError(
      refusal('NOT_FOUND', `${jobId} has no task ${taskIndex}; it has ${expected}.`, [
        { field: '--task', value: String(taskIndex), expected },
      ]),
    );
  }
  if (attemptNumber === undefined) return;
  const some = tasks
    .filter((task) => taskIndex === undefined || task.index === taskIndex)
    .flatMap((task) => task.attempts);
  if (some.some((attempt) => attempt.number === attemptNumber)) return;
  throw new RefusalError(
    refusal(
      'NOT_FOUND',
      `${jobId} has no attempt ${attemptNumber}; irisctl job show ${jobId} lists its attempts.`,
      [
        {
          field: '--attempt',
          value: String(attemptNumber),
          expected: 'an attempt that irisctl job show lists',
        },
      ],
    ),
  );
}

function createLogs(
  context: Context,
  options: LogsOptions,
  target: Target,
  tasks: readonly TaskView[],
  unread: Set<string>,
): JobLogs {
  const { link, output } = context;
  // Each task's last attempt and those that follow, unless one is named.
  const first = new Map(tasks.map((task) => [task.index, task.attempts.at(-1)?.number ?? 0]));
  return new JobLogs({
    link,
    output,
    prefix: options.prefix ?? null,
    only: options.stream,
    sinceMs: sinceMsOf(options, context.nowMs()),
    follow: options.follow === true,
    wanted: (task: TaskView, attempt: AttemptView) =>
      (target.taskIndex === undefined || task.index === target.taskIndex) &&
      (target.attemptNumber === undefined
        ? attempt.number >= (first.get(task.index) ?? 0)
        : attempt.number === target.attemptNumber),
    ...(output.json
      ? {
          makeSink: (task: TaskView, attempt: AttemptView) =>
            jsonSink((stream, text, goesOn) =>
              output.value({
                ...{ task: task.index, attempt: attempt.number, stream, text },
                ...(goesOn ? { goesOn } : {}),
              }),
            ),
        }
      : {}),
    begin: async (attempt, sink) => {
      if (options.tail === undefined) return null;
      const tail = await readTail(link, attempt.uid, options.tail, options.stream);
      for (const piece of tail.pieces) await sink.write(piece.stream, piece.data);
      return tail.cursor;
    },
    failed: (uid, error) => {
      unread.add(uid);
      const why = error instanceof Error ? error.message : String(error);
      void output.note(`the log of attempt ${uid} cannot be read: ${why}`);
    },
  });
}
