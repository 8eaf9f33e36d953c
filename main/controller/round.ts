/** One round's decisions, made by core over the state in memory. Nothing here performs an effect or writes to the database. */
import type { BudgetChange } from '../../core/contract/budgets.js';
import { ok, refusal, type Refusal, type Result } from '../../core/contract/errors.js';
import type { JobSpec } from '../../core/contract/job-request.js';
import { isTerminalJobState } from '../../core/contract/states.js';
import type { GpuView } from '../../core/contract/views.js';
import { setBudget } from '../../core/model/budgets.js';
import { Draft, type ModelState } from '../../core/model/draft.js';
import type { ChangeSet } from '../../core/model/entities.js';
import {
  assign,
  cancel,
  executionTimeouts,
  observeAll,
  schedulingDeadlines,
  settle,
  submit,
  type Elapsed,
} from '../../core/model/transitions.js';
import { schedule, snapshotOf, type SchedulingWorker } from '../../core/scheduling/schedule.js';
import type { AttemptObservation, WorkerObservation } from '../backends/backend.js';
import type { PortRange } from './ports.js';
import type { Identity } from './session.js';

export type Command =
  | {
      readonly kind: 'submit';
      readonly requestId: string;
      readonly user: string;
      readonly spec: JobSpec;
      readonly retryOf: string | null;
    }
  | {
      readonly kind: 'budget';
      readonly requestId: string;
      readonly identity: Identity;
      readonly user: string;
      readonly change: BudgetChange;
    }
  | {
      readonly kind: 'stop' | 'retry';
      readonly requestId: string;
      readonly user: string;
      readonly jobIds: readonly string[];
    };

export interface TargetResult {
  readonly id: string;
  /** The job a retry made. */
  readonly newId: string | null;
  readonly refusal: Refusal | null;
}

interface DroppedReport {
  readonly outcome: 'unknown' | 'stale';
  readonly uid: string;
  readonly state: AttemptObservation['state'];
}

export interface RandomText {
  /** 16 hex digits for an attempt. */
  uid(): string;
  /** Six letters and digits for a generated name. */
  suffix(): string;
}

/** What came in since the last round: observations first, so that a freed place can be taken in the same round. */
export function decideBatch(
  state: ModelState,
  input: {
    readonly nowMs: number;
    readonly observations: readonly AttemptObservation[];
    readonly commands: readonly Command[];
    readonly random: RandomText;
    readonly elapsed: Elapsed;
  },
): {
  readonly changes: ChangeSet;
  readonly answers: readonly Result<unknown>[];
  /** Reports that changed nothing because no attempt they could be about is unfinished. */
  readonly dropped: readonly DroppedReport[];
} {
  const draft = new Draft(state);
  const outcomes = observeAll(draft, input.observations, input.nowMs);
  const dropped = input.observations.flatMap(({ uid, state: reported }, index): DroppedReport[] => {
    const outcome = outcomes[index];
    return outcome === 'unknown' || outcome === 'stale' ? [{ outcome, uid, state: reported }] : [];
  });
  executionTimeouts(draft, input.nowMs, input.elapsed);
  schedulingDeadlines(draft, input.nowMs, (taskId) => state.waitingCause(taskId), input.elapsed);
  // A command finds jobs as the observations left them.
  settle(draft, input.nowMs);
  const answers = input.commands.map((command) => carryOut(draft, command, input.nowMs, input.random));
  settle(draft, input.nowMs);
  return { changes: draft.changeSet(), answers, dropped };
}

function carryOut(draft: Draft, command: Command, nowMs: number, random: RandomText): Result<unknown> {
  const before = draft.receipt(command.requestId);
  if (before !== undefined) return ok(before);
  const answer = answerTo(draft, command, nowMs, random);
  // A refusal is not kept: the same request may succeed later.
  if (answer.ok) draft.putReceipt(command.requestId, nowMs, answer.value);
  return answer;
}

function answerTo(draft: Draft, command: Command, nowMs: number, random: RandomText): Result<unknown> {
  switch (command.kind) {
    case 'submit':
      return submit(draft, {
        spec: command.spec,
        user: command.user,
        submittedBy: command.user,
        nowMs,
        suffix: random.suffix(),
        retryOf: command.retryOf,
      });
    case 'budget': {
      const { user, change, identity } = command;
      const mayManage = identity.mayManage === true;
      return setBudget(draft, { user, change, actor: identity.user, mayManage, nowMs });
    }
    case 'stop':
    case 'retry':
      return ok(command.jobIds.map((id) => target(draft, command, id, nowMs, random)));
  }
}

function target(
  draft: Draft,
  command: Extract<Command, { kind: 'stop' | 'retry' }>,
  id: string,
  nowMs: number,
  random: RandomText,
): TargetResult {
  const job = draft.findJob(id);
  if (job === undefined) return { id, newId: null, refusal: refusal('NOT_FOUND', `There is no job ${id}.`) };
  if (job.user !== command.user) {
    const reason = refusal('PERMISSION_DENIED', `${id} belongs to ${job.user}, not to ${command.user}.`);
    return { id, newId: null, refusal: reason };
  }
  if (command.kind === 'stop') {
    const stopped = cancel(draft, id, { actor: command.user, nowMs });
    return { id, newId: null, refusal: stopped.ok ? null : stopped.refusal };
  }
  if (!isTerminalJobState(job.state)) {
    const reason = refusal(
      'FAILED_PRECONDITION',
      `${id} is not over (${job.state}); stop it first, or wait for its end.`,
    );
    return { id, newId: null, refusal: reason };
  }
  const again = submit(draft, {
    spec: { ...job.spec, name: job.name, parent: job.parentId },
    user: job.user,
    submittedBy: command.user,
    nowMs,
    suffix: random.suffix(),
    retryOf: id,
  });
  return again.ok
    ? { id, newId: again.value.jobId, refusal: null }
    : { id, newId: null, refusal: again.refusal };
}

/** Assignments one round makes at most; a transaction of more would delay what came in meanwhile. */
const assignmentsARound = 500;

/** Places waiting tasks over the state as it is, each checked against the current rows when it is written. */
export function placeTasks(
  state: ModelState,
  input: {
    readonly nowMs: number;
    readonly workers: readonly WorkerObservation[];
    readonly backendId: string;
    readonly random: RandomText;
    readonly ports: PortRange;
    /** An assignment that no longer held when it was written. */
    readonly moved: (taskId: string, why: string) => void;
  },
): { readonly changes: ChangeSet; readonly reasonsChanged: readonly string[]; readonly more: boolean } {
  const draft = new Draft(state);
  const workers = input.workers.map(schedulingWorker);
  const byId = new Map(workers.map((worker) => [worker.id, worker]));
  const result = schedule(snapshotOf(state, workers, assignmentsARound));
  for (const placed of result.assignments) {
    const worker = byId.get(placed.workerId);
    const names = draft.job(placed.jobId)?.spec.ports ?? [];
    const ports = names.length === 0 ? {} : input.ports.allot(names, draft.unfinishedAttempts());
    if (worker === undefined || ports === null) {
      input.moved(placed.taskId, ports === null ? 'No port of the range is free.' : 'Its machine is gone.');
      continue;
    }
    const assigned = assign(draft, {
      taskId: placed.taskId,
      workerId: placed.workerId,
      backendId: input.backendId,
      uid: input.random.uid(),
      devices: placed.devices,
      band: placed.band,
      ports,
      nowMs: input.nowMs,
      worker,
    });
    if (!assigned.ok) input.moved(placed.taskId, assigned.refusal.message);
  }
  settle(draft, input.nowMs);
  return { changes: draft.changeSet(), reasonsChanged: state.noteWaiting(result), more: result.more };
}

function schedulingWorker(worker: WorkerObservation): SchedulingWorker {
  return {
    id: worker.id,
    healthy: worker.state === 'HEALTHY',
    cpuMillicores: worker.cpuMillicores,
    memoryBytes: worker.memoryBytes,
    gpuNote: worker.gpuNote,
    gpus: worker.gpus.map((gpu) => ({ ...gpu, usable: answers(gpu) })),
    attributes: worker.attributes,
  };
}

/** A card that gives no number at all, with a note saying why, is given to nobody; one that lacks some numbers works. */
function answers(gpu: GpuView): boolean {
  return (
    gpu.note === null ||
    gpu.memoryTotalBytes !== null ||
    gpu.utilizationPercent !== null ||
    gpu.temperatureCelsius !== null
  );
}
