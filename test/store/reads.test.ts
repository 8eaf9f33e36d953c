/** The queries behind the contract's lists, against what the controller would say of the same records. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobFilter, JobSort } from '../../core/contract/api.js';
import { methods } from '../../core/contract/api.js';
import { summarizeJob, toTaskView } from '../../core/model/summary.js';
import { openReads } from '../../main/store/reads.js';
import type { Reads, Store } from '../../main/store/types.js';
import {
  changes,
  makeFolder,
  makeJob,
  makeSpec,
  makeTask,
  openTestStore,
  silent,
  startMs,
  type Folder,
} from './builders.js';
import { labEvents, labRecords } from './fixtures/lab.js';

let folder: Folder;
let store: Store;
let reads: Reads;
let statements: string[] = [];
const now = startMs + 100_000;
const records = labRecords();

function summaryOf(id: string) {
  const job = records.jobs.find((candidate) => candidate.id === id);
  if (job === undefined) throw new Error(`no job ${id}`);
  return summarizeJob(
    job,
    records.tasks.filter((task) => task.jobId === id),
    records.attempts.filter((attempt) => attempt.jobId === id),
    records.jobs.filter((child) => child.parentId === id).length,
  );
}

const newestFirst: JobSort = { key: 'submitted', descending: true };

function list(filter: JobFilter, sort: JobSort = newestFirst, offset = 0, limit = 100): string[] {
  const page = reads.jobList(filter, sort, offset, limit);
  if (offset === 0 && limit === 100) expect(page.total).toBe(page.rows.length);
  return page.rows.map((row) => row.id);
}

beforeAll(() => {
  folder = makeFolder();
  store = openTestStore(folder.database, { nowMs: () => now });

  store.commit(changes(records));
  store.commit(changes(labEvents(now)));
  store.markInboxRead([2]);
  reads = openReads({
    path: folder.database,
    nowMs: () => now,
    log: silent,
    trace: (sql) => statements.push(sql),
  });
});
afterAll(() => {
  reads.close();
  store.close();
  folder.remove();
});

describe('job lines', () => {
  it('are those the controller builds from its own records, and fit the contract', () => {
    const page = reads.jobList({ rootsOnly: false }, newestFirst, 0, 100);
    expect(page.rows).toHaveLength(records.jobs.length);
    for (const row of page.rows) expect(row).toEqual(summaryOf(row.id));
    expect(methods['job.list'].result.parse(page)).toEqual(page);
  });

  it('say what their tasks come to', () => {
    expect(reads.summaries(['/bob/wide', '/nobody/none', '/ann/Train'])).toEqual([
      expect.objectContaining({
        id: '/bob/wide',
        taskCounts: { SUCCEEDED: 5, FAILED: 1 },
        workers: ['node-a', 'node-b', 'node-c', 'node-d'],
        exitCode: 3,
      }),
      expect.objectContaining({
        id: '/ann/Train',
        taskCounts: { PENDING: 2, RUNNING: 1 },
        childCount: 2,
        failureCount: 24,
        preemptionCount: 2,
        gpuCount: 6,
        waiting: { code: 'WAITS_FOR_CAPACITY', message: 'It waits for 2 GPUs.' },
        workers: ['node-a', 'node-b'],
        commandLine: 'python3 train.py --rate 100%',
      }),
    ]);
  });

  it('come as pages of a constant number of statements', () => {
    const cost = (limit: number) => {
      statements = [];
      reads.jobList({ rootsOnly: false }, newestFirst, 0, limit);
      return statements.length;
    };
    expect(cost(8)).toBe(cost(1));
    expect(cost(8)).toBeLessThanOrEqual(8);
    statements = [];
    reads.taskList('/bob/wide', 0, 6);
    const whole = statements.length;
    statements = [];
    reads.taskList('/bob/wide', 0, 1);
    expect(statements).toHaveLength(whole);
  });
});

describe('the job list', () => {
  it('shows root jobs unless told otherwise, newest first', () => {
    expect(list({})).toEqual(['/ann/train', '/ann/train-2', '/bob/train', '/bob/wide', '/ann/Train']);
    expect(list({ rootsOnly: false })).toHaveLength(8);
    expect(list({}, { key: 'submitted', descending: false })[0]).toBe('/ann/Train');
  });

  it('pages without gaps or repeats, and tells the total', () => {
    for (const key of ['submitted', 'name', 'state', 'finished', 'duration'] as const) {
      for (const descending of [true, false]) {
        const whole = list({ rootsOnly: false }, { key, descending });
        const paged = [0, 3, 6].flatMap((offset) =>
          list({ rootsOnly: false }, { key, descending }, offset, 3),
        );
        expect(paged).toEqual(whole);
        expect(new Set(paged).size).toBe(8);
      }
    }
    expect(reads.jobList({}, newestFirst, 100, 10)).toEqual({ total: 5, rows: [] });
  });

  it('sorts by name, state, end and duration, with what is not known last', () => {
    expect(list({}, { key: 'name', descending: false })).toEqual([
      '/ann/train',
      '/bob/train',
      '/ann/Train',
      '/ann/train-2',
      '/bob/wide',
    ]);
    expect(list({}, { key: 'state', descending: false })).toEqual([
      '/ann/train',
      '/ann/Train',
      '/ann/train-2',
      '/bob/wide',
      '/bob/train',
    ]);
    expect(list({}, { key: 'finished', descending: true })).toEqual([
      '/ann/train-2',
      '/bob/train',
      '/bob/wide',
      '/ann/train',
      '/ann/Train',
    ]);
    expect(list({}, { key: 'finished', descending: false })).toEqual([
      '/bob/wide',
      '/bob/train',
      '/ann/train-2',
      '/ann/train',
      '/ann/Train',
    ]);
    // Train runs since 98 s.
    expect(list({}, { key: 'duration', descending: true })).toEqual([
      '/ann/Train',
      '/ann/train-2',
      '/bob/wide',
      '/ann/train',
      '/bob/train',
    ]);
  });

  it('filters by state, user, submission and end', () => {
    expect(list({ states: ['FAILED', 'KILLED'] })).toEqual(['/bob/train', '/bob/wide']);
    expect(list({ states: [] })).toEqual([]);
    expect(list({ user: 'bob' })).toEqual(['/bob/train', '/bob/wide']);
    expect(list({ sinceMs: startMs + 11_000 })).toEqual(['/ann/train', '/ann/train-2', '/bob/train']);
    expect(list({ finishedSinceMs: startMs + 12_000 })).toEqual(['/ann/train-2', '/bob/train']);
    expect(list({ user: 'ann', states: ['SUCCEEDED'], rootsOnly: false, finishedSinceMs: startMs })).toEqual([
      '/ann/train-2',
      '/ann/Train/eval',
    ]);
  });

  it.each([
    ['TRAIN', ['/ann/train', '/ann/train-2', '/bob/train', '/ann/Train']],
    ['python rate', ['/ann/Train']],
    ['  rate   PYTHON  ', ['/ann/Train']],
    ['python bob', []],
    ['/bob/ wide', ['/bob/wide']],
    ["'*'", ['/bob/train']],
    ['t*n', []],
    ['[at]rain', []],
    ['*', ['/bob/train']],
    ['[a]', ['/bob/train']],
    ['?x', ['/bob/train']],
    ['ärger', ['/bob/train']],
    ['100%', ['/ann/Train']],
    ['', ['/ann/train', '/ann/train-2', '/bob/train', '/bob/wide', '/ann/Train']],
  ])('finds by the words %j in id or command line, taken literally', (search, expected) => {
    expect(list({ search })).toEqual(expected);
  });
});

describe('one job', () => {
  it('has its specification and its ancestors, root first', () => {
    expect(reads.jobDetail('/ann/Train/eval/part')).toEqual({
      summary: summaryOf('/ann/Train/eval/part'),
      spec: makeSpec(),
      submittedBy: 'ann',
      ancestors: ['/ann/Train', '/ann/Train/eval'],
    });
    expect(reads.jobDetail('/ann/Train')?.ancestors).toEqual([]);
    expect(reads.jobDetail('/ann')).toBeNull();
  });

  it('is found by its id, or by its name as the newest of its user', () => {
    expect(reads.resolveJob('/ann/Train', 'bob')).toBe('/ann/Train');
    expect(reads.resolveJob('TRAIN', 'ann')).toBe('/ann/train');
    expect(reads.resolveJob('train', 'bob')).toBe('/bob/train');
    expect(reads.resolveJob('wide', 'ann')).toBeNull();
  });

  it('lists its children, oldest first', () => {
    const page = reads.children('/ann/Train', 0, 10);
    expect(page.rows.map((row) => row.id)).toEqual(['/ann/Train/eval', '/ann/Train/test']);
    expect(page).toEqual({ total: 2, rows: [summaryOf('/ann/Train/eval'), summaryOf('/ann/Train/test')] });
    expect(reads.children('/ann/Train', 1, 10).rows.map((row) => row.id)).toEqual(['/ann/Train/test']);
  });

  it('lists its tasks with their last twenty attempts', () => {
    const page = reads.taskList('/ann/Train', 0, 10);
    expect(page.total).toBe(3);
    const own = records.tasks.filter((task) => task.jobId === '/ann/Train');
    expect(page.rows).toEqual(
      own.map((task) =>
        toTaskView(
          task,
          records.attempts.filter((attempt) => attempt.taskId === task.id),
        ),
      ),
    );
    expect(page.rows[0]?.attempts.map((attempt) => attempt.number)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 5),
    );
    expect(reads.taskList('/bob/wide', 4, 10).rows.map((task) => task.index)).toEqual([4, 5]);
    expect(reads.taskList('/bob/wide', 9, 10)).toEqual({ total: 6, rows: [] });
    expect(methods['task.list'].result.parse(page)).toEqual(page);
  });

  it('gives an attempt by its uid', () => {
    const attempt = records.attempts.at(-1);
    expect(reads.attemptByUid(attempt?.uid ?? '')).toMatchObject({
      jobId: '/bob/wide',
      attempt: { uid: attempt?.uid, workerId: 'node-a' },
    });
    expect(reads.attemptByUid('0123456789abcdef')).toBeNull();
  });
});

describe('what happened', () => {
  it('is listed newest first, from a given event on', () => {
    const all = reads.audit(null, null, 100);
    expect(all.map((event) => event.id)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(all.at(-1)).toEqual({
      id: 1,
      atMs: now,
      actor: 'ann',
      action: 'job_submitted',
      entity: '/ann/Train',
      detail: { tasks: 3 },
    });
    expect(reads.audit(null, 5, 2).map((event) => event.id)).toEqual([4, 3]);
  });

  it('can be asked of a job with its tasks, attempts and children, and of no other', () => {
    expect(reads.audit('/ann/Train', null, 100).map((event) => event.id)).toEqual([6, 5, 4, 3, 1]);
    expect(reads.audit('/ann/Train/1', null, 100).map((event) => event.id)).toEqual([6, 4, 3]);
    expect(reads.audit('/ann/Train', 5, 2).map((event) => event.id)).toEqual([4, 3]);
    expect(reads.audit('/ann/T', null, 100)).toEqual([]);
  });

  it('is told by messages, with how many were not read', () => {
    const inbox = reads.inbox(null, 2);
    expect(inbox.unread).toBe(2);
    expect(inbox.items.map((item) => [item.id, item.read])).toEqual([
      [3, false],
      [2, true],
    ]);
    expect(reads.inbox(2, 10).items).toEqual([
      {
        id: 1,
        jobId: '/bob/wide',
        jobName: 'wide',
        state: 'FAILED',
        cause: { code: 'EXIT_CODE', message: 'x' },
        atMs: now - 1,
        durationMs: 12.5,
        read: false,
      },
    ]);
  });

  it('is counted, child jobs included', () => {
    expect(reads.counts()).toEqual({ running: 1, waiting: 3, finished: 4, failedUnseen: 1 });
    expect(reads.recentlyFinished(2).map((row) => row.id)).toEqual(['/ann/train-2', '/bob/train']);
  });

  it('shows what the store commits meanwhile', () => {
    const job = makeJob('/zoe/new');
    store.commit(changes({ jobs: [job], tasks: [makeTask(job)] }));
    expect(list({ user: 'zoe' })).toEqual(['/zoe/new']);
  });
});
