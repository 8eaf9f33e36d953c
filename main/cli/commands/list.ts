/** `job list`. */
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import { shownStateOf } from '../../../core/contract/shown-state.js';
import { jobStates, type JobState } from '../../../core/contract/states.js';
import { jobStateSchema } from '../../../core/contract/state-schemas.js';
import type { JobSummary } from '../../../core/contract/views.js';
import type { JobFilter } from '../../../core/contract/api.js';
import type { Context } from '../context.js';
import { exitCodes } from '../exit-codes.js';
import { ago, isoTime, table } from '../format.js';

export interface ListOptions {
  readonly state?: readonly string[];
  readonly prefix?: string;
  readonly search?: string;
  readonly limit?: number;
  readonly all?: boolean;
  readonly roots?: boolean;
}

const pageSize = 500;
const tableLimit = 100;

export async function listCommand(context: Context, options: ListOptions): Promise<number> {
  const { output } = context;
  // Programs get every job, people the newest root jobs, unless they say otherwise.
  const rootsOnly = options.roots === true || (!output.json && options.all !== true);
  const limit = options.limit ?? (output.json ? 0 : tableLimit);
  const filter = makeFilter(options, rootsOnly);
  const { rows, more } = await readJobs(context, filter, options.prefix, limit);
  if (output.json) {
    await output.value(rows);
    return exitCodes.ok;
  }
  await output.text(rows.length === 0 ? 'No jobs.\n' : jobTable(rows, context.nowMs(), output.isTerminal));
  if (more) await output.note(`only the newest ${limit} are shown; --limit 0 shows all.`);
  return exitCodes.ok;
}

function makeFilter(options: ListOptions, rootsOnly: boolean): JobFilter {
  const filter: JobFilter = { rootsOnly };
  const states = parseStates(options.state ?? []);
  if (states.length > 0) filter.states = states;
  // The prefix narrows the search where it can; the exact test is made on what comes.
  const words = [options.search, options.prefix].filter((word) => word !== undefined && word !== '');
  if (words.length > 0) filter.search = words.join(' ');
  return filter;
}

export function parseStates(words: readonly string[]): JobState[] {
  return words
    .flatMap((word) => word.split(','))
    .map((word) => word.trim().replace(/^JOB_STATE_/i, ''))
    .filter((word) => word !== '')
    .map((word) => {
      const parsed = jobStateSchema.safeParse(word.toUpperCase().replaceAll('-', '_'));
      if (parsed.success) return parsed.data;
      const expected = jobStates.join(', ').toLowerCase();
      throw new RefusalError(
        refusal('INVALID_ARGUMENT', `--state: ${word} is no state of a job; expected one of ${expected}.`, [
          { field: '--state', value: word, expected },
        ]),
      );
    });
}

async function readJobs(
  context: Context,
  filter: JobFilter,
  prefix: string | undefined,
  limit: number,
): Promise<{ rows: JobSummary[]; more: boolean }> {
  // With a limit the newest come first; without, oldest first, so that jobs submitted meanwhile do not shift the pages.
  const newestFirst = limit > 0;
  const found = new Map<string, JobSummary>();
  for (let offset = 0; ; offset += pageSize) {
    const at = offset;
    const page = await context.link.persist((connection) =>
      connection.call('job.list', {
        filter,
        sort: { key: 'submitted', descending: newestFirst },
        offset: at,
        limit: pageSize,
      }),
    );
    for (const row of page.rows) {
      if (prefix === undefined || row.id.startsWith(prefix)) found.set(row.id, row);
    }
    const enough = newestFirst && found.size > limit;
    if (page.rows.length < pageSize || enough) break;
  }
  const rows = [...found.values()].sort((left, right) => right.submittedAtMs - left.submittedAtMs);
  return { rows: newestFirst ? rows.slice(0, limit) : rows, more: newestFirst && rows.length > limit };
}

export function jobTable(rows: readonly JobSummary[], nowMs: number, relative: boolean): string {
  return table(
    [
      { title: 'JOB ID' },
      { title: 'STATE' },
      { title: 'SUBMITTED' },
      { title: 'TASKS', align: 'right' },
      { title: 'EXIT', align: 'right' },
      { title: 'REASON', max: 60 },
    ],
    rows.map((job) => [
      job.id,
      job.state,
      relative ? ago(job.submittedAtMs, nowMs) : isoTime(job.submittedAtMs),
      `${job.taskCounts.SUCCEEDED ?? 0}/${job.numTasks}`,
      job.exitCode === null ? '-' : String(job.exitCode),
      (shownStateOf(job) === 'PENDING' ? job.waiting?.message : job.cause?.message) ?? '',
    ]),
  );
}
