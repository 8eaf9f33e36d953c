/** The whole explanation of a waiting job: reasons, their sentences, and what would make it start. */
import type { ExpectedStart, Explanation, WaitReason } from '../../contract/explanation.js';
import { taskIdOf } from '../../model/names.js';
import type { JobEntry } from '../queue.js';
import { mainReason, reasonsOf } from './reasons.js';
import { remediesOf } from './remedies.js';
import type { ExplainContext } from './room-reason.js';
import { sentenceOf, shortOf } from './words.js';

/** Of the first of its waiting tasks, or of that one; null when it does not wait. `expected` is taken over. */
export function explainJob(
  context: ExplainContext,
  jobId: string,
  options: { readonly index?: number; readonly expected?: ExpectedStart | null } = {},
): Explanation | null {
  const entry = context.cluster.queue.jobs.get(jobId);
  const index = entry === undefined ? undefined : (options.index ?? firstOf(entry));
  if (entry === undefined || index === undefined || !isWaiting(entry, index)) return null;
  const reasons = reasonsOf(context, entry, index);
  return {
    jobId,
    taskId: taskIdOf(jobId, index),
    waiting: entry.indexes.length + entry.claims.length,
    reasons,
    message: messageOf(reasons),
    short: shortOf(mainOf(reasons)),
    remedies: remediesOf(context, entry, reasons),
    // When a held job is released nobody but its user knows.
    expected: mainOf(reasons).kind === 'hold' ? null : (options.expected ?? null),
  };
}

/** For a line of a list: at most 60 characters; null when the job does not wait. */
export function explainShortly(context: ExplainContext, jobId: string): string | null {
  const entry = context.cluster.queue.jobs.get(jobId);
  const index = entry === undefined ? undefined : firstOf(entry);
  if (entry === undefined || index === undefined) return null;
  return shortOf(mainReason(context, entry, index));
}

function mainOf(reasons: readonly WaitReason[]): WaitReason {
  return reasons[0] ?? { kind: 'turn', workerId: null };
}

/** What keeps it waiting, when it may take a place of others, where alone it may run, and that it competes in another band if it does. */
function messageOf(reasons: readonly WaitReason[]): string {
  const further = reasons
    .slice(1)
    .filter(({ kind }) => kind === 'demoted' || kind === 'backend')
    .map(sentenceOf);
  return [sentenceOf(mainOf(reasons)), ...further].join(' ');
}

function firstOf({ indexes, claims }: JobEntry): number | undefined {
  const [index] = indexes;
  const [claim] = claims;
  if (index === undefined || claim === undefined) return index ?? claim?.index;
  return Math.min(index, claim.index);
}

function isWaiting({ indexes, claims }: JobEntry, index: number): boolean {
  return indexes.includes(index) || claims.some((claim) => claim.index === index);
}
