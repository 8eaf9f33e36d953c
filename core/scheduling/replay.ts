/** A round as it can be written down and decided again: everything a decision reads, and what was decided. */
import type { JobState } from '../contract/states.js';
import { compareTexts } from '../model/sorted-list.js';
import type { Cluster } from './cluster.js';
import type { Decision } from './decision.js';
import type { SchedulingWorker } from './free.js';
import type { Claim, HeldAttempt, QueuedJob, Reservation, UserBudget } from './inputs.js';
import type { Rules } from './rules.js';
import { Scheduler } from './scheduler.js';

export interface RoundInput {
  readonly format: 1;
  readonly nowMs: number;
  readonly rules: Rules;
  readonly workers: readonly SchedulingWorker[];
  readonly budgets: readonly UserBudget[];
  readonly defaultLimit: number;
  readonly jobs: readonly { readonly job: QueuedJob; readonly indexes: readonly number[] }[];
  readonly claims: readonly Claim[];
  readonly attempts: readonly HeldAttempt[];
  readonly jobStates: readonly (readonly [string, JobState])[];
  readonly reservations: readonly Reservation[];
}

/** Rows by id, so that the same cluster is written the same. An infinite number of the rules is null in JSON: see `replay`. */
export function inputOf(cluster: Cluster, nowMs: number, rules: Rules): RoundInput {
  return {
    format: 1,
    nowMs,
    rules,
    workers: cluster.table.workers,
    budgets: cluster.budgets,
    defaultLimit: cluster.defaultLimit,
    jobs: [...cluster.queue.jobs.values()]
      .map(({ job, indexes }) => ({ job, indexes: [...indexes] }))
      .sort((left, right) => compareTexts(left.job.id, right.job.id)),
    claims: cluster.holdings
      .allClaims()
      .sort((left, right) => compareTexts(left.jobId, right.jobId) || left.index - right.index),
    attempts: [...cluster.holdings.held.values()]
      .map(({ attempt }) => attempt)
      .sort((left, right) => compareTexts(left.uid, right.uid)),
    jobStates: cluster.allJobStates(),
    reservations: cluster.reservations,
  };
}

/** Decides a recorded round again, from nothing. */
export function replay(input: RoundInput): Decision {
  const scheduler = new Scheduler();
  const { cluster } = scheduler;
  cluster.setWorkers(input.workers);
  cluster.setBudgets(input.budgets, input.defaultLimit);
  for (const [id, state] of input.jobStates) cluster.noteJobState(id, state);
  for (const { job, indexes } of input.jobs) {
    cluster.putJob(job);
    for (const index of indexes) cluster.addTask(job.id, index);
  }
  for (const claim of input.claims) cluster.putClaim(claim);
  for (const attempt of input.attempts) cluster.putAttempt(attempt);
  cluster.setReservations(input.reservations);
  // JSON has no infinity.
  const { reserveAfterMs, patienceMs } = input.rules as {
    reserveAfterMs: number | null;
    patienceMs?: number;
  };
  return scheduler.decide(input.nowMs, {
    ...input.rules,
    // Records of before there was such a time have none.
    patienceMs: patienceMs ?? 0,
    reserveAfterMs: reserveAfterMs ?? Number.POSITIVE_INFINITY,
  });
}

/** The parts of two decisions that differ, by name; empty when they are the same to the byte. */
export function differences(left: Decision, right: Decision): string[] {
  const names: readonly (keyof Decision)[] = [
    'placed',
    'evictions',
    'withdrawn',
    'released',
    'unschedulable',
    'reservations',
    'waiting',
    'wakeAtMs',
    'more',
  ];
  return names.filter((name) => JSON.stringify(left[name]) !== JSON.stringify(right[name]));
}
