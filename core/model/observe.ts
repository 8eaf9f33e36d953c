/** What backends report about attempts, applied to the rows. Reports may come late, twice, out of order or about what is over. */
import { isActiveTaskState, type AttemptState } from '../contract/states.js';
import type { AttemptUsage } from '../contract/usage.js';
import type { Cause } from '../contract/views.js';
import { logCutCodes } from '../formats/log-cut.js';
import { auditAttempt, endAttempt, isTerminalAttempt, type EndState } from './attempt-end.js';
import type { Draft } from './draft.js';
import { exitCodeOfSignal } from './exit-codes.js';
import { controllerActor, type Attempt, type Task } from './entities.js';
import { tellOwner } from './owner-warnings.js';

/** One attempt as a backend saw it. A terminal state, or MISSING, says that nothing of it lives any more. */
export interface Observation {
  readonly uid: string;
  readonly state: Exclude<AttemptState, 'ASSIGNED' | 'COSCHED_FAILED'> | 'MISSING';
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly durationMs: number | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Of a terminal report only. */
  readonly cause: Cause | null;
  /** All that the backend has noticed of it so far besides how it ended. */
  readonly warnings: readonly Cause[];
  readonly peakMemoryBytes: number | null;
  readonly pid: number | null;
  /** When it last told of a checkpoint; absent or null: nothing known. */
  readonly checkpointAtMs?: number | null | undefined;
  /** Absent: nothing new measured. */
  readonly usage?: AttemptUsage | undefined;
}

/**
 * `applied`: rows changed state; `finished`: an attempt that was over is now verified gone; `unchanged`: nothing new;
 * `unknown`: no such attempt (to be logged); `stale`: of an attempt that is over, ignored.
 */
export type ObserveOutcome = 'applied' | 'finished' | 'unchanged' | 'unknown' | 'stale';

type TerminalReport = Extract<Observation['state'], EndState> | 'MISSING';

function isTerminalReport(state: Observation['state']): state is TerminalReport {
  return state !== 'BUILDING' && state !== 'RUNNING';
}

export function observe(draft: Draft, observation: Observation, nowMs: number): ObserveOutcome {
  const attempt = draft.attempt(observation.uid);
  const task = attempt === undefined ? undefined : draft.task(attempt.taskId);
  if (attempt === undefined || task === undefined) return 'unknown';
  const { state } = observation;
  if (isTerminalAttempt(attempt)) {
    if (attempt.finishedAtMs !== null) return 'stale';
    // Over for its task while its processes may live: what is noticed of them still counts.
    const warned = withCheckpoint(addWarnings(draft, attempt, observation.warnings, nowMs), observation);
    if (isTerminalReport(state)) return verifyGone(draft, warned, observation, nowMs);
    if (warned === attempt) return 'stale';
    draft.putAttempt(warned);
    return 'applied';
  }
  // An attempt that is not over is always its active task's current one; anything else would be a fault of ours.
  if (task.currentAttempt !== attempt.number || !isActiveTaskState(task.state)) return 'stale';
  if (!isTerminalReport(state)) return progress(draft, attempt, task, state, observation, nowMs);
  const startedAtMs =
    attempt.startedAtMs ?? observation.startedAtMs ?? (state === 'SUCCEEDED' ? attempt.createdAtMs : null);
  if (attempt.startedAtMs === null && startedAtMs !== null) auditStart(draft, attempt, nowMs);
  const seen: Attempt = {
    ...merge(addWarnings(draft, attempt, observation.warnings, nowMs), observation),
    startedAtMs,
    finishedAtMs: observation.finishedAtMs ?? nowMs,
  };
  const ending: EndState = state === 'MISSING' ? 'WORKER_FAILED' : state;
  const ended: Attempt = ending === 'SUCCEEDED' ? { ...seen, exitCode: seen.exitCode ?? 0 } : seen;
  if (startedAtMs !== null)
    noteStart(draft, { ...task, startedAtMs: task.startedAtMs ?? startedAtMs }, startedAtMs, nowMs);
  const cause = ending === 'SUCCEEDED' ? null : (observation.cause ?? defaultCause(ending, ended));
  endAttempt(draft, withoutSaid(ended, cause, observation.warnings), {
    state: ending,
    nowMs,
    actor: controllerActor,
    cause,
    mayRetry: cause?.code !== 'TIME_LIMIT',
  });
  return 'applied';
}

/** Applies a batch in order; earlier items are visible to later ones. */
export function observeAll(
  draft: Draft,
  batch: readonly Observation[],
  nowMs: number,
): readonly ObserveOutcome[] {
  return batch.map((observation) => observe(draft, observation, nowMs));
}

function progress(
  draft: Draft,
  attempt: Attempt,
  task: Task,
  reported: 'BUILDING' | 'RUNNING',
  observation: Observation,
  nowMs: number,
): ObserveOutcome {
  // Reports may overtake each other: an attempt that runs does not go back to being built.
  const state = attempt.state === 'RUNNING' ? 'RUNNING' : reported;
  const startedAtMs = attempt.startedAtMs ?? observation.startedAtMs ?? nowMs;
  const pid = observation.pid ?? attempt.pid;
  if (attempt.startedAtMs === null) auditStart(draft, attempt, nowMs);
  const noticed = withCheckpoint(addWarnings(draft, attempt, observation.warnings, nowMs), observation);
  const warned = withUsage(noticed, observation);
  if (
    state === attempt.state &&
    startedAtMs === attempt.startedAtMs &&
    pid === attempt.pid &&
    warned === attempt
  )
    return 'unchanged';
  draft.putAttempt({ ...warned, state, startedAtMs, pid });
  noteStart(draft, { ...task, state, startedAtMs: task.startedAtMs ?? startedAtMs }, startedAtMs, nowMs);
  return 'applied';
}

/**
 * Takes over what is new. Of each code the last message stays, and only the first is worth an audit row: what goes on is said again
 * with other figures. The same attempt when nothing is new.
 */
function addWarnings(draft: Draft, attempt: Attempt, warnings: readonly Cause[], nowMs: number): Attempt {
  let kept = attempt.warnings;
  for (const warning of warnings) {
    const before = kept.find(({ code }) => code === warning.code);
    if (before?.message === warning.message) continue;
    if (before === undefined) {
      kept = [...kept, warning];
      auditAttempt(draft, attempt, 'attempt_warned', nowMs, { ...warning });
      tellOwner(draft, attempt, warning, nowMs);
    } else {
      kept = kept.map((each) => (each === before ? warning : each));
    }
  }
  return kept === attempt.warnings ? attempt : { ...attempt, warnings: kept };
}

/**
 * What was only the beginning of what it ended by, and is told with its end no more, is said by the cause; but where a log may be cut is said by
 * its warning alone, which a host that began later does not know of.
 */
function withoutSaid(attempt: Attempt, cause: Cause | null, told: readonly Cause[]): Attempt {
  const isSaid = ({ code }: Cause): boolean =>
    code === cause?.code && !logCutCodes.has(code) && !told.some((warning) => warning.code === code);
  return attempt.warnings.some(isSaid)
    ? { ...attempt, warnings: attempt.warnings.filter((warning) => !isSaid(warning)) }
    : attempt;
}

/**
 * The same attempt when it told of none later than the one known. None was before the start: files get the time of the kernel's last
 * tick, which may be some milliseconds back.
 */
function withCheckpoint(attempt: Attempt, { checkpointAtMs: told }: Observation): Attempt {
  if (told === null || told === undefined) return attempt;
  const checkpointAtMs = Math.max(told, attempt.startedAtMs ?? told);
  return checkpointAtMs <= (attempt.checkpointAtMs ?? Number.NEGATIVE_INFINITY)
    ? attempt
    : { ...attempt, checkpointAtMs };
}

/** The same attempt when nothing new was measured. */
function withUsage(attempt: Attempt, { usage, peakMemoryBytes: peak }: Observation): Attempt {
  if (usage === undefined) return attempt;
  const peakMemoryBytes = higher(attempt.peakMemoryBytes, peak);
  return JSON.stringify(usage) === JSON.stringify(attempt.usage) &&
    peakMemoryBytes === attempt.peakMemoryBytes
    ? attempt
    : { ...attempt, usage, peakMemoryBytes };
}

/** Who measures may have begun in the midst of it, as after a restart of ours. */
function higher(before: number | null, now: number | null): number | null {
  return before === null || now === null ? (before ?? now) : Math.max(before, now);
}

/** Also of an attempt whose first report is its end: a short command is over before its start was told. */
function auditStart(draft: Draft, attempt: Attempt, nowMs: number): void {
  auditAttempt(draft, attempt, 'attempt_started', nowMs);
}

/** Writes the task and, when this is the first start of the whole job, the job. */
function noteStart(draft: Draft, task: Task, startedAtMs: number, nowMs: number): void {
  draft.putTask(task);
  const job = draft.job(task.jobId);
  if (job === undefined || job.startedAtMs !== null) return;
  draft.putJob({ ...job, startedAtMs });
  draft.audit(nowMs, controllerActor, 'job_started', job.id, { task: task.id });
}

/** Fills in what is not known yet; what was recorded before stays. */
function merge(attempt: Attempt, observation: Observation): Attempt {
  const signal = attempt.signal ?? observation.signal;
  const exitCode =
    attempt.exitCode ?? observation.exitCode ?? (signal === null ? null : exitCodeOfSignal(signal));
  return {
    ...withUsage(withCheckpoint(attempt, observation), observation),
    startedAtMs: attempt.startedAtMs ?? observation.startedAtMs,
    durationMs: attempt.durationMs ?? observation.durationMs,
    exitCode,
    signal,
    peakMemoryBytes: higher(attempt.peakMemoryBytes, observation.peakMemoryBytes),
    pid: attempt.pid ?? observation.pid,
  };
}

/** The second step of an end that was ours: its processes are gone, so its capacity is free. Neither state nor cause changes. */
function verifyGone(draft: Draft, attempt: Attempt, observation: Observation, nowMs: number): ObserveOutcome {
  const gone: Attempt = { ...merge(attempt, observation), finishedAtMs: observation.finishedAtMs ?? nowMs };
  draft.putAttempt(gone);
  // The attempt keeps the reading of the end that was ours; how its command left is told here.
  auditAttempt(draft, attempt, 'attempt_verified_gone', nowMs, {
    reported: observation.state,
    ...(observation.exitCode === null ? {} : { exitCode: observation.exitCode }),
    ...(observation.signal === null ? {} : { signal: observation.signal }),
  });
  return 'finished';
}

function defaultCause(state: EndState, attempt: Attempt): Cause {
  if (state === 'FAILED') {
    if (attempt.signal !== null) return { code: 'SIGNALED', message: `Ended by ${attempt.signal}.` };
    if (attempt.exitCode !== null)
      return { code: 'EXIT_CODE', message: `Ended with exit code ${attempt.exitCode}.` };
    return { code: 'UNKNOWN', message: 'It failed, and nothing was recorded about why.' };
  }
  if (state === 'PREEMPTED') return { code: 'PREEMPTED', message: `Preempted on ${attempt.workerId}.` };
  if (state === 'KILLED') {
    return { code: 'UNKNOWN', message: `Killed on ${attempt.workerId} by something other than Iris.` };
  }
  return {
    code: 'WORKER_LOST',
    message: `Its processes on ${attempt.workerId} are gone and left no exit status.`,
  };
}
