/** What may be changed of a job that is not over: holding it, its band, its place among its owner's own. */
import { checkBand, originalDefaultBudget } from '../budget/effective-band.js';
import { chargedIdentity } from '../budget/spend.js';
import { ok, refuse, type Result } from '../contract/errors.js';
import type { JobChange } from '../contract/queue.js';
import { stateClause } from '../contract/state-words.js';
import { isTerminalJobState, type Band } from '../contract/states.js';
import { budgetInForce } from './budgets.js';
import type { Draft } from './draft.js';
import type { Job } from './entities.js';
import { recountUse } from './use.js';

export interface ChangeAsked {
  readonly jobId: string;
  readonly change: JobChange;
  readonly actor: string;
  /** The actor administers the cluster. */
  readonly mayManage: boolean;
  readonly nowMs: number;
  /** Ranks of the owner's other waiting jobs of the band. */
  readonly ranks: (job: Job) => Iterable<number>;
}

/** A change that changes nothing leaves no trace. */
export function changeJob(draft: Draft, asked: ChangeAsked): Result<null> {
  const { jobId, change, actor, mayManage } = asked;
  const job = draft.findJob(jobId);
  if (job === undefined) return refuse('NOT_FOUND', `There is no job ${jobId}.`);
  if (job.user !== actor && !mayManage)
    return refuse('PERMISSION_DENIED', `${jobId} belongs to ${job.user}, not to ${actor}.`);
  if (isTerminalJobState(job.state) || draft.job(jobId) === undefined)
    return refuse(
      'FAILED_PRECONDITION',
      `${jobId} has ended already (${stateClause[job.state]}); it waits for nothing.`,
    );
  switch (change.kind) {
    case 'hold':
    case 'release':
      put(draft, job, { held: change.kind === 'hold' }, asked);
      return ok(null);
    case 'move':
      put(draft, job, { rank: rankFor(change.to, asked.ranks(job)) }, asked);
      return ok(null);
    case 'band':
      return changeBand(draft, job, change.band, asked);
  }
}

function changeBand(draft: Draft, job: Job, band: Band, asked: ChangeAsked): Result<null> {
  // Who is charged needs the right, whoever changes it: nobody spends another's.
  const user = chargedIdentity(job.submittedBy, job.user);
  const allowed = checkBand(user, band, budgetInForce(draft.budget(user), originalDefaultBudget.limit));
  if (!allowed.ok) return allowed;
  const queue = [job];
  for (const each of queue) {
    put(draft, each, { band }, asked);
    for (const child of draft.childrenOf(each.id)) {
      const inherits = child.spec.priority === 'INHERIT' && !isTerminalJobState(child.state);
      if (inherits) queue.push(child);
    }
  }
  return ok(null);
}

function put(
  draft: Draft,
  job: Job,
  change: Partial<Pick<Job, 'held' | 'rank' | 'band'>>,
  { nowMs, actor }: ChangeAsked,
): void {
  const after = { ...job, ...change };
  if (after.held === job.held && after.rank === job.rank && after.band === job.band) return;
  recountUse(draft, job, after, nowMs);
  draft.putJob(after);
  draft.audit(nowMs, actor, 'job_changed', job.id, change);
}

function rankFor(to: 'first' | 'last' | 'usual', others: Iterable<number>): number {
  if (to === 'usual') return 0;
  let lowest = 0;
  let highest = 0;
  for (const rank of others) {
    lowest = Math.min(lowest, rank);
    highest = Math.max(highest, rank);
  }
  return to === 'first' ? lowest - 1 : highest + 1;
}
