/** Jobs, tasks and attempts for the store's tests, and a database in a folder of its own. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseJobRequest, type JobRequest, type JobSpec } from '../../core/contract/job-request.js';
import type { Attempt, ChangeSet, Job, Task } from '../../core/model/entities.js';
import { openStore } from '../../main/store/store.js';
import type { Store, StoreLog } from '../../main/store/types.js';

export const startMs = Date.UTC(2026, 0, 5, 9, 0, 0);

export const silent: StoreLog = { info: () => undefined, warn: () => undefined };

/** A log that keeps its lines. */
export function recordingLog(): StoreLog & {
  readonly lines: { message: string; fields: Readonly<Record<string, unknown>> }[];
} {
  const lines: { message: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const keep = (message: string, fields: Readonly<Record<string, unknown>>) =>
    void lines.push({ message, fields });
  return { lines, info: keep, warn: keep };
}

export function makeSpec(request: Partial<JobRequest> = {}): JobSpec {
  const parsed = parseJobRequest({ command: ['/bin/true'], workingDirectory: '/data', ...request });
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return parsed.value;
}

let submissions = 0;

export function makeJob(id: string, part: Partial<Job> = {}): Job {
  const parts = id.split('/').slice(1);
  const submittedAtMs = part.submittedAtMs ?? startMs + ++submissions;
  return {
    id,
    user: parts[0] ?? '',
    submittedBy: parts[0] ?? '',
    parentId: parts.length === 2 ? null : id.slice(0, id.lastIndexOf('/')),
    rootId: `/${parts.slice(0, 2).join('/')}`,
    depth: parts.length - 1,
    name: parts.at(-1) ?? '',
    state: 'PENDING',
    band: 'INTERACTIVE',
    submittedAtMs,
    rootSubmittedAtMs: submittedAtMs,
    startedAtMs: null,
    finishedAtMs: null,
    schedulingDeadlineMs: null,
    cause: null,
    exitCode: null,
    numTasks: 1,
    retryOf: null,
    held: false,
    rank: 0,
    spec: makeSpec(),
    ...part,
  };
}

export function makeTask(job: Job, index = 0, part: Partial<Task> = {}): Task {
  return {
    id: `${job.id}/${index}`,
    jobId: job.id,
    index,
    state: 'PENDING',
    final: false,
    band: job.band,
    submittedAtMs: job.submittedAtMs,
    startedAtMs: null,
    finishedAtMs: null,
    exitCode: null,
    cause: null,
    waiting: null,
    currentAttempt: -1,
    insertion: index,
    failureCount: 0,
    preemptionCount: 0,
    claim: null,
    ...part,
  };
}

export function makeAttempt(task: Task, number = 0, part: Partial<Attempt> = {}): Attempt {
  return {
    uid: randomBytes(8).toString('hex'),
    taskId: task.id,
    jobId: task.jobId,
    number,
    state: 'ASSIGNED',
    backendId: 'local',
    workerId: 'here',
    createdAtMs: startMs,
    startedAtMs: null,
    finishedAtMs: null,
    durationMs: null,
    exitCode: null,
    signal: null,
    cause: null,
    warnings: [],
    devices: [],
    cpuMillicores: 100,
    memoryBytes: 1_000_000_000,
    ports: {},
    peakMemoryBytes: null,
    pid: null,
    checkpointAtMs: null,
    noticeAtMs: null,
    evictableBy: null,
    ...part,
  };
}

export function changes(part: Partial<ChangeSet>): ChangeSet {
  return {
    jobs: [],
    tasks: [],
    attempts: [],
    budgets: [],
    uses: [],
    machines: [],
    audit: [],
    inbox: [],
    receipts: [],
    meta: {},
    ...part,
  };
}

export interface Folder {
  readonly path: string;
  readonly database: string;
  remove(): void;
}

export function makeFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'iris-store-'));
  return {
    path,
    database: join(path, 'iris.db'),
    remove: () => {
      rmSync(path, { recursive: true, force: true });
    },
  };
}

export function openTestStore(path: string, part: { log?: StoreLog; nowMs?: () => number } = {}): Store {
  return openStore({
    path,
    nowMs: part.nowMs ?? (() => startMs),
    log: part.log ?? silent,
    appVersion: '0.1.0',
  });
}

/** The change sets of a one-task job that runs once and succeeds: submission, assignment, start, end. */
export function lifeOfJob(id: string): ChangeSet[] {
  const job = makeJob(id);
  const task = makeTask(job, 0, { insertion: job.submittedAtMs - startMs });
  const attempt = makeAttempt(task);
  const at = job.submittedAtMs + 10;
  const audit = (action: ChangeSet['audit'][number]['action'], entity: string) => ({
    atMs: at,
    actor: 'controller',
    action,
    entity,
    detail: { job: id },
  });
  const running: Job = { ...job, state: 'RUNNING', startedAtMs: at };
  const assigned: Task = { ...task, state: 'ASSIGNED', currentAttempt: 0 };
  const started: Task = { ...assigned, state: 'RUNNING', startedAtMs: at };
  const ended = { state: 'SUCCEEDED', finishedAtMs: at + 5, exitCode: 0 } as const;
  return [
    changes({
      jobs: [job],
      tasks: [task],
      audit: [audit('job_submitted', id)],
      receipts: [
        { requestId: `request-${id}`, atMs: at, answer: { jobId: id, existed: false, warnings: [] } },
      ],
      meta: { lastSubmissionMs: job.submittedAtMs, nextInsertion: task.insertion + 1 },
    }),
    changes({
      jobs: [running],
      tasks: [assigned],
      attempts: [attempt],
      audit: [audit('task_assigned', task.id)],
    }),
    changes({
      tasks: [started],
      attempts: [{ ...attempt, state: 'RUNNING', startedAtMs: at, pid: 4711 }],
      audit: [audit('attempt_started', `${task.id}:0`)],
    }),
    changes({
      jobs: [{ ...running, ...ended }],
      tasks: [{ ...started, ...ended, final: true }],
      attempts: [{ ...attempt, ...ended, startedAtMs: at, pid: 4711, durationMs: 4.25 }],
      audit: [audit('attempt_ended', `${task.id}:0`), audit('job_completed', id)],
      inbox: [{ jobId: id, jobName: job.name, state: 'SUCCEEDED', cause: null, atMs: at + 5, durationMs: 5 }],
    }),
  ];
}

/** Several change sets as one, in their order. */
export function together(sets: readonly ChangeSet[]): ChangeSet {
  return {
    jobs: sets.flatMap((set) => set.jobs),
    tasks: sets.flatMap((set) => set.tasks),
    attempts: sets.flatMap((set) => set.attempts),
    budgets: sets.flatMap((set) => set.budgets),
    uses: sets.flatMap((set) => set.uses),
    machines: sets.flatMap((set) => set.machines),
    audit: sets.flatMap((set) => set.audit),
    inbox: sets.flatMap((set) => set.inbox),
    receipts: sets.flatMap((set) => set.receipts),
    meta: Object.assign({}, ...sets.map((set) => set.meta)) as Record<string, number>,
  };
}
