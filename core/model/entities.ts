/**
 * The controller's rows, as core decides about them and the store keeps them. Read-only records; a change is a new record in
 * a `ChangeSet`. Times are epoch milliseconds (UTC), sizes bytes, processors millicores.
 */
import type { Ledger } from '../budget/ledger.js';
import type { QuotaView } from '../contract/budgets.js';
import type { UpperBand, AttemptState, Band, JobState, TaskState } from '../contract/states.js';
import type { JobSpec } from '../contract/job-request.js';
import type { MachineView } from '../contract/machines.js';
import type { AttemptUsage } from '../contract/usage.js';
import type { Cause, DemotionView } from '../contract/views.js';

export interface Job {
  /** Full path, `/user/job[/child...]`; the key. */
  readonly id: string;
  readonly user: string;
  /** Who asked: the authenticated identity; children copy the root's. */
  readonly submittedBy: string;
  readonly parentId: string | null;
  readonly rootId: string;
  /** Root jobs have depth 1. */
  readonly depth: number;
  readonly name: string;
  readonly state: JobState;
  /** Requested band with INHERIT resolved. */
  readonly band: Band;
  /** Strictly increasing over the cluster. */
  readonly submittedAtMs: number;
  readonly rootSubmittedAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  /** Absolute deadline by which the first task must have started; null for none. */
  readonly schedulingDeadlineMs: number | null;
  readonly cause: Cause | null;
  readonly exitCode: number | null;
  readonly numTasks: number;
  /** The job this one was run again from. */
  readonly retryOf: string | null;
  /** Nothing of it is placed until it is released. */
  readonly held: boolean;
  /** Place among its owner's own jobs of the band, lower first; 0 unless the owner moved it. */
  readonly rank: number;
  readonly spec: JobSpec;
}

export interface Task {
  /** `jobId/index`; the key. */
  readonly id: string;
  readonly jobId: string;
  readonly index: number;
  readonly state: TaskState;
  /** True once nothing can ever start it again: stored, never inferred from counts (iris-behaviour 11.9). */
  readonly final: boolean;
  /** Band stamped at the last assignment; the job's band before the first. */
  readonly band: Band;
  readonly submittedAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly exitCode: number | null;
  readonly cause: Cause | null;
  /** Why it waits, while PENDING. */
  readonly waiting: Cause | null;
  /** Number of the current or last attempt; -1 for none. */
  readonly currentAttempt: number;
  /** Position in submission order over the cluster. */
  readonly insertion: number;
  /** Attempts that FAILED. */
  readonly failureCount: number;
  /** Attempts lost or preempted after they had started. */
  readonly preemptionCount: number;
  /** The place it gets when its victims are gone; null for none. Only of a PENDING task. */
  readonly claim: TaskClaim | null;
}

/** A place that was decided but waits for others to leave it: charged to nobody, and given up when something free is found. */
export interface TaskClaim {
  readonly workerId: string;
  readonly devices: readonly string[];
  /** Effective band it was decided in. */
  readonly band: Band;
  /** Uids of the attempts that make room. */
  readonly waitsFor: readonly string[];
  readonly sinceMs: number;
}

export interface Attempt {
  /** 16 hex digits, minted by the controller: the only name backends know; the key. */
  readonly uid: string;
  readonly taskId: string;
  readonly jobId: string;
  readonly number: number;
  readonly state: AttemptState;
  readonly backendId: string;
  readonly workerId: string;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  /** Null while its processes may live: until then its resources stay reserved. */
  readonly finishedAtMs: number | null;
  /** Run time by a monotonic clock where the backend measured it. */
  readonly durationMs: number | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly cause: Cause | null;
  /** What was noticed of it besides how it ended, at most one of a code. */
  readonly warnings: readonly Cause[];
  readonly devices: readonly string[];
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  /** Ports allotted, by name. */
  readonly ports: Readonly<Record<string, number>>;
  readonly peakMemoryBytes: number | null;
  readonly pid: number | null;
  /** Last checkpoint it told of. */
  readonly checkpointAtMs: number | null;
  /** What it used, as told last; absent: not measured. */
  readonly usage?: AttemptUsage | undefined;
  /** When it was told to leave for better work; null when it was not. */
  readonly noticeAtMs: number | null;
  /** Why it was placed in a lower band than asked for; absent: it was not. */
  readonly demoted?: DemotionView | undefined;
  /** The job in whose reserved machines it runs and that may take them back at any time; null for none. */
  readonly evictableBy: string | null;
}

/** What was set for a user; without a row the defaults apply. */
export interface UserBudget {
  /** The key. */
  readonly user: string;
  /** Value in use that is not to be passed; `default` follows the cluster's. */
  readonly limit: number | 'unlimited' | 'default';
  /** Best band that may be asked for without a right. */
  readonly maxBand: Band;
  /** Upper bands granted, best first. */
  readonly allow: readonly UpperBand[];
  /** What may be active at once. */
  readonly quota: QuotaView;
  readonly updatedAtMs: number;
}

/** What a user used over time; without a row nothing that has ended. What is held still is added by whoever looks. */
export interface UserUse extends Ledger {
  /** The identity charged; the key. */
  readonly user: string;
}

/** What was set of a machine. The one the controller runs on has a row only once something of it was. */
export interface Machine {
  /** Its worker's id, the name people call it by; the key. */
  readonly id: string;
  /** `ssh://[user@]host[:port]`; null: the machine the controller runs on. */
  readonly address: string | null;
  /** The machine id that answered when it was added: whoever answers with another is another machine. */
  readonly identity: string | null;
  readonly scheduling: MachineView['scheduling'];
  /** While DRAINING: when what runs is requeued; null: it runs to its end. */
  readonly drainDeadlineMs: number | null;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly taints: MachineView['taints'];
  readonly wakeAddress: string | null;
  readonly addedAtMs: number;
  readonly addedBy: string;
}

/** Who audit rows name for what nobody asked for. */
export const controllerActor = 'controller';

/** An audit row to be written with the change it tells of. `actor` is an identity or `controllerActor`. */
export interface AuditEntry {
  readonly atMs: number;
  readonly actor: string;
  readonly action: AuditAction;
  /**
   * Path of the job, task or attempt, so that reads find it under its job; of a user's budget `/user`, of all budgets `budgets`, of a machine `machine/NAME`,
   * of the controller itself `host`.
   */
  readonly entity: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Actions of the original's audit log (iris-behaviour section 8) that apply, and ours. */
export type AuditAction =
  | 'job_submitted'
  | 'job_started'
  | 'job_completed'
  | 'job_cancelled'
  | 'job_replaced'
  | 'job_changed'
  | 'task_assigned'
  | 'task_claimed'
  | 'task_released'
  | 'task_retry_scheduled'
  | 'task_ended'
  | 'task_unschedulable'
  | 'attempt_started'
  | 'attempt_warned'
  | 'attempt_notified'
  | 'attempt_ended'
  | 'attempt_verified_gone'
  | 'attempt_adopted'
  | 'worker_registered'
  | 'worker_changed'
  | 'worker_drained'
  | 'worker_removed'
  | 'caches_emptied'
  | 'budget_set'
  | 'host_started'
  | 'host_stopped'
  | 'job_pruned';

/** A root job's end, or what the owner of one that runs is to know, for notifications. */
export interface InboxEntry {
  readonly jobId: string;
  readonly jobName: string;
  readonly state: JobState;
  readonly cause: Cause | null;
  readonly atMs: number;
  readonly durationMs: number | null;
}

/** What one transaction writes: whole rows by key (insert or replace), deletions, audit and inbox rows, counters. */
export interface ChangeSet {
  readonly jobs: readonly Job[];
  readonly tasks: readonly Task[];
  readonly attempts: readonly Attempt[];
  readonly budgets: readonly UserBudget[];
  readonly uses: readonly UserUse[];
  /** Null: it was removed. */
  readonly machines: readonly { readonly id: string; readonly machine: Machine | null }[];
  readonly audit: readonly AuditEntry[];
  readonly inbox: readonly InboxEntry[];
  /** Answers to commands by client-made request id, for repeats. */
  readonly receipts: readonly {
    readonly requestId: string;
    readonly atMs: number;
    readonly answer: unknown;
  }[];
  /** New values of `meta`, by `metaKeys`. */
  readonly meta: Readonly<Record<string, number>>;
}
