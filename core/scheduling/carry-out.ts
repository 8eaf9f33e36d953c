/** Writes a decision into the rows: evictions, places, places that wait for their victims, and what can never start any more. */
import { stateClause } from '../contract/state-words.js';
import { endTask } from '../model/attempt-end.js';
import { assign, type Assignment } from '../model/assign.js';
import type { Draft } from '../model/draft.js';
import { controllerActor } from '../model/entities.js';
import { taskIdOf } from '../model/names.js';
import { preempt } from '../model/timeouts.js';
import type { Cause, DemotionView } from '../contract/views.js';
import { formatDuration } from '../formats/durations.js';
import { timeText } from '../formats/times.js';
import type { Decision, NeverReason, Placed } from './decision.js';

type Ports = Readonly<Record<string, number>>;

export interface CarryOut {
  readonly nowMs: number;
  readonly backendId: string;
  /** A new uid for an attempt. */
  uid(): string;
  /** Ports for so many tasks of the job; null when there are not enough free. */
  ports(jobId: string, tasks: number): readonly Ports[] | null;
  /** The machine as it is now; undefined when it is gone. */
  worker(workerId: string): Assignment['worker'] | undefined;
  /** Why the job competes in a lower band than it asks for, as the decision had it; null when it does not. */
  demotionOf?(jobId: string): DemotionView | null;
  /** Something that no longer held when it was to be written. */
  moved(taskId: string, why: string): void;
}

/** Each item is checked against the current rows. The draft is left to be settled. */
export function carryOut(draft: Draft, decision: Decision, context: CarryOut): void {
  for (const taskId of decision.released) release(draft, taskId, context);
  for (const { jobId, indexes, reason } of decision.unschedulable)
    for (const index of indexes) endUnschedulable(draft, taskIdOf(jobId, index), reason, context.nowMs);
  for (const { uid, forJob, forBand } of decision.evictions) {
    const reason = `Makes room for ${forJob} (${forBand}).`;
    // A member of a gang has fallen with the first of it already.
    preempt(draft, uid, { reason, actor: controllerActor, nowMs: context.nowMs, forJob });
  }
  const { placed } = decision;
  for (let at = 0; at < placed.length;) {
    const end = endOfUnit(draft, placed, at);
    const unit = placed.slice(at, end);
    if (placed[at]?.waitsFor.length === 0) place(draft, unit, context);
    else for (const one of unit) claim(draft, one, context);
    at = end;
  }
}

/** The members of a gang follow each other. */
function endOfUnit(draft: Draft, placed: readonly Placed[], at: number): number {
  const { jobId = '' } = placed[at] ?? {};
  let end = at + 1;
  if ((draft.job(jobId)?.spec.gangBy ?? null) !== null) while (placed[end]?.jobId === jobId) end += 1;
  return end;
}

/** A task, or all members of a gang: what they need beside their places is there for all of them, or none of them starts. */
function place(draft: Draft, unit: readonly Placed[], context: CarryOut): void {
  const ports = context.ports(unit[0]?.jobId ?? '', unit.length);
  for (const [at, placed] of unit.entries()) {
    const own = ports?.[at];
    if (own === undefined) context.moved(placed.taskId, 'Not enough ports of the range are free.');
    else placeOne(draft, placed, own, context);
  }
}

function placeOne(draft: Draft, placed: Placed, ports: Ports, context: CarryOut): void {
  const { taskId, jobId, workerId, devices, band, evictableBy } = placed;
  const worker = context.worker(workerId);
  if (worker === undefined) {
    context.moved(taskId, 'Its machine is gone.');
    return;
  }
  const { backendId, nowMs } = context;
  const uid = context.uid();
  const made = assign(draft, {
    taskId,
    workerId,
    backendId,
    uid,
    devices,
    band,
    ports,
    nowMs,
    worker,
    evictableBy,
    demoted: band === draft.job(jobId)?.band ? null : (context.demotionOf?.(jobId) ?? null),
  });
  if (!made.ok) context.moved(taskId, made.refusal.message);
}

function claim(draft: Draft, placed: Placed, context: CarryOut): void {
  const { nowMs } = context;
  const { taskId, workerId, devices, band, waitsFor } = placed;
  const task = draft.task(taskId);
  if (task?.state !== 'PENDING') {
    context.moved(taskId, `is ${task?.state ?? 'unknown'}, not PENDING.`);
    return;
  }
  draft.putTask({ ...task, claim: { workerId, devices, band, waitsFor, sinceMs: nowMs } });
  draft.audit(nowMs, controllerActor, 'task_claimed', taskId, {
    worker: workerId,
    band,
    ...(devices.length === 0 ? {} : { devices }),
    waitsFor: waitsFor.map((uid) => draft.attempt(uid)?.taskId ?? uid),
  });
}

function release(draft: Draft, taskId: string, { nowMs }: CarryOut): void {
  const task = draft.task(taskId);
  if (task === undefined || task.claim === null) return;
  draft.putTask({ ...task, claim: null });
  draft.audit(nowMs, controllerActor, 'task_released', taskId, { worker: task.claim.workerId });
}

function endUnschedulable(draft: Draft, taskId: string, reason: NeverReason, nowMs: number): void {
  const task = draft.task(taskId);
  if (task?.state !== 'PENDING') return;
  endTask(draft, task, {
    state: 'UNSCHEDULABLE',
    cause: causeOf(reason),
    nowMs,
    finishedAtMs: nowMs,
    actor: controllerActor,
  });
}

const verbs: Readonly<Record<string, string>> = { success: 'succeed', end: 'end', failure: 'fail' };

function causeOf(reason: NeverReason): Cause {
  switch (reason.kind) {
    case 'start-by': {
      const message = `Had to start by ${timeText(reason.startByMs)}; it is ${timeText(reason.nowMs)}.`;
      return { code: 'SCHEDULING_DEADLINE', message };
    }
    case 'finish-by': {
      const { finishByMs, nowMs, limitMs } = reason;
      const by = timeText(finishByMs);
      const message =
        limitMs === 0
          ? `Had to end by ${by}; it is ${timeText(nowMs)}.`
          : `Cannot be sure to end by ${by} any more: started now, at ${timeText(nowMs)}, ` +
            `its time limit of ${formatDuration(limitMs)} lasts until ${timeText(nowMs + limitMs)}.`;
      return { code: 'FINISH_DEADLINE', message };
    }
    case 'dependency': {
      const { jobId, on, state } = reason;
      const end = state === 'unknown' ? 'there is no such job any more' : stateClause[state];
      return { code: 'DEPENDENCY_UNMET', message: `Waited for ${jobId} to ${verbs[on] ?? on}; ${end}.` };
    }
  }
}
