/** Queries for the window and irisctl, on a read-only connection of their own. */
import type { JobDetail } from '../../core/contract/api.js';
import { refusal, RefusalError } from '../../core/contract/errors.js';
import type { AuditEvent, InboxItem } from '../../core/contract/views.js';
import type { Attempt } from '../../core/model/entities.js';
import { maxTaskAttempts, toAttemptView, toTaskView } from '../../core/model/summary.js';
import { causeOf, jobStateOf } from './codes.js';
import { openConnection, type Query } from './connection.js';
import { createCounter } from './counts.js';
import { countQuery, pageQuery } from './job-query.js';
import { refuseNewer, schemaVersion } from './migrate.js';
import { migrations } from './migrations/index.js';
import {
  attemptOf,
  headColumns,
  laneOf,
  specOf,
  taskOf,
  type AttemptRow,
  type HeadRow,
  type LaneRow,
  type TaskRow,
} from './rows.js';
import { createSummaries } from './summaries.js';
import type { Reads, StoreOptions } from './types.js';

/** Lists come in as many statements as there are filters; more than this many are not kept prepared. */
const keptStatements = 64;

interface AuditRow {
  readonly id: number;
  readonly at_ms: number;
  readonly actor: string;
  readonly action: string;
  readonly entity: string;
  readonly detail: string | null;
}

interface InboxRow {
  readonly id: number;
  readonly job_id: string;
  readonly job_name: string;
  readonly state: number;
  readonly cause_code: string | null;
  readonly cause_message: string | null;
  readonly at_ms: number;
  readonly duration_ms: number | null;
  readonly read: number;
}

/** From the first to just after the last text that starts with `entity` and the separator. */
function rangeOf(entity: string, separator: '/' | ':'): [string, string] {
  return [entity + separator, entity + String.fromCharCode(separator.charCodeAt(0) + 1)];
}

export interface ReadsOptions extends Pick<StoreOptions, 'path' | 'nowMs' | 'log'> {
  /** Told of every statement as it runs. */
  readonly trace?: (sql: string) => void;
}

/** The store must have been opened (and so migrated) before. */
export function openReads(options: ReadsOptions): Reads {
  const { path, nowMs, log } = options;
  const connection = openConnection(path, log, { readOnly: true, trace: options.trace });
  const known = migrations.at(-1)?.version ?? 0;
  const found = schemaVersion(connection);
  refuseNewer(connection, found, known);
  if (found < known) {
    connection.close();
    throw new RefusalError(
      refusal(
        'UNAVAILABLE',
        `The database ${path} has schema version ${found}, not ${known}: open the store first.`,
      ),
    );
  }

  const summaries = createSummaries(connection);
  const count = createCounter(connection);
  const lists = new Map<string, Query<unknown>>();

  /** A statement made of a filter: prepared once, the oldest forgotten when there are many. */
  function listStatement<Row>(name: string, sql: string): Query<Row> {
    let query = lists.get(sql);
    if (query === undefined) {
      query = connection.prepare(name, sql);
      lists.set(sql, query);
      const oldest = lists.keys().next();
      if (lists.size > keptStatements && oldest.done !== true) lists.delete(oldest.value);
    }
    // The text names the columns, so equal texts give equal rows.
    return query as Query<Row>;
  }

  const childCount = connection.prepare<{ count: number }>(
    'count of children',
    'SELECT count(*) AS count FROM jobs WHERE parent_id = ?',
  );
  const childPage = connection.prepare<HeadRow>(
    'page of children',
    `SELECT ${headColumns} FROM jobs WHERE parent_id = ? ORDER BY submitted_at_ms, seq LIMIT ? OFFSET ?`,
  );
  const jobExists = connection.prepare<{ id: string }>('job by id', 'SELECT id FROM jobs WHERE id = ?');
  const jobByName = connection.prepare<{ id: string }>(
    'job by name',
    // By the name, of which there are few, not by the user, of whom there may be all.
    'SELECT id FROM jobs WHERE name_key = ? AND +user = ? ORDER BY submitted_at_ms DESC, seq DESC LIMIT 1',
  );
  const detail = connection.prepare<HeadRow & { submitted_by: string; spec: string }>(
    'job detail',
    `SELECT ${headColumns}, submitted_by, spec FROM jobs JOIN job_config ON job_seq = seq WHERE id = ?`,
  );
  const ancestors = connection.prepare<{ id: string }>(
    'ancestors',
    `WITH RECURSIVE up(id, parent_id, depth) AS (
       SELECT id, parent_id, depth FROM jobs WHERE id = (SELECT parent_id FROM jobs WHERE id = ?)
       UNION ALL SELECT j.id, j.parent_id, j.depth FROM up JOIN jobs j ON j.id = up.parent_id)
     SELECT id FROM up ORDER BY depth`,
  );
  const heads = connection.prepare<HeadRow>(
    'jobs by ids',
    `SELECT ${headColumns} FROM jobs WHERE id IN (SELECT value FROM json_each(?))`,
  );
  const recent = connection.prepare<HeadRow>(
    'recently finished',
    `SELECT ${headColumns} FROM jobs WHERE depth = 1 AND finished_at_ms IS NOT NULL
     ORDER BY finished_at_ms DESC, seq DESC LIMIT ?`,
  );
  // No index by end: it would cost every attempt a write, for a page that is opened now and then.
  const ended = connection.prepare<LaneRow>(
    'what ran',
    `SELECT a.uid, a.job_id, a.task_index, a.worker_id, a.devices, a.state, a.started_at_ms, a.finished_at_ms, t.band, j.name,
       j.user, j.submitted_by
     FROM attempts a JOIN tasks t ON t.job_id = a.job_id AND t.task_index = a.task_index JOIN jobs j ON j.id = a.job_id
     WHERE a.finished_at_ms >= ? AND a.started_at_ms IS NOT NULL ORDER BY a.finished_at_ms DESC, a.uid LIMIT ?`,
  );
  const taskCount = connection.prepare<{ count: number }>(
    'count of tasks',
    'SELECT count(*) AS count FROM tasks WHERE job_id = ?',
  );
  const taskPage = connection.prepare<TaskRow>(
    'page of tasks',
    'SELECT * FROM tasks WHERE job_id = ? ORDER BY task_index LIMIT ? OFFSET ?',
  );
  const attemptsOfTasks = connection.prepare<AttemptRow>(
    'attempts of a page of tasks',
    `SELECT * FROM (
       SELECT *, row_number() OVER (PARTITION BY task_index ORDER BY number DESC) AS age
       FROM attempts WHERE job_id = ? AND task_index BETWEEN ? AND ?)
     WHERE age <= ${maxTaskAttempts}`,
  );
  const attempt = connection.prepare<AttemptRow>('attempt by uid', 'SELECT * FROM attempts WHERE uid = ?');
  const auditAll = connection.prepare<AuditRow>(
    'audit',
    'SELECT * FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?',
  );
  // What lies under an entity continues its path with / (child or task) or : (attempt). Found by its own range of the index each:
  // as one condition it would be looked for through the whole table.
  const auditOf = connection.prepare<AuditRow>(
    'audit of an entity',
    `SELECT * FROM audit WHERE id IN (
       SELECT id FROM audit WHERE entity = ?
       UNION ALL SELECT id FROM audit WHERE entity >= ? AND entity < ?
       UNION ALL SELECT id FROM audit WHERE entity >= ? AND entity < ?) AND id < ?
     ORDER BY id DESC LIMIT ?`,
  );
  const inboxPage = connection.prepare<InboxRow>(
    'inbox',
    'SELECT * FROM inbox WHERE id < ? ORDER BY id DESC LIMIT ?',
  );
  const unread = connection.prepare<{ count: number }>(
    'unread inbox',
    'SELECT count(*) AS count FROM inbox WHERE read = 0',
  );

  return {
    jobList: (filter, sort, offset, limit) =>
      connection.read('Listing jobs', () => {
        const page = pageQuery(headColumns, filter, sort, { offset, limit, nowMs: nowMs() });
        const rows = listStatement<HeadRow>('page of jobs', page.sql).all(...page.values);
        // The last page tells how many there are; of a search that finds few this is the half of the work.
        const isLast = rows.length < limit && (rows.length > 0 || offset === 0);
        if (isLast) return { total: offset + rows.length, rows: summaries(rows) };
        const count = countQuery(filter);
        const total = listStatement<{ count: number }>('count of jobs', count.sql).get(...count.values);
        return { total: total?.count ?? 0, rows: summaries(rows) };
      }),

    children: (jobId, offset, limit) =>
      connection.read('Listing child jobs', () => ({
        total: childCount.get(jobId)?.count ?? 0,
        rows: summaries(childPage.all(jobId, limit, offset)),
      })),

    resolveJob: (idOrName, user) =>
      connection.read('Finding a job', () => {
        const row = jobExists.get(idOrName) ?? jobByName.get(idOrName.toLowerCase(), user);
        return row?.id ?? null;
      }),

    jobDetail: (jobId) =>
      connection.read('Reading a job', (): JobDetail | null => {
        const row = detail.get(jobId);
        const summary = row === undefined ? undefined : summaries([row])[0];
        if (row === undefined || summary === undefined) return null;
        return {
          summary,
          spec: specOf(row.spec),
          submittedBy: row.submitted_by,
          ancestors: ancestors.all(jobId).map((ancestor) => ancestor.id),
        };
      }),

    summaries: (jobIds) =>
      connection.read('Reading jobs', () => {
        const found = new Map(
          summaries(heads.all(JSON.stringify(jobIds))).map((summary) => [summary.id, summary]),
        );
        return jobIds.flatMap((id) => found.get(id) ?? []);
      }),

    recentlyFinished: (limit) =>
      connection.read('Reading the last finished jobs', () => summaries(recent.all(limit))),

    lanes: (sinceMs, limit) =>
      connection.read('Reading what ran', () => ended.all(sinceMs, limit).map(laneOf)),

    taskList: (jobId, offset, limit) =>
      connection.read('Listing tasks', () => {
        const tasks = taskPage.all(jobId, limit, offset).map(taskOf);
        const attempts = new Map<string, Attempt[]>(tasks.map((task) => [task.id, []]));
        const found = attemptsOfTasks.all(jobId, tasks[0]?.index ?? 0, tasks.at(-1)?.index ?? -1);
        for (const row of found.map(attemptOf)) attempts.get(row.taskId)?.push(row);
        return {
          total: taskCount.get(jobId)?.count ?? 0,
          rows: tasks.map((task) => toTaskView(task, attempts.get(task.id) ?? [])),
        };
      }),

    attemptByUid: (uid) =>
      connection.guard('Finding an attempt', () => {
        const row = attempt.get(uid);
        return row === undefined ? null : { jobId: row.job_id, attempt: toAttemptView(attemptOf(row)) };
      }),

    audit: (entity, beforeId, limit) =>
      connection.guard('Reading the activity', () => {
        const before = beforeId ?? Number.MAX_SAFE_INTEGER;
        const rows =
          entity === null
            ? auditAll.all(before, limit)
            : auditOf.all(entity, ...rangeOf(entity, '/'), ...rangeOf(entity, ':'), before, limit);
        return rows.map((row): AuditEvent => ({
          id: row.id,
          atMs: row.at_ms,
          actor: row.actor,
          action: row.action,
          entity: row.entity,
          detail: row.detail === null ? {} : (JSON.parse(row.detail) as Record<string, unknown>),
        }));
      }),

    inbox: (beforeId, limit) =>
      connection.read('Reading messages', () => ({
        items: inboxPage.all(beforeId ?? Number.MAX_SAFE_INTEGER, limit).map((row): InboxItem => ({
          id: row.id,
          jobId: row.job_id,
          jobName: row.job_name,
          state: jobStateOf(row.state),
          cause: causeOf(row.cause_code, row.cause_message),
          atMs: row.at_ms,
          durationMs: row.duration_ms,
          read: row.read !== 0,
        })),
        unread: unread.get()?.count ?? 0,
      })),

    counts: () => connection.read('Counting jobs', () => count(nowMs())),

    close: () => {
      connection.close();
    },
  };
}
