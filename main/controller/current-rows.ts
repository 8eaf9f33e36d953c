/**
 * Rows read from the database as they are now. Between the reader's look and the answer a job may end and leave memory: its row would
 * say for ever, to who was told of the end before, that it runs.
 */
import { isTerminalJobState, isTerminalTaskState } from '../../core/contract/states.js';
import type { JobSummary, TaskView } from '../../core/contract/views.js';
import type { AsyncReads, Page } from '../store/types.js';
import type { LiveViews } from './live-views.js';

type Views = Pick<LiveViews, 'refreshed' | 'refreshedTasks' | 'has' | 'hasTask'>;

export async function currentJobs(
  rows: readonly JobSummary[],
  views: Views,
  reads: Pick<AsyncReads, 'summaries'>,
): Promise<JobSummary[]> {
  const seen = views.refreshed(rows);
  const left = seen.filter(({ id, state }) => !isTerminalJobState(state) && !views.has(id));
  if (left.length === 0) return seen;
  const ended = new Map((await reads.summaries(left.map(({ id }) => id))).map((row) => [row.id, row]));
  return seen.map((row) => ended.get(row.id) ?? row);
}

export async function currentTasks(
  page: Page<TaskView>,
  views: Views,
  readAgain: () => Promise<Page<TaskView>>,
): Promise<{ total: number; rows: TaskView[] }> {
  const left = page.rows.some(({ id, state }) => !isTerminalTaskState(state) && !views.hasTask(id));
  const { total, rows } = left ? await readAgain() : page;
  return { total, rows: views.refreshedTasks(rows) };
}
