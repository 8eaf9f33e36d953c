/** What a decision is made of, beside the machines: plain values, so that every decision can be recorded and made again. */
import type { Constraint } from '../contract/job-request.js';
import type { Band, JobState } from '../contract/states.js';
import type { Cause } from '../contract/views.js';

export type DependencyKind = 'success' | 'end' | 'failure';

export interface Dependency {
  readonly jobId: string;
  /** What must have become of that job. */
  readonly on: DependencyKind;
}

/** A job with tasks that wait, or with provisional places. */
export interface QueuedJob {
  readonly id: string;
  /** The identity charged. */
  readonly user: string;
  /** As asked for, INHERIT resolved. */
  readonly band: Band;
  readonly depth: number;
  readonly rootSubmittedAtMs: number;
  readonly submittedAtMs: number;
  /** Place among the owner's own jobs of the band, lower first; 0 unless the owner moved it. */
  readonly rank: number;
  /** What one task asks of a machine. */
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly gpuCount: number;
  readonly gpuVariant: string | null;
  /** Of each of its cards, which it shares with others; null or absent: it has them alone. */
  readonly sharedGpuBytes?: number | null;
  /** It runs in a container; absent: it does not. */
  readonly container?: boolean;
  readonly constraints: readonly Constraint[];
  readonly gangBy: string | null;
  /** Longest run of one attempt; null is endless. */
  readonly limitMs: number | null;
  /** The first start must have happened by then. */
  readonly startByMs: number | null;
  /** Every end must have happened by then. */
  readonly finishByMs: number | null;
  readonly startNotBeforeMs: number | null;
  readonly held: boolean;
  readonly dependencies: readonly Dependency[];
  /** Tasks of it that may be active at the same time; null is all. */
  readonly maxActive: number | null;
  /** Something else that forbids a start now, in its own words; null when nothing does. */
  readonly blocked: Cause | null;
  /** Since when its waiting tasks wait: submission, or the end of the last attempt. */
  readonly waitingSinceMs: number;
}

/** `asked`: its eviction is decided, the notice not yet sent. `told`: it was sent, or the attempt is being stopped. */
export type Leaving = 'no' | 'asked' | 'told';

/** An attempt whose processes may live: it holds what it was given until it is verified gone. */
export interface HeldAttempt {
  readonly uid: string;
  readonly taskId: string;
  readonly jobId: string;
  readonly user: string;
  readonly workerId: string;
  /** ENDING: over for its task, its processes not verified gone. */
  readonly state: 'ASSIGNED' | 'BUILDING' | 'RUNNING' | 'ENDING';
  /** Stamped at the assignment. */
  readonly band: Band;
  readonly requestedBand: Band;
  /** True for a member of a gang: it falls with its siblings. */
  readonly gang: boolean;
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly devices: readonly string[];
  /** What it said it uses of each of them, which others may share; null or absent: they are its own. */
  readonly sharedGpuBytes?: number | null;
  readonly startedAtMs: number | null;
  /** Last checkpoint it told of. */
  readonly checkpointAtMs: number | null;
  readonly limitMs: number | null;
  /** Times its task was preempted after it had started. */
  readonly preemptions: number;
  readonly leaving: Leaving;
  /** The job in whose reservation it runs and that may evict it at any time; null for none. */
  readonly evictableBy: string | null;
}

/** A provisional place: decided, charged to nobody, waiting for victims to be gone. */
export interface Claim {
  readonly taskId: string;
  readonly jobId: string;
  readonly index: number;
  readonly workerId: string;
  readonly devices: readonly string[];
  readonly band: Band;
}

/** What a user may have running at once; null is no bound. */
export interface Quota {
  readonly tasks: number | null;
  readonly cpuMillicores: number | null;
  readonly memoryBytes: number | null;
  readonly gpuCount: number | null;
}

export interface UserBudget {
  readonly user: string;
  /** 0 is no limit. */
  readonly limit: number;
  readonly quota: Quota | null;
  /** Use over time, faded, which takes the place of spend in the order of users; null where that is off. */
  readonly cumulative: number | null;
}

/** Machines kept for the first gang or large task of a band. */
export interface Reservation {
  readonly jobId: string;
  readonly band: Band;
  readonly workerIds: readonly string[];
  /** When it can start by known time limits; null when something endless is in the way. */
  readonly startMs: number | null;
}

/** States of jobs others depend on; undefined is a job nobody knows any more. */
export type JobStates = (jobId: string) => JobState | undefined;
