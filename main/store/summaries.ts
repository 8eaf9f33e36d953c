/** Lines of the job list for a page of jobs: the same four statements whatever the page's length. */
import type { TaskState } from '../../core/contract/states.js';
import type { JobSummary } from '../../core/contract/views.js';
import { toJobSummary, type TaskTotals } from '../../core/model/summary.js';
import { causeOf, stateNumbers, taskStateOf } from './codes.js';
import type { Connection } from './connection.js';
import { headOf, type HeadRow } from './rows.js';

interface Totals extends TaskTotals {
  readonly counts: Partial<Record<TaskState, number>>;
  failureCount: number;
  preemptionCount: number;
  waiting: TaskTotals['waiting'];
}

export function createSummaries(connection: Connection): (heads: readonly HeadRow[]) => JobSummary[] {
  const page = 'IN (SELECT value FROM json_each(?))';
  const totals = connection.prepare<{
    job_id: string;
    state: number;
    count: number;
    failures: number;
    preemptions: number;
  }>(
    'task totals of a page',
    `SELECT job_id, state, count(*) AS count, sum(failure_count) AS failures, sum(preemption_count) AS preemptions
     FROM tasks WHERE job_id ${page} GROUP BY job_id, state`,
  );
  // With min() SQLite takes the other columns from the row that has the minimum.
  const waiting = connection.prepare<{ job_id: string; waiting_code: string; waiting_message: string }>(
    'waiting reasons of a page',
    `SELECT job_id, min(task_index), waiting_code, waiting_message FROM tasks
     WHERE job_id ${page} AND state = ${stateNumbers.PENDING} AND waiting_code IS NOT NULL GROUP BY job_id`,
  );
  const workers = connection.prepare<{ job_id: string; worker_id: string }>(
    'workers of a page',
    `SELECT DISTINCT t.job_id, a.worker_id FROM tasks t
     JOIN attempts a ON a.job_id = t.job_id AND a.task_index = t.task_index AND a.number = t.current_attempt
     WHERE t.job_id ${page} AND a.worker_id <> ''`,
  );
  const children = connection.prepare<{ parent_id: string; count: number }>(
    'children of a page',
    `SELECT parent_id, count(*) AS count FROM jobs WHERE parent_id ${page} GROUP BY parent_id`,
  );

  return (heads) => {
    if (heads.length === 0) return [];
    const ids = JSON.stringify(heads.map((head) => head.id));
    const totalsOf = new Map<string, Totals>();
    for (const row of totals.all(ids)) {
      let sum = totalsOf.get(row.job_id);
      if (sum === undefined) {
        sum = { counts: {}, failureCount: 0, preemptionCount: 0, waiting: null };
        totalsOf.set(row.job_id, sum);
      }
      sum.counts[taskStateOf(row.state)] = row.count;
      sum.failureCount += row.failures;
      sum.preemptionCount += row.preemptions;
    }
    for (const row of waiting.all(ids)) {
      const sum = totalsOf.get(row.job_id);
      if (sum !== undefined) sum.waiting = causeOf(row.waiting_code, row.waiting_message);
    }
    const workersOf = new Map<string, string[]>();
    for (const row of workers.all(ids)) {
      const list = workersOf.get(row.job_id);
      if (list === undefined) workersOf.set(row.job_id, [row.worker_id]);
      else list.push(row.worker_id);
    }
    const childrenOf = new Map(children.all(ids).map((row) => [row.parent_id, row.count]));
    return heads.map((row) =>
      toJobSummary(
        headOf(row),
        totalsOf.get(row.id) ?? { counts: {}, failureCount: 0, preemptionCount: 0, waiting: null },
        workersOf.get(row.id) ?? [],
        childrenOf.get(row.id) ?? 0,
      ),
    );
  };
}
