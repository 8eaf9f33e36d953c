/** A controller's memory and a stand-in for its database, for tests: every step is settled, committed, applied and checked. */
import { noQuota } from '../contract/budgets.js';
import { parseJobRequest, type JobRequest, type JobSpec } from '../contract/job-request.js';
import { isTerminalTaskState, taskStates } from '../contract/states.js';
import type { Result } from '../contract/errors.js';
import { holdsCapacity } from './capacity.js';
import { Draft, ModelState } from './draft.js';
import type { Attempt, ChangeSet, Job, Task, UserBudget } from './entities.js';
import { nameKey } from './names.js';
import { sameTally } from './tally.js';
import {
  assign,
  cancel,
  observe,
  settle,
  submit,
  type Assignment,
  type Cancelled,
  type Observation,
  type ObserveOutcome,
  type Submission,
  type Submitted,
} from './transitions.js';

const startMs = 1_700_000_000_000;

export function specOf(request: Partial<JobRequest> = {}): JobSpec {
  const parsed = parseJobRequest({ command: ['true'], workingDirectory: '/tmp', ...request });
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return parsed.value;
}

export function report<S extends Observation['state']>(
  uid: string,
  state: S,
  more: Partial<Omit<Observation, 'state'>> & { readonly state?: S } = {},
): Observation & { readonly state: S } {
  return {
    uid,
    state,
    startedAtMs: null,
    finishedAtMs: null,
    durationMs: null,
    exitCode: null,
    signal: null,
    cause: null,
    warnings: [],
    peakMemoryBytes: null,
    pid: null,
    ...more,
  };
}

export class World {
  readonly jobs = new Map<string, Job>();
  readonly tasks = new Map<string, Task>();
  readonly attempts = new Map<string, Attempt>();
  readonly changes: ChangeSet[] = [];
  readonly state = new ModelState({
    job: (id) => this.jobs.get(id),
    latestNamed: (user, parentId, name) =>
      [...this.jobs.values()]
        .filter((job) => nameKey(job.user, job.parentId, job.name) === nameKey(user, parentId, name))
        .sort((left, right) => left.submittedAtMs - right.submittedAtMs)
        .at(-1),
    receipt: () => undefined,
  });
  nowMs = startMs;
  private uids = 0;
  private suffixes = 0;

  /** `ann` may ask for every band. */
  constructor() {
    this.setBudget('ann', { allow: ['SYSTEM', 'PRODUCTION'] });
    this.changes.pop();
  }

  setBudget(user: string, row: Partial<UserBudget>): void {
    const base = {
      limit: 'default',
      maxBand: 'INTERACTIVE',
      allow: [],
      quota: noQuota,
      updatedAtMs: startMs,
    } as const;
    this.commit({ ...new Draft(this.state).changeSet(), budgets: [{ user, ...base, ...row }] });
  }

  /** Runs transitions as one batch. */
  step<T>(work: (draft: Draft) => T): T {
    const draft = new Draft(this.state);
    const result = work(draft);
    settle(draft, this.nowMs);
    this.commit(draft.changeSet());
    return result;
  }

  commit(change: ChangeSet): void {
    this.changes.push(change);
    for (const job of change.jobs) this.jobs.set(job.id, job);
    for (const task of change.tasks) this.tasks.set(task.id, task);
    for (const attempt of change.attempts) this.attempts.set(attempt.uid, attempt);
    this.state.apply(change);
  }

  trySubmit(request: Partial<JobRequest> = {}, more: Partial<Submission> = {}): Result<Submitted> {
    this.suffixes += 1;
    return this.step((draft) =>
      submit(draft, {
        spec: specOf(request),
        user: 'ann',
        submittedBy: 'ann',
        nowMs: this.nowMs,
        suffix: `s${this.suffixes}`,
        retryOf: null,
        ...more,
      }),
    );
  }

  submit(request: Partial<JobRequest> = {}, more: Partial<Submission> = {}): string {
    const result = this.trySubmit(request, more);
    if (!result.ok) throw new Error(result.refusal.message);
    return result.value.jobId;
  }

  tryAssign(taskId: string, workerId = 'w1', more: Partial<Assignment> = {}): Result<Attempt> {
    this.uids += 1;
    return this.step((draft) =>
      assign(draft, {
        taskId,
        workerId,
        backendId: 'local',
        uid: this.uids.toString(16).padStart(16, '0'),
        devices: [],
        band: 'INTERACTIVE',
        ports: {},
        nowMs: this.nowMs,
        worker: null,
        ...more,
      }),
    );
  }

  /** Assigns and returns the attempt's uid. */
  assign(taskId: string, workerId = 'w1'): string {
    const result = this.tryAssign(taskId, workerId);
    if (!result.ok) throw new Error(result.refusal.message);
    return result.value.uid;
  }

  observe(uid: string, state: Observation['state'], more: Partial<Observation> = {}): ObserveOutcome {
    return this.step((draft) => observe(draft, report(uid, state, more), this.nowMs));
  }

  /** Assigns a task and reports it as running; returns the uid. */
  run(taskId: string, workerId = 'w1'): string {
    const uid = this.assign(taskId, workerId);
    this.observe(uid, 'RUNNING');
    return uid;
  }

  cancel(jobId: string): Result<Cancelled> {
    return this.step((draft) => cancel(draft, jobId, { actor: 'ann', nowMs: this.nowMs }));
  }

  job(id: string): Job {
    const job = this.jobs.get(id);
    if (job === undefined) throw new Error(`no job ${id}`);
    return job;
  }

  task(id: string): Task {
    const task = this.tasks.get(id);
    if (task === undefined) throw new Error(`no task ${id}`);
    return task;
  }

  attempt(uid: string): Attempt {
    const attempt = this.attempts.get(uid);
    if (attempt === undefined) throw new Error(`no attempt ${uid}`);
    return attempt;
  }

  /** States of a job's tasks by index. */
  taskStates(jobId: string): string[] {
    return this.state.tasksOf(jobId).map((task) => task.state);
  }

  /** Every audit action so far, in order. */
  actions(): string[] {
    return this.changes.flatMap((change) => change.audit.map((entry) => entry.action));
  }

  inbox(): string[] {
    return this.changes.flatMap((change) => change.inbox.map((entry) => `${entry.jobId} ${entry.state}`));
  }

  /** Compares what is kept up to date step by step with the same built anew from the rows. Returns what differs. */
  differences(): string[] {
    const fresh = new ModelState();
    const warm = [...this.jobs.values()].filter((job) => this.state.job(job.id) !== undefined);
    const ids = new Set(warm.map((job) => job.id));
    fresh.apply({
      jobs: warm,
      tasks: [...this.tasks.values()].filter((task) => ids.has(task.jobId)),
      attempts: [...this.attempts.values()].filter((attempt) => ids.has(attempt.jobId)),
      budgets: [],
      uses: [...this.state.uses()],
      machines: [...this.state.machines()].map((machine) => ({ id: machine.id, machine })),
      audit: [],
      inbox: [],
      receipts: [],
      meta: {},
    });
    const problems: string[] = [];
    const same = (what: string, left: unknown, right: unknown) => {
      const [a, b] = [JSON.stringify(left), JSON.stringify(right)];
      if (a !== b) problems.push(`${what}: ${a} is not ${b}`);
    };
    same('next deadline', this.state.nextDeadlineMs(), fresh.nextDeadlineMs());
    same('pending', pendingOf(this.state), pendingOf(fresh));
    same('unfinished', uidsOf(this.state), uidsOf(fresh));
    for (const worker of ['w1', 'w2'])
      same(`used ${worker}`, usedOf(this.state, worker), usedOf(fresh, worker));
    for (const { submittedBy } of warm) {
      same('open', this.state.openTasks(submittedBy), fresh.openTasks(submittedBy));
    }
    for (const { id } of warm) {
      if (!sameTally(this.state.tally(id), fresh.tally(id))) problems.push(`tally of ${id}`);
      same(`tasks of ${id}`, this.state.tasksOf(id), fresh.tasksOf(id));
      same(`children of ${id}`, this.state.childrenOf(id).map(idOf), fresh.childrenOf(id).map(idOf));
    }
    return problems;
  }

  /** Rules that hold whatever happened. Returns what is broken. */
  violations(): string[] {
    const problems = this.differences();
    for (const task of this.tasks.values()) {
      if (!taskStates.includes(task.state)) problems.push(`${task.id}: state ${task.state}`);
      if (task.final !== isTerminalTaskState(task.state))
        problems.push(`${task.id}: final and ${task.state} differ`);
      const attempts = [...this.attempts.values()].filter((attempt) => attempt.taskId === task.id);
      const failures = attempts.filter((attempt) => attempt.state === 'FAILED').length;
      if (task.failureCount !== failures)
        problems.push(`${task.id}: ${task.failureCount} failures counted, ${failures} seen`);
      if (attempts.length !== task.currentAttempt + 1)
        problems.push(`${task.id}: attempts not numbered without gap`);
      for (const attempt of attempts) {
        const active = !isTerminalTaskState(attempt.state);
        if (active && attempt.number !== task.currentAttempt)
          problems.push(`${attempt.uid}: active, not current`);
        if (active && attempt.state !== task.state)
          problems.push(`${attempt.uid}: ${attempt.state} in ${task.state}`);
      }
      for (const cause of [task.cause, ...attempts.map((attempt) => attempt.cause)])
        if (stateCode.test(cause?.message ?? '')) problems.push(`${task.id}: a code in "${cause?.message}"`);
      if (attempts.filter(holdsCapacity).length > 1) problems.push(`${task.id}: two attempts may live`);
    }
    return problems;
  }
}

/** A cause is read by a person. */
const stateCode = new RegExp(`\\b(${taskStates.join('|')})\\b`);

function idOf(job: Job): string {
  return job.id;
}

export function pendingOf(state: ModelState): string[] {
  const tasks = [...state.jobIds()].flatMap((id) => state.tasksOf(id));
  return tasks
    .filter((task) => state.isPlaceable(task))
    .map(({ id }) => id)
    .sort();
}

function uidsOf(state: ModelState): string[] {
  return [...state.unfinishedAttempts()].map((attempt) => attempt.uid).sort();
}

function usedOf(state: ModelState, workerId: string): unknown {
  const { devices, ...rest } = state.used(workerId);
  return { ...rest, devices: [...devices].sort() };
}
