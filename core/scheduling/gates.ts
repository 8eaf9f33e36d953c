/** Phase 2: who may not start now whatever is free, who never can any more, and when time alone changes that. */
import { isTerminalJobState, type JobState } from '../contract/states.js';
import type { NeverReason, WaitCode } from './decision.js';
import type { Dependency, JobStates, QueuedJob } from './inputs.js';

/** True when neither time nor anything but room can keep it from starting. */
export function isUngated(job: QueuedJob): boolean {
  return (
    !job.held &&
    job.startByMs === null &&
    job.finishByMs === null &&
    job.startNotBeforeMs === null &&
    job.blocked === null &&
    job.dependencies.length === 0
  );
}

/** Null while it can still start in time. A deadline is kept by who ends exactly at it. */
export function neverReason(job: QueuedJob, nowMs: number, states: JobStates): NeverReason | null {
  const { startByMs, finishByMs, limitMs } = job;
  if (startByMs !== null && nowMs >= startByMs) return { kind: 'start-by', startByMs, nowMs };
  if (finishByMs !== null && nowMs + (limitMs ?? 0) > finishByMs)
    return { kind: 'finish-by', finishByMs, nowMs, limitMs: limitMs ?? 0 };
  for (const { jobId, on } of job.dependencies) {
    const state = states(jobId);
    if (dependencyVerdict({ jobId, on }, state) === 'never')
      return { kind: 'dependency', jobId, on, state: state ?? 'unknown' };
  }
  return null;
}

/** What keeps the whole job from starting; null when nothing does. */
export function gateOf(job: QueuedJob, nowMs: number, states: JobStates): WaitCode | null {
  if (job.held) return 'held';
  if (job.startNotBeforeMs !== null && nowMs < job.startNotBeforeMs) return 'not-before';
  for (const dependency of job.dependencies) {
    if (dependencyVerdict(dependency, states(dependency.jobId)) !== 'met') return 'dependency';
  }
  return job.blocked === null ? null : 'blocked';
}

/** A job nobody knows any more has ended; how, nobody can say. */
function dependencyVerdict(dependency: Dependency, state: JobState | undefined): 'met' | 'waits' | 'never' {
  if (state === undefined) return dependency.on === 'end' ? 'met' : 'never';
  if (!isTerminalJobState(state)) return 'waits';
  if (dependency.on === 'end') return 'met';
  return (state === 'SUCCEEDED') === (dependency.on === 'success') ? 'met' : 'never';
}

/** The next time after `nowMs` at which one of the job's gates opens or a deadline passes; Infinity for none. */
export function nextGateMs(job: QueuedJob, nowMs: number): number {
  let next = Number.POSITIVE_INFINITY;
  const { startNotBeforeMs, startByMs, finishByMs, limitMs } = job;
  if (startNotBeforeMs !== null && startNotBeforeMs > nowMs) next = startNotBeforeMs;
  if (startByMs !== null && startByMs > nowMs) next = Math.min(next, startByMs);
  if (finishByMs !== null) {
    const lastStart = finishByMs - (limitMs ?? 0) + 1;
    if (lastStart > nowMs) next = Math.min(next, lastStart);
  }
  return next;
}

/**
 * The circle a new job would close, from it back to it; null when there is none. Jobs are asked for their dependencies by id, unknown
 * ones have none.
 */
export function dependencyCycle(
  jobId: string,
  dependencies: readonly Dependency[],
  dependenciesOf: (jobId: string) => readonly Dependency[],
): readonly string[] | null {
  const seen = new Set<string>();
  const walk = (id: string, next: readonly Dependency[]): string[] | null => {
    for (const { jobId: other } of next) {
      if (other === jobId) return [id, other];
      if (seen.has(other)) continue;
      seen.add(other);
      const found = walk(other, dependenciesOf(other));
      if (found !== null) return [id, ...found];
    }
    return null;
  };
  return walk(jobId, dependencies);
}
