/** `job show`: one job, its tasks and their attempts. */
import type { JobDetail } from '../../../core/contract/api.js';
import type { AttemptView, TaskView } from '../../../core/contract/views.js';
import { demotionText } from '../../../core/contract/demotion-text.js';
import { joinWords } from '../../../core/contract/job-text.js';
import { formatDuration } from '../../../core/formats/durations.js';
import { ended } from '../../../core/formats/last-words.js';
import { formatSize } from '../../../core/formats/sizes.js';
import type { Context } from '../context.js';
import { exitCodes, signalExitCode } from '../exit-codes.js';
import { isoTime, printable, table } from '../format.js';
import { getJob } from '../targets.js';
import { usageText } from '../usage-text.js';

const pageSize = 500;

export async function showCommand(context: Context, idOrName: string): Promise<number> {
  const detail = await getJob(context.link, idOrName);
  const tasks = await readTasks(context, detail.summary.id);
  if (context.output.json) await context.output.value({ ...detail, tasks });
  else await context.output.text(jobText(detail, tasks, context.nowMs()));
  return exitCodes.ok;
}

export async function readTasks(context: Context, jobId: string): Promise<TaskView[]> {
  const tasks: TaskView[] = [];
  for (;;) {
    const page = await context.link.persist((connection) =>
      connection.call('task.list', { jobId, offset: tasks.length, limit: pageSize }),
    );
    tasks.push(...page.rows);
    if (page.rows.length < pageSize) return tasks;
  }
}

export function jobText(detail: JobDetail, tasks: readonly TaskView[], nowMs: number): string {
  const { summary, spec } = detail;
  const header: [string, string][] = [
    ['Job', summary.id],
    ['State', summary.state],
    ['Command', joinWords(spec.command)],
    ['Folder', spec.workingDirectory],
    ['Submitted', `${isoTime(summary.submittedAtMs)} by ${detail.submittedBy}`],
    ['Started', isoTime(summary.startedAtMs)],
    ['Finished', isoTime(summary.finishedAtMs)],
    ['Exit code', summary.exitCode === null ? '-' : String(summary.exitCode)],
    ['Band', summary.band],
    ['Resources', resources(detail)],
  ];
  if (summary.demoted !== undefined)
    header.push(['Demoted', demotionText(summary.demoted, summary.state !== 'PENDING')]);
  if (summary.cause !== null) header.push(['Reason', summary.cause.message]);
  if (summary.waiting !== null && summary.state === 'PENDING')
    header.push(['Waits', summary.waiting.message]);
  if (summary.retryOf !== null) header.push(['Run again from', summary.retryOf]);
  if (summary.childCount > 0) header.push(['Child jobs', String(summary.childCount)]);
  const width = Math.max(...header.map(([name]) => name.length));
  const lines = header.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`).join('');
  return `${lines}\n${taskTable(tasks, nowMs)}`;
}

function resources(detail: JobDetail): string {
  const { spec } = detail;
  const parts = [
    `${spec.cpuMillicores / 1000} cores`,
    `${formatSize(spec.memoryBytes)} memory${spec.memoryIsLimit ? '' : ' (counted, no limit)'}`,
  ];
  if (spec.gpuCount > 0)
    parts.push(
      `${spec.gpuCount} GPU${spec.gpuCount > 1 ? 's' : ''}${spec.gpuVariant === null ? '' : ` (${spec.gpuVariant})`}`,
    );
  return `${parts.join(', ')} a task`;
}

/** A signal and a code that is not just another name for it are two facts: time was up, and SIGTERM ended it. */
function exitText({ signal, exitCode }: AttemptView): string {
  if (signal === null) return exitCode === null ? '-' : String(exitCode);
  return exitCode === null || exitCode === signalExitCode(signal) ? signal : `${exitCode} ${signal}`;
}

function durationText({ durationMs, startedAtMs, finishedAtMs }: AttemptView, nowMs: number): string {
  if (durationMs !== null) return formatDuration(durationMs);
  // It goes on.
  return startedAtMs === null || finishedAtMs !== null
    ? '-'
    : formatDuration(Math.max(0, nowMs - startedAtMs));
}

export function taskTable(tasks: readonly TaskView[], nowMs: number): string {
  const rows = tasks.flatMap((task) => {
    const attempts = task.attempts.map((attempt) => [
      String(task.index),
      String(attempt.number),
      attempt.state,
      exitText(attempt),
      durationText(attempt, nowMs),
      attempt.peakMemoryBytes === null ? '-' : formatSize(attempt.peakMemoryBytes),
      attempt.workerId ?? '-',
      [
        ...(attempt.cause === null ? [] : [ended(attempt.cause.message)]),
        ...attempt.warnings.map((warning) => `Warning: ${warning.message}`),
        ...(attempt.usage === undefined ? [] : [usageText(attempt.usage, attempt.devices)]),
      ].join(' '),
    ]);
    // None yet, or it waits for its next one.
    if (attempts.length > 0 && task.state !== 'PENDING') return attempts;
    const why = task.waiting?.message ?? task.cause?.message ?? '';
    return [...attempts, [String(task.index), '-', task.state, '-', '-', '-', '-', why]];
  });
  return table(
    [
      { title: 'TASK', align: 'right' },
      { title: 'ATTEMPT', align: 'right' },
      { title: 'STATE' },
      { title: 'EXIT', align: 'right' },
      { title: 'DURATION', align: 'right' },
      { title: 'PEAK MEM', align: 'right' },
      { title: 'WORKER' },
      { title: 'REASON' },
    ],
    rows,
  );
}
