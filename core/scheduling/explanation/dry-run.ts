/** What would become of a job that is not submitted yet: where it starts, or why it waits, and what it would evict. */
import { isOverLimit, isUpperBand } from '../../budget/effective-band.js';
import { resourceValue } from '../../budget/value.js';
import type { DryRun, Explanation } from '../../contract/explanation.js';
import { stateClause } from '../../contract/state-words.js';
import { formatDuration } from '../../formats/durations.js';
import { timeText } from '../../formats/times.js';
import type { Cluster } from '../cluster.js';
import type { Decision, NeverReason } from '../decision.js';
import { cardsMeant } from '../gpu-models.js';
import type { QueuedJob } from '../inputs.js';
import type { Rules } from '../rules.js';
import type { Scheduler } from '../scheduler.js';
import { explainJob } from './explanation.js';
import { bandOf } from '../order.js';
import { tasksText } from './words.js';

/** `job` needs an id that no waiting job has. Nothing of it stays in the cluster. */
export function dryRun(
  scheduler: Scheduler,
  job: QueuedJob,
  tasks: number,
  nowMs: number,
  rules: Rules,
): DryRun {
  // What it would evict is what is asked for here, though it would give others a short time to end by themselves.
  return scheduler.trial(job, tasks, nowMs, { ...rules, patienceMs: 0 }, (decision) => {
    const { cluster } = scheduler;
    const places = decision.placed
      .filter(({ jobId }) => jobId === job.id)
      .map(({ index, workerId, devices, waitsFor }) => ({
        index,
        workerId,
        devices: [...devices],
        provisional: waitsFor.length > 0,
      }));
    const evicts = decision.evictions
      .filter(({ forJob }) => forJob === job.id)
      .map(({ uid, taskId, jobId, workerId }) => {
        const band = cluster.holdings.get(uid)?.attempt.band ?? 'BATCH';
        return { uid, taskId, jobId, workerId, band };
      });
    const never = decision.unschedulable.find(({ jobId }) => jobId === job.id)?.reason ?? null;
    const waiting = never === null ? tasks - places.length : 0;
    const explanation = waiting === 0 ? null : explanationOf(cluster, decision, job.id, nowMs, rules);
    const cannot = explanation?.reasons.some(({ kind }) => kind === 'too-large' || kind === 'constraint');
    const isNever = never !== null || cannot === true;
    return {
      verdict: isNever
        ? 'NEVER'
        : waiting > 0
          ? 'WAITS'
          : evicts.length > 0 || places.some(({ provisional }) => provisional)
            ? 'STARTS_AFTER_EVICTIONS'
            : 'STARTS_NOW',
      message:
        never === null
          ? messageOf(places, evicts, waiting, explanation, patienceOf(job, rules))
          : neverText(never),
      places,
      evicts,
      waiting,
      explanation,
      ...budgetOf(cluster, job, tasks),
    };
  });
}

function explanationOf(
  cluster: Cluster,
  decision: Decision,
  jobId: string,
  nowMs: number,
  rules: Rules,
): Explanation | null {
  const index = cluster.queue.jobs
    .get(jobId)
    ?.indexes.find(
      (each) => !decision.placed.some((placed) => placed.jobId === jobId && placed.index === each),
    );
  return index === undefined
    ? null
    : explainJob({ cluster, decision, placed: decision.placed, nowMs, rules }, jobId, { index });
}

function messageOf(
  places: DryRun['places'],
  evicts: DryRun['evicts'],
  waiting: number,
  explanation: Explanation | null,
  patienceMs: number,
): string {
  const why = explanation?.message ?? 'Waits for its turn.';
  if (places.length === 0) return why;
  const machines = [...new Set(places.map(({ workerId }) => workerId))];
  const more = machines.length > 3 ? ` and ${machines.length - 3} more` : '';
  const where = `${machines.slice(0, 3).join(', ')}${more}`;
  const evicted = `${tasksText(evicts.length)} of ${jobsText(evicts)}`;
  const unless =
    patienceMs > 0 ? `, unless something ends by itself within ${formatDuration(patienceMs)}` : '';
  const start =
    evicts.length === 0
      ? `Starts now on ${where}`
      : `Starts on ${where} after it has evicted ${evicted}${unless}`;
  return waiting === 0 ? `${start}.` : `${start} with ${tasksText(places.length)}; ${waiting} more: ${why}`;
}

function patienceOf(job: QueuedJob, rules: Rules): number {
  return job.gangBy === null && job.band === 'INTERACTIVE' ? rules.patienceMs : 0;
}

function jobsText(evicts: DryRun['evicts']): string {
  const jobs = [...new Set(evicts.map(({ jobId }) => jobId))];
  return jobs.length > 2
    ? `${jobs.slice(0, 2).join(', ')} and ${jobs.length - 2} more jobs`
    : jobs.join(', ');
}

/** With the arithmetic, so that it can be checked. */
function neverText(reason: NeverReason): string {
  switch (reason.kind) {
    case 'start-by':
      return `It had to start by ${timeText(reason.startByMs)}; it is ${timeText(reason.nowMs)}.`;
    case 'finish-by':
      return (
        `It cannot end by ${timeText(reason.finishByMs)}: ` +
        `${timeText(reason.nowMs)} and its limit of ${formatDuration(reason.limitMs)} make ` +
        `${timeText(reason.nowMs + reason.limitMs)}.`
      );
    case 'dependency':
      return `It waits for ${reason.jobId}: ${reason.state === 'unknown' ? 'there is no such job any more' : stateClause[reason.state]}.`;
  }
}

function budgetOf(cluster: Cluster, job: QueuedJob, tasks: number): Pick<DryRun, 'demoted' | 'passesLimit'> {
  const entry = cluster.queue.jobs.get(job.id);
  if (entry === undefined) return { demoted: null, passesLimit: null };
  const { user, shape } = entry;
  shape.refresh(cluster.table);
  const { spend } = user;
  const { limit } = user.budget;
  const effective = bandOf(entry);
  if (effective !== job.band) {
    const text = `Would compete as ${effective}, not ${job.band}: ${user.id} uses ${spend}, more than the limit of ${limit}.`;
    return { demoted: { asked: job.band, effective, spend, limit, text }, passesLimit: null };
  }
  const gpuCount = cardsMeant(shape.gpus, job.gpuVariant);
  const adds = tasks * resourceValue({ ...job, gpuCount });
  if (job.band === 'BATCH' || isUpperBand(job.band) || !isOverLimit(spend + adds, limit))
    return { demoted: null, passesLimit: null };
  const text =
    `Passes the limit of ${user.id}: ${spend} in use and ${adds} more make ${spend + adds} of ${limit}. ` +
    'What is placed after that competes as BATCH.';
  return { demoted: null, passesLimit: { spend, adds, limit, text } };
}
