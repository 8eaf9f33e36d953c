/** How the end of a job, and what it waits for, is told. */
import type { JobSummary, TaskView } from '../../core/contract/views.js';
import { jobExitCode } from './exit-codes.js';
import type { WatchedJob } from './job-watch.js';

/** One sentence about a job that did not succeed; null for one that did. */
export function endSentence(summary: JobSummary): string | null {
  if (summary.state === 'SUCCEEDED') return null;
  const cause = summary.cause === null ? 'no cause was recorded' : summary.cause.message;
  return `${summary.id} ${summary.state}: ${cause}`;
}

/** What was noticed of its attempts besides how they ended: a log that may be cut, say. Once each. */
export function warningSentences(tasks: Iterable<TaskView>): readonly string[] {
  const sentences = new Set<string>();
  for (const task of tasks) {
    for (const attempt of task.attempts) {
      const name = `${attempt.taskId}${attempt.number === 0 ? '' : `:${attempt.number}`}`;
      for (const warning of attempt.warnings) sentences.add(`warning: ${name}: ${warning.message}`);
    }
  }
  return [...sentences];
}

/** One sentence about a job that has not started. */
export function waitSentence(summary: JobSummary): string {
  // The reason is a sentence of its own in lists.
  const why = summary.waiting?.message.replace(/^Waits: /, '') ?? 'it has not been looked at yet';
  return `${summary.id} waits: ${why}`;
}

/** The end of a job for programs. */
export interface JobEnd {
  readonly jobId: string;
  readonly state: JobSummary['state'];
  readonly exitCode: number;
  readonly cause: JobSummary['cause'];
}

export function jobEnd(job: WatchedJob): JobEnd {
  const { summary } = job;
  return {
    jobId: summary.id,
    state: summary.state,
    exitCode: jobExitCode(summary, [...job.tasks.values()]),
    cause: summary.cause,
  };
}
