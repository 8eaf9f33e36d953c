/** Exit codes of irisctl, as `timeout`, `env` and shells have them. */
import { constants } from 'node:os';
import type { CauseCode, JobSummary, TaskView } from '../../core/contract/views.js';

export const exitCodes = {
  ok: 0,
  /** The host answers, but not as hoped: `status` finds no host. */
  notRunning: 1,
  /** A recorded round comes out differently. */
  differs: 1,
  timeLimit: 124,
  /** irisctl or the controller refused, or the job never ran the command. */
  refused: 125,
  notExecutable: 126,
  notFound: 127,
  hangup: 129,
  interrupted: 130,
  killed: 137,
  brokenPipe: 141,
  terminated: 143,
} as const;

/** Causes that have a code of their own whatever the attempt's exit code says. */
const byCause: Partial<Record<CauseCode, number>> = {
  TIME_LIMIT: exitCodes.timeLimit,
  PROGRAM_NOT_FOUND: exitCodes.notFound,
  PROGRAM_NOT_EXECUTABLE: exitCodes.notExecutable,
  MEMORY_LIMIT: exitCodes.killed,
};

/** 128 + n of a signal by name; undefined when the system has no such signal. */
export function signalExitCode(signal: string): number | undefined {
  const number = (constants.signals as Readonly<Record<string, number>>)[signal];
  return number === undefined ? undefined : 128 + number;
}

/** The exit code of a job that has ended: the first failed task's own, by index. */
export function jobExitCode(summary: JobSummary, tasks: readonly TaskView[]): number {
  if (summary.state === 'SUCCEEDED') return exitCodes.ok;
  const byIndex = [...tasks].sort((left, right) => left.index - right.index);
  // Tasks ended because the job did say nothing about why it did.
  const task =
    byIndex.find((candidate) => candidate.state === 'FAILED') ??
    byIndex.find((candidate) => candidate.state !== 'SUCCEEDED');
  const attempt = task?.attempts.at(-1);
  const cause = attempt?.cause ?? task?.cause ?? summary.cause;
  const special = cause === null ? undefined : byCause[cause.code];
  if (special !== undefined) return special;
  if (attempt?.signal !== null && attempt?.signal !== undefined) {
    const code = signalExitCode(attempt.signal);
    if (code !== undefined) return code;
  }
  const code = attempt?.exitCode ?? task?.exitCode ?? summary.exitCode;
  if (code !== null && code !== 0) return code;
  if (summary.state === 'KILLED') return exitCodes.terminated;
  return exitCodes.refused;
}
