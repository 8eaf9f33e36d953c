/** `queue`: what waits, in the order a round goes through it, and what is promised or kept. */
import type { QueueView } from '../../../core/contract/queue.js';
import type { Context } from '../context.js';
import { exitCodes } from '../exit-codes.js';
import { ago, isoTime, table } from '../format.js';

export async function queueCommand(context: Context): Promise<number> {
  const queue = await context.link.persist((connection) => connection.call('queue.get', {}));
  if (context.output.json) await context.output.value(queue);
  else await context.output.text(queueText(queue));
  return exitCodes.ok;
}

function queueText(queue: QueueView): string {
  const rows = queue.bands.flatMap(({ band, jobs }) =>
    jobs.map((job, at) => [
      band,
      String(at + 1),
      job.jobId,
      job.user,
      `${job.waitingTasks} of ${job.numTasks}`,
      job.gpuCount === 0 ? '-' : String(job.gpuCount),
      ago(job.submittedAtMs, queue.atMs),
      [
        ...(job.requestedBand === band
          ? []
          : [`Asked for ${job.requestedBand}; its user is over the limit.`]),
        job.waiting?.message ?? '',
      ].join(' '),
    ]),
  );
  if (rows.length === 0) return 'Nothing waits.\n';
  const more = queue.bands
    .filter(({ total, jobs }) => total > jobs.length)
    .map(({ band, total, jobs }) => `${total - jobs.length} more in ${band} are not shown.\n`);
  const kept = queue.reservations.map(
    ({ jobId, workerIds, startMs }) =>
      `${workerIds.join(', ')} kept for ${jobId}, ${startMs === null ? 'without a known start' : `from ${isoTime(startMs)}`}.\n`,
  );
  const columns = [
    { title: 'BAND' },
    { title: '#', align: 'right' },
    { title: 'JOB', max: 48 },
    { title: 'USER', max: 24 },
    { title: 'TASKS' },
    { title: 'GPUS', align: 'right' },
    { title: 'SUBMITTED' },
    { title: 'WAITS' },
  ] as const;
  return [table(columns, rows), ...more, ...kept].join('');
}
