/** The structured reasons of a waiting task, from what the phases of the decision used: what keeps it waiting first. */
import type { WaitReason } from '../../contract/explanation.js';
import { isTerminalJobState } from '../../contract/states.js';
import { formatDuration } from '../../formats/durations.js';
import { timeText } from '../../formats/times.js';
import type { Cluster } from '../cluster.js';
import type { WaitCode } from '../decision.js';
import { cardsMeant } from '../gpu-models.js';
import type { Claim } from '../inputs.js';
import { gateOf } from '../gates.js';
import { machineOf } from '../constraints.js';
import type { JobEntry } from '../queue.js';
import { isCandidate } from '../shape.js';
import { bandOf } from '../order.js';
import { useOf } from '../quota.js';
import { demotionOf, positionReason } from './place-in-queue.js';
import { roomReason, type ExplainContext } from './room-reason.js';

/** Of the task with that index, which waits or has a provisional place. */
export function reasonsOf(context: ExplainContext, entry: JobEntry, index: number): WaitReason[] {
  const claim = entry.claims.find((each) => each.index === index);
  if (claim !== undefined) return [claimReason(context, entry, claim)];
  const code = codeOf(context, entry);
  const main = reasonOf(context, entry, code);
  const demoted = demotedReason(context, entry);
  const reasons = [main];
  const only = machineOf(entry.job.constraints);
  if (code === 'reserved') reasons.push(roomReason(context, entry));
  const patience = code === 'capacity' ? patienceReason(context, entry) : null;
  if (patience !== null) reasons.push(patience);
  if (demoted !== null) reasons.push(demoted);
  if (only !== null && main.kind !== 'backend')
    reasons.push({ kind: 'backend', code: 'WAITS_FOR_CONSTRAINT', message: `Only on ${only}.` });
  if (code === 'capacity' || code === 'reserved' || code === 'pass-cap') {
    const position = positionReason(context, entry);
    if (position !== null) reasons.push(position);
  }
  return reasons;
}

/** It may take the place of others, but gives them time to end by themselves first; null when it may not, or need not wait any more. */
function patienceReason({ cluster, rules, nowMs }: ExplainContext, entry: JobEntry): WaitReason | null {
  const { job, shape } = entry;
  const untilMs = job.waitingSinceMs + rules.patienceMs;
  if (job.gangBy !== null || bandOf(entry) !== 'INTERACTIVE' || untilMs <= nowMs) return null;
  const others = [...cluster.holdings.held.values()].some(
    ({ attempt, worker }) =>
      attempt.band === 'BATCH' && attempt.leaving === 'no' && worker >= 0 && isCandidate(shape, worker),
  );
  const message =
    `It may take the place of batch work when it has waited ${formatDuration(rules.patienceMs)}, ` +
    `at ${timeText(untilMs)}.`;
  return others ? { kind: 'backend', code: 'WAITS_FOR_CAPACITY', message } : null;
}

/** Only what keeps it waiting. */
export function mainReason(context: ExplainContext, entry: JobEntry, index: number): WaitReason {
  const claim = entry.claims.find((each) => each.index === index);
  if (claim !== undefined) return claimReason(context, entry, claim);
  return reasonOf(context, entry, codeOf(context, entry));
}

/** As the last decision had it; by the gates alone while none has looked at the job. */
function codeOf({ cluster, decision, nowMs }: ExplainContext, { job }: JobEntry): WaitCode {
  const decided = decision?.waiting.find(({ jobId }) => jobId === job.id)?.code;
  return decided ?? gateOf(job, nowMs, (id) => cluster.jobState(id)) ?? 'capacity';
}

/** Of a job that such a decision keeps waiting. */
export function reasonOf(context: ExplainContext, entry: JobEntry, code: WaitCode): WaitReason {
  const { job } = entry;
  const { cluster, decision } = context;
  switch (code) {
    case 'held':
      return { kind: 'hold' };
    case 'not-before':
      return { kind: 'not-before', atMs: job.startNotBeforeMs ?? context.nowMs };
    case 'dependency':
      return {
        kind: 'dependency',
        jobs: job.dependencies
          .map(({ jobId, on }) => ({ jobId, on, state: cluster.jobState(jobId) ?? null }))
          .filter(({ state }) => state !== null && !isTerminalJobState(state)),
      };
    case 'blocked':
      return { kind: 'backend', ...(job.blocked ?? { code: 'UNKNOWN', message: 'It may not start now.' }) };
    case 'quota':
      return quotaReason(cluster, entry);
    case 'job-cap': {
      const most = job.maxActive ?? context.rules.maxPerJob ?? 0;
      // What is promised to its tasks counts as theirs already.
      const active = (cluster.holdings.active.get(job.id) ?? 0) + entry.claims.length;
      return { kind: 'job-cap', active, most };
    }
    case 'pass-cap':
      return { kind: 'turn', workerId: null };
    case 'reserved': {
      const kept = decision?.reservations.find(({ jobId }) => jobId === job.id);
      return { kind: 'reserved', workerIds: [...(kept?.workerIds ?? [])], startMs: kept?.startMs ?? null };
    }
    case 'leaving':
      return leavingReason(context, entry);
    case 'impossible':
    case 'capacity':
      return roomReason(context, entry);
  }
}

function demotedReason({ nowMs }: ExplainContext, entry: JobEntry): WaitReason | null {
  const demotion = demotionOf(entry, nowMs);
  if (demotion === null) return null;
  const { user, requested, effective, spend, limit } = demotion;
  return { kind: 'demoted', user, asked: requested, effective, spend, limit };
}

function quotaReason(cluster: Cluster, { job, user, shape, indexes }: JobEntry): WaitReason {
  const { quota } = user.budget;
  shape.refresh(cluster.table);
  const tasks = job.gangBy === null ? 1 : indexes.length;
  const use = useOf(user, cluster);
  const all = [
    { resource: 'tasks', used: use.tasks, asked: tasks, quota: quota?.tasks ?? null },
    { resource: 'cpu', used: use.cpu, asked: tasks * job.cpuMillicores, quota: quota?.cpuMillicores ?? null },
    {
      resource: 'memory',
      used: use.memory,
      asked: tasks * job.memoryBytes,
      quota: quota?.memoryBytes ?? null,
    },
    {
      resource: 'gpu',
      used: use.gpus,
      asked: tasks * cardsMeant(shape.gpus, job.gpuVariant),
      quota: quota?.gpuCount ?? null,
    },
  ] as const;
  const parts = all.flatMap(({ resource, used, asked, quota: most }) =>
    most !== null && used + asked > most ? [{ resource, used, asked, quota: most }] : [],
  );
  return { kind: 'quota', user: user.id, parts };
}

/** Of a claim: a gang starts when what leaves any of its machines has left. */
function claimReason(context: ExplainContext, { job, claims }: JobEntry, { workerId }: Claim): WaitReason {
  const all = job.gangBy === null ? [workerId] : claims.map((claim) => claim.workerId);
  return victimReason(context, workerId, new Set(all));
}

/** Everything on its way out of the machine, or of those. */
function victimReason(
  { cluster, deadlineOf }: ExplainContext,
  workerId: string,
  from: ReadonlySet<string> = new Set([workerId]),
): WaitReason {
  const attempts = [...cluster.holdings.held.values()]
    .map(({ attempt }) => attempt)
    .filter(
      (attempt) => from.has(attempt.workerId) && (attempt.leaving !== 'no' || attempt.state === 'ENDING'),
    )
    .map(({ uid, taskId }) => ({ uid, taskId }))
    .sort((left, right) => (left.taskId < right.taskId ? -1 : 1));
  const deadlines = attempts.map(({ uid }) => deadlineOf?.(uid) ?? null);
  const known = deadlines.filter((ms) => ms !== null);
  const untilMs = known.length === deadlines.length && known.length > 0 ? Math.max(...known) : null;
  return { kind: 'victim', workerId, attempts, untilMs };
}

/** It will take what is leaving a machine; which one, the decision said. */
function leavingReason(context: ExplainContext, entry: JobEntry): WaitReason {
  const waits = context.decision?.waiting.find(
    ({ jobId, code }) => jobId === entry.job.id && code === 'leaving',
  );
  return waits?.workerId === undefined ? roomReason(context, entry) : victimReason(context, waits.workerId);
}
