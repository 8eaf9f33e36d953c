import { expect, test } from 'vitest';
import type { JobSummary, TaskView } from '../../core/contract/views.js';
import { currentJobs, currentTasks } from './current-rows.js';
import { createHandlers, type HandlerParts } from './handlers.js';

const job = (id: string, state: JobSummary['state']) => ({ id, state }) as JobSummary;
const task = (id: string, state: TaskView['state']) => ({ id, state }) as TaskView;

/** Memory that holds these alone. */
const views = (...ids: string[]) => ({
  refreshed: (rows: readonly JobSummary[]) => [...rows],
  refreshedTasks: (rows: readonly TaskView[]) => [...rows],
  has: (id: string) => ids.includes(id),
  hasTask: (id: string) => ids.includes(id),
});

test('a job that ended while its row was on its way is read again, and no other', async () => {
  const asked: (readonly string[])[] = [];
  const summaries = (ids: readonly string[]) => {
    asked.push(ids);
    return Promise.resolve(ids.map((id) => job(id, 'SUCCEEDED')));
  };
  const rows = [job('/ann/lives', 'RUNNING'), job('/ann/ended', 'RUNNING'), job('/ann/over', 'FAILED')];
  expect(await currentJobs(rows, views('/ann/lives'), { summaries })).toEqual([
    rows[0],
    job('/ann/ended', 'SUCCEEDED'),
    rows[2],
  ]);
  expect(asked).toEqual([['/ann/ended']]);
});

test('one that is not there any more is left as it was read', async () => {
  const rows = [job('/ann/gone', 'RUNNING')];
  expect(await currentJobs(rows, views(), { summaries: () => Promise.resolve([]) })).toEqual(rows);
});

test('tasks likewise', async () => {
  const before = { total: 1, rows: [task('/ann/job/0', 'RUNNING')] };
  const after = { total: 1, rows: [task('/ann/job/0', 'FAILED')] };
  const again = () => Promise.resolve(after);
  expect(await currentTasks(before, views(), again)).toEqual(after);
  expect(await currentTasks(before, views('/ann/job/0'), again)).toEqual(before);
  const never = () => Promise.reject(new Error('nothing has to be read again'));
  expect(await currentTasks(after, views(), never)).toEqual(after);
});

test('lists, a job and its tasks are answered so', async () => {
  const ended = job('/ann/ended', 'SUCCEEDED');
  const late = { total: 1, rows: [job('/ann/ended', 'RUNNING')] };
  let looks = 0;
  const reads = {
    jobList: () => Promise.resolve(late),
    children: () => Promise.resolve(late),
    resolveJob: () => Promise.resolve('/ann/ended'),
    jobDetail: () => Promise.resolve({ summary: late.rows[0] }),
    summaries: () => Promise.resolve([ended]),
    taskList: () =>
      Promise.resolve({
        total: 1,
        rows: [task('/ann/ended/0', (looks += 1) === 1 ? 'RUNNING' : 'SUCCEEDED')],
      }),
  };
  const parts = { reads, controller: { views: views() } } as unknown as HandlerParts;
  const handlers = createHandlers(parts);
  const me = { user: 'ann' };
  const page = { offset: 0, limit: 10 };
  const sort = { key: 'submitted', descending: true } as const;
  expect(await handlers['job.list']({ filter: { rootsOnly: true }, sort, ...page }, me)).toEqual({
    total: 1,
    rows: [ended],
  });
  expect(await handlers['job.children']({ jobId: '/ann', ...page }, me)).toEqual({ total: 1, rows: [ended] });
  expect(await handlers['job.get']({ jobId: '/ann/ended' }, me)).toEqual({ summary: ended });
  expect(await handlers['task.list']({ jobId: '/ann/ended', ...page }, me)).toEqual({
    total: 1,
    rows: [task('/ann/ended/0', 'SUCCEEDED')],
  });
});
