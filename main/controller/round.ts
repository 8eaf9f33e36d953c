/** One round's decisions, made by core over the state in memory. Nothing here performs an effect or writes to the database. */
import type { CacheName } from '../../core/contract/caches.js';
import type { BudgetChange } from '../../core/contract/budgets.js';
import type { MachineChange } from '../../core/contract/machines.js';
import type { JobChange } from '../../core/contract/queue.js';
import { ok, refusal, type Refusal, type Result } from '../../core/contract/errors.js';
import type { JobSpec } from '../../core/contract/job-request.js';
import type { Cause } from '../../core/contract/views.js';
import { stateClause } from '../../core/contract/state-words.js';
import { isTerminalJobState } from '../../core/contract/states.js';
import { setBudget } from '../../core/model/budgets.js';
import { Draft, type ModelState } from '../../core/model/draft.js';
import type { ChangeSet, Job } from '../../core/model/entities.js';
import { changeJob } from '../../core/model/job-change.js';
import {
  type KnownMachine,
  addMachine,
  changeMachine,
  emptiedCaches,
  removeMachine,
  settleDrains,
} from '../../core/model/machine-change.js';
import {
  cancel,
  executionTimeouts,
  observeAll,
  schedulingDeadlines,
  settle,
  submit,
  type Elapsed,
} from '../../core/model/transitions.js';
import { keepEpochNear, setHalfLife } from '../../core/model/use.js';
import type { AttemptObservation } from '../backends/backend.js';
import type { FreshText } from './fresh-text.js';
import type { Identity } from './session.js';

export type Command =
  | {
      readonly kind: 'submit';
      readonly requestId: string;
      readonly user: string;
      readonly mayManage?: boolean | undefined;
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
      readonly kind: 'half-life';
      readonly requestId: string;
      readonly identity: Identity;
      readonly halfLifeMs: number | null;
    }
  | {
      readonly kind: 'change';
      readonly requestId: string;
      readonly identity: Identity;
      readonly jobIds: readonly string[];
      readonly change: JobChange;
    }
  | {
      readonly kind: 'machine-add';
      readonly requestId: string;
      readonly identity: Identity;
      readonly machine: KnownMachine & { readonly address: string };
      readonly others: readonly KnownMachine[];
    }
  | {
      readonly kind: 'machine-remove';
      readonly requestId: string;
      readonly identity: Identity;
      readonly machineId: string;
      readonly force: boolean;
    }
  | {
      readonly kind: 'machine-change';
      readonly requestId: string;
      readonly identity: Identity;
      readonly machineId: string;
      readonly change: MachineChange;
    }
  | {
      readonly kind: 'caches-emptied';
      readonly requestId: string;
      readonly identity: Identity;
      readonly machineId: string;
      readonly names: readonly CacheName[];
      readonly bytes: number | null;
    }
  | {
      readonly kind: 'stop' | 'retry';
      readonly mayManage?: boolean | undefined;
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

/** What came in since the last round: observations first, so that a freed place can be taken in the same round. */
export function decideBatch(
  state: ModelState,
  input: {
    readonly nowMs: number;
    readonly observations: readonly AttemptObservation[];
    readonly commands: readonly Command[];
    readonly fresh: FreshText;
    readonly elapsed: Elapsed;
    /** Why a task waits, for the message of one that waited too long. */
    readonly waitingCause: (taskId: string) => Cause | null;
    readonly ranksBeside: (job: Job) => readonly number[];
  },
): {
  readonly changes: ChangeSet;
  readonly answers: readonly Result<unknown>[];
  /** Reports that changed nothing because no attempt they could be about is unfinished. */
  readonly dropped: readonly DroppedReport[];
} {
  const draft = new Draft(state);
  keepEpochNear(draft, input.nowMs);
  const outcomes = observeAll(draft, input.observations, input.nowMs);
  const dropped = input.observations.flatMap(({ uid, state: reported }, index): DroppedReport[] => {
    const outcome = outcomes[index];
    return outcome === 'unknown' || outcome === 'stale' ? [{ outcome, uid, state: reported }] : [];
  });
  executionTimeouts(draft, input.nowMs, input.elapsed);
  schedulingDeadlines(draft, input.nowMs, input.waitingCause, input.elapsed);
  // A command finds jobs as the observations left them.
  settle(draft, input.nowMs);
  const answers = input.commands.map((command) => carryOut(draft, command, input));
  settleDrains(draft, input.nowMs, input.elapsed);
  settle(draft, input.nowMs);
  return { changes: draft.changeSet(), answers, dropped };
}

type CommandInput = Parameters<typeof decideBatch>[1];

function carryOut(draft: Draft, command: Command, input: CommandInput): Result<unknown> {
  const before = draft.receipt(command.requestId);
  if (before !== undefined) return ok(before);
  const answer = answerTo(draft, command, input);
  // A refusal is not kept: the same request may succeed later.
  if (answer.ok) draft.putReceipt(command.requestId, input.nowMs, answer.value);
  return answer;
}

function answerTo(draft: Draft, command: Command, input: CommandInput): Result<unknown> {
  const { nowMs, fresh } = input;
  switch (command.kind) {
    case 'submit':
      return submit(draft, {
        spec: command.spec,
        user: command.user,
        submittedBy: command.user,
        nowMs,
        suffix: fresh.suffix(),
        retryOf: command.retryOf,
        mayManage: command.mayManage,
      });
    case 'budget': {
      const { user, change, identity } = command;
      const mayManage = identity.mayManage === true;
      return setBudget(draft, { user, change, actor: identity.user, mayManage, nowMs });
    }
    case 'half-life':
      return setHalfLife(draft, { halfLifeMs: command.halfLifeMs, ...administrator(command, nowMs) });
    case 'change': {
      const { jobIds, change, identity } = command;
      const asked = {
        change,
        actor: identity.user,
        mayManage: identity.mayManage === true,
        nowMs,
        ranks: input.ranksBeside,
      };
      return ok(
        jobIds.map((jobId): TargetResult => {
          const done = changeJob(draft, { ...asked, jobId });
          return { id: jobId, newId: null, refusal: done.ok ? null : done.refusal };
        }),
      );
    }
    case 'machine-add': {
      const { machine, others } = command;
      return addMachine(draft, { ...machine, others, ...administrator(command, nowMs) });
    }
    case 'machine-remove': {
      const { machineId, force } = command;
      return removeMachine(draft, { machineId, force, ...administrator(command, nowMs) });
    }
    case 'machine-change': {
      const { machineId, change } = command;
      return changeMachine(draft, { machineId, change, ...administrator(command, nowMs) });
    }
    case 'caches-emptied': {
      const { machineId, names, bytes } = command;
      return emptiedCaches(draft, { machineId, names, bytes, ...administrator(command, nowMs) });
    }
    case 'stop':
    case 'retry':
      return ok(command.jobIds.map((id) => target(draft, command, id, nowMs, fresh)));
  }
}

function administrator({ identity }: { readonly identity: Identity }, nowMs: number) {
  return { actor: identity.user, mayManage: identity.mayManage === true, nowMs };
}

function target(
  draft: Draft,
  command: Extract<Command, { kind: 'stop' | 'retry' }>,
  id: string,
  nowMs: number,
  fresh: FreshText,
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
      `${id} is not over (${stateClause[job.state]}); stop it first, or wait for its end.`,
    );
    return { id, newId: null, refusal: reason };
  }
  const again = submit(draft, {
    // What was released shall run.
    spec: { ...job.spec, name: job.name, parent: job.parentId, held: job.held },
    user: job.user,
    submittedBy: command.user,
    nowMs,
    suffix: fresh.suffix(),
    retryOf: id,
    mayManage: command.mayManage,
  });
  return again.ok
    ? { id, newId: again.value.jobId, refusal: null }
    : { id, newId: null, refusal: again.refusal };
}
