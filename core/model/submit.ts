/** Submission of a job: names and existing jobs, children's rules, bounds, the rows of the job and its tasks. */
import { jobLimits, type DependencyWish, type JobSpec } from '../contract/job-request.js';
import { stateClause } from '../contract/state-words.js';
import { isTerminalJobState } from '../contract/states.js';
import { ok, refuse, type Result } from '../contract/errors.js';
import { checkSubmittedBand } from './budgets.js';
import { cancel } from './cancel.js';
import { checkContainerProfile } from './container-rights.js';
import type { Draft } from './draft.js';
import type { Job, Task } from './entities.js';
import { checkNamePart, depthOf, generatedName, jobIdOf, suffixedName, taskIdOf } from './names.js';
import { openCount } from './tally.js';
import { metaKeys } from './view.js';

/** Tasks one identity may have that are not over. */
export const maxOpenTasks = 16_000;

export interface Submission {
  readonly spec: JobSpec;
  /** Owner: first part of the path. */
  readonly user: string;
  /** The authenticated identity; a child takes its root's. */
  readonly submittedBy: string;
  readonly nowMs: number;
  /** Random, of letters and digits. */
  readonly suffix: string;
  /** Id of the job this one runs again, or null. */
  readonly retryOf: string | null;
  /** The identity administers the cluster. */
  readonly mayManage?: boolean | undefined;
}

export interface Submitted {
  readonly jobId: string;
  /** The KEEP policy gave back a job that was there. */
  readonly existed: boolean;
}

/**
 * A name asked for again never costs history: while its last run is unfinished the policy decides (UNSPECIFIED and ERROR refuse,
 * KEEP returns it, RECREATE cancels it); else, and when a job is run again, the new one keeps the name but gets the path
 * `<name>-<suffix>`. A name stands for its newest run. A run waits until nothing lives of an ended run before it.
 */
export function submit(draft: Draft, submission: Submission): Result<Submitted> {
  const { spec, nowMs, suffix } = submission;
  const user = checkNamePart('user', submission.user, false);
  if (!user.ok) return user;
  const parent = spec.parent === null ? ok(null) : findParent(draft, spec.parent, submission.user);
  if (!parent.ok) return parent;
  const parentId = parent.value?.id ?? null;
  const name = checkNamePart('name', spec.name ?? generatedName(spec.command, suffix), parentId !== null);
  if (!name.ok) return name;

  const previous = spec.name === null ? undefined : previousRun(draft, submission.user, parentId, name.value);
  if (previous !== undefined && submission.retryOf === null) {
    const decided = applyPolicy(submission, previous);
    if (decided !== null) return decided;
  }

  const band = checkSubmittedBand(draft, spec, parent.value, submission);
  if (!band.ok) return band;
  const profile = checkContainerProfile(spec, submission);
  if (!profile.ok) return profile;
  const submittedBy = parent.value?.submittedBy ?? submission.submittedBy;
  const replicasRight = spec.replicas >= 1 && spec.replicas <= jobLimits.maxReplicas;
  const tasks = replicasRight ? spec.replicas : 0;
  const replaced =
    previous !== undefined && spec.existingJobPolicy === 'RECREATE' && submission.retryOf === null;
  // What it takes the place of ends with it.
  const open = draft.openTasks(submittedBy) - (replaced ? openOf(draft, previous, submittedBy) : 0);
  if (open + tasks > maxOpenTasks) {
    return refuse(
      'RESOURCE_EXHAUSTED',
      `${submittedBy} has ${open} unfinished tasks; ${tasks} more would pass the limit of ${maxOpenTasks}. ` +
        'Wait for some to end, or stop some.',
    );
  }
  const dependencies = resolveDependencies(draft, spec, submission.user, parent.value);
  if (!dependencies.ok) return dependencies;
  if (replaced && !isTerminalJobState(previous.state)) {
    const cancelled = cancel(draft, previous.id, {
      actor: submission.submittedBy,
      nowMs,
      message: `Replaced by a new run of ${name.value}.`,
    });
    if (!cancelled.ok) return cancelled;
  }

  const id = freeId(draft, submission.user, parentId, name.value, suffix);
  const submittedAtMs = Math.max(nowMs, (draft.meta(metaKeys.lastSubmission) ?? 0) + 1);
  const job: Job = {
    id,
    user: submission.user,
    submittedBy,
    parentId,
    rootId: parent.value?.rootId ?? id,
    depth: depthOf(id),
    name: name.value,
    state: replicasRight ? 'PENDING' : 'FAILED',
    band: band.value,
    submittedAtMs,
    rootSubmittedAtMs: parent.value?.rootSubmittedAtMs ?? submittedAtMs,
    startedAtMs: null,
    finishedAtMs: replicasRight ? null : submittedAtMs,
    schedulingDeadlineMs: spec.schedulingTimeoutMs === null ? null : submittedAtMs + spec.schedulingTimeoutMs,
    cause: replicasRight
      ? null
      : {
          code: 'TOO_MANY_REPLICAS',
          message: `Asked for ${spec.replicas} replicas; a job has 1 to ${jobLimits.maxReplicas}.`,
        },
    exitCode: null,
    numTasks: tasks,
    retryOf: submission.retryOf,
    held: spec.held,
    rank: 0,
    spec: spec.dependencies.length === 0 ? spec : { ...spec, dependencies: dependencies.value },
  };
  insert(draft, job, submission.submittedBy, nowMs);
  if (replaced) draft.audit(nowMs, submission.submittedBy, 'job_replaced', previous.id, { by: id });
  return ok({ jobId: id, existed: false });
}

/** Tasks of the job and all below it that are not over and count for that identity. */
function openOf(draft: Draft, job: Job, identity: string): number {
  const own = job.submittedBy === identity ? openCount(draft.tally(job.id)) : 0;
  return draft.childrenOf(job.id).reduce((sum, child) => sum + openOf(draft, child, identity), own);
}

function findParent(draft: Draft, parentId: string, user: string): Result<Job> {
  const parent = draft.findJob(parentId);
  if (parent === undefined) {
    return refuse(
      'FAILED_PRECONDITION',
      `parent: there is no job ${parentId}; a child job needs a parent that is not over.`,
      [{ field: 'parent', value: parentId, expected: 'the path of a job that is not over' }],
    );
  }
  if (parent.user !== user) {
    return refuse('PERMISSION_DENIED', `parent: ${parentId} belongs to ${parent.user}, not to ${user}.`);
  }
  if (isTerminalJobState(parent.state)) {
    return refuse(
      'FAILED_PRECONDITION',
      `parent: ${parentId} has ended (${stateClause[parent.state]}); a child job needs a parent that is not over.`,
      [{ field: 'parent', value: parentId, expected: 'the path of a job that is not over' }],
    );
  }
  return ok(parent);
}

/**
 * Names become paths, of the newest run at the time. Only jobs that exist can be waited for, so a circle can close only through the
 * tree a job is put into: an ancestor does not end before its children have.
 */
function resolveDependencies(
  draft: Draft,
  { dependencies }: JobSpec,
  user: string,
  parent: Job | null,
): Result<JobSpec['dependencies']> {
  const resolved: DependencyWish[] = [];
  for (const [at, { job: asked, on }] of dependencies.entries()) {
    const found = asked.startsWith('/') ? draft.findJob(asked) : draft.latestNamed(user, null, asked);
    const field = `dependencies.${at}.job`;
    if (found === undefined) {
      return refuse('FAILED_PRECONDITION', `${field}: there is no job ${asked} to wait for.`, [
        { field, value: asked, expected: 'the path of a job, or the name of one of your own' },
      ]);
    }
    if (parent !== null && (parent.id === found.id || parent.id.startsWith(`${found.id}/`))) {
      return refuse(
        'FAILED_PRECONDITION',
        `${field}: ${found.id} is above this job and ends only after it; waiting for it would never end.`,
        [{ field, value: asked, expected: 'a job that is not above this one' }],
      );
    }
    resolved.push({ job: found.id, on });
  }
  return ok(resolved);
}

/** The newest run of the name; or, when somebody used a path with a suffix as a name, the job of that path. */
function previousRun(draft: Draft, user: string, parentId: string | null, name: string): Job | undefined {
  return draft.latestNamed(user, parentId, name) ?? draft.findJob(jobIdOf(user, parentId, name));
}

/** Null: go on and make a new job. */
function applyPolicy({ spec }: Submission, previous: Job): Result<Submitted> | null {
  const over = isTerminalJobState(previous.state);
  switch (spec.existingJobPolicy) {
    case 'KEEP':
      return over ? null : ok({ jobId: previous.id, existed: true });
    case 'RECREATE':
      return null;
    case 'UNSPECIFIED':
      return over ? null : alreadyExists(previous);
    case 'ERROR':
      return alreadyExists(previous);
  }
}

function alreadyExists(previous: Job): Result<never> {
  const over = isTerminalJobState(previous.state);
  return refuse(
    'ALREADY_EXISTS',
    `name: ${previous.id} ${over ? `exists (${stateClause[previous.state]})` : `is not over (${stateClause[previous.state]})`}; ` +
      'choose another name, or the policy RECREATE to replace it.',
  );
}

function freeId(draft: Draft, user: string, parentId: string | null, name: string, suffix: string): string {
  let id = jobIdOf(user, parentId, name);
  for (let round = 1; draft.findJob(id) !== undefined; round += 1) {
    id = jobIdOf(user, parentId, suffixedName(name, suffix, round));
  }
  return id;
}

function insert(draft: Draft, job: Job, actor: string, nowMs: number): void {
  draft.putJob(job);
  draft.setMeta(metaKeys.lastSubmission, job.submittedAtMs);
  const first = draft.meta(metaKeys.nextInsertion) ?? 0;
  for (let index = 0; index < job.numTasks; index += 1) draft.putTask(newTask(job, index, first + index));
  draft.setMeta(metaKeys.nextInsertion, first + job.numTasks);
  draft.audit(nowMs, actor, 'job_submitted', job.id, {
    tasks: job.numTasks,
    band: job.band,
    ...(job.retryOf === null ? {} : { retryOf: job.retryOf }),
  });
  if (!isTerminalJobState(job.state)) return;
  draft.audit(nowMs, actor, 'job_completed', job.id, { state: job.state, cause: job.cause?.code });
  if (job.parentId !== null) return;
  draft.inbox({
    jobId: job.id,
    jobName: job.name,
    state: job.state,
    cause: job.cause,
    atMs: nowMs,
    durationMs: null,
  });
}

function newTask(job: Job, index: number, insertion: number): Task {
  return {
    id: taskIdOf(job.id, index),
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
    insertion,
    failureCount: 0,
    preemptionCount: 0,
    claim: null,
  };
}
