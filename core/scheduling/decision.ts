/** What one pass decided. Every list is in an order that follows from the input alone. */
import type { Band, JobState } from '../contract/states.js';
import type { Reservation } from './inputs.js';

export interface Placed {
  readonly taskId: string;
  readonly jobId: string;
  readonly index: number;
  /** Effective band, to be stamped on the task. */
  readonly band: Band;
  readonly workerId: string;
  readonly devices: readonly string[];
  /** Uids that must be gone before the start; not empty means that the place is provisional. */
  readonly waitsFor: readonly string[];
  /** The task held a provisional place before: this one replaces or confirms it. */
  readonly hadClaim: boolean;
  /** Placed in machines reserved for that job, which may evict it at any time. */
  readonly evictableBy: string | null;
}

export interface Eviction {
  readonly uid: string;
  readonly taskId: string;
  readonly jobId: string;
  readonly workerId: string;
  /** The job that gets the place, and the band it competes in. */
  readonly forJob: string;
  readonly forBand: Band;
}

/** Why no task of a job can start any more: with the numbers, so that people can check them. */
export type NeverReason =
  | { readonly kind: 'start-by'; readonly startByMs: number; readonly nowMs: number }
  | {
      readonly kind: 'finish-by';
      readonly finishByMs: number;
      readonly nowMs: number;
      readonly limitMs: number;
    }
  | {
      readonly kind: 'dependency';
      readonly jobId: string;
      readonly on: string;
      readonly state: JobState | 'unknown';
    };

export interface Unschedulable {
  readonly jobId: string;
  /** Indexes of its waiting tasks. */
  readonly indexes: readonly number[];
  readonly reason: NeverReason;
}

/** What kept a job's tasks waiting in this pass. */
export type WaitCode =
  | 'held'
  | 'not-before'
  | 'dependency'
  | 'blocked'
  | 'quota'
  | 'job-cap'
  | 'pass-cap'
  | 'impossible'
  | 'capacity'
  | 'reserved'
  | 'leaving';

export interface WaitingJob {
  readonly jobId: string;
  readonly code: WaitCode;
  /** Waiting tasks left, lowest index first. */
  readonly count: number;
  /** The machine that others leave for the first of them. */
  readonly workerId?: string;
}

export interface Decision {
  readonly placed: readonly Placed[];
  readonly evictions: readonly Eviction[];
  /** Uids whose eviction is no longer needed; their notice was not sent. */
  readonly withdrawn: readonly string[];
  /** Tasks whose provisional place is lost with its machine; they wait again. */
  readonly released: readonly string[];
  readonly unschedulable: readonly Unschedulable[];
  readonly reservations: readonly Reservation[];
  readonly waiting: readonly WaitingJob[];
  /** From then on the same input may be decided otherwise, by time alone; null when time changes nothing. */
  readonly wakeAtMs: number | null;
  /** The cap on assignments was reached, or what follows from this decision has not been looked at: decide again. */
  readonly more: boolean;
  /** Times a task was compared with a machine. */
  readonly fitChecks: number;
}
