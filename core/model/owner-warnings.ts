/** Warnings that its owner is told of while a job still runs: others wait for cards it leaves idle, or are on one of its own. */
import type { Cause } from '../contract/views.js';
import type { Draft } from './draft.js';
import type { Attempt } from './entities.js';

const told: ReadonlySet<Cause['code']> = new Set<Cause['code']>(['GPU_IDLE', 'GPU_INTRUDER']);

/** For a warning that is new to the attempt. Once a job and kind, however many of its tasks have it, and however often they ran. */
export function tellOwner(draft: Draft, attempt: Attempt, warning: Cause, nowMs: number): void {
  if (!told.has(warning.code)) return;
  const job = draft.job(attempt.jobId);
  if (job === undefined || job.finishedAtMs !== null) return;
  const known = draft
    .tasksOf(job.id)
    .some(({ id }) =>
      draft.attemptsOf(id).some(({ warnings }) => warnings.some(({ code }) => code === warning.code)),
    );
  if (known) return;
  draft.inbox({
    jobId: job.id,
    jobName: job.name,
    state: job.state,
    cause: warning,
    atMs: nowMs,
    durationMs: null,
  });
}
