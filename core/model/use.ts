/**
 * What users used over time, from the rows: an attempt holds what it was given from its assignment until it is verified gone, and is
 * written down once, then. While it lives its share follows from its row, so that nothing has to be written and no crash loses any.
 */
import {
  atEpoch,
  emptyLedger,
  enter,
  ledgerAt,
  nearerEpoch,
  refaded,
  type Fading,
  type Held,
} from '../budget/ledger.js';
import { chargedIdentity, countsAsSpend } from '../budget/spend.js';
import { valueParts, type ValueParts } from '../budget/value.js';
import { ok, refuse, type Result } from '../contract/errors.js';
import { holdsCapacity } from './capacity.js';
import type { Draft } from './draft.js';
import type { Attempt, Job, UserUse } from './entities.js';
import { metaKeys, type ModelView } from './view.js';

type Ledgers = Pick<ModelView, 'meta' | 'use'> & { putUse(row: UserUse): void };

/** How past use fades here; null when it does not. */
export function fadingOf(view: Pick<ModelView, 'meta'>): Fading | null {
  const halfLifeMs = view.meta(metaKeys.halfLife) ?? 0;
  return halfLifeMs > 0 ? { halfLifeMs, epochMs: view.meta(metaKeys.useEpoch) ?? 0 } : null;
}

/** To be called when the attempt is verified gone. */
export function settleUse(draft: Ledgers, job: Job, attempt: Attempt): void {
  if (countsAsSpend(job.band) && attempt.finishedAtMs !== null)
    write(draft, job, { ...heldBy(attempt), toMs: attempt.finishedAtMs }, 1);
}

/**
 * A job goes from a band that counts to one that does not, or back, while some of it lives: what it held until now counts as it did.
 * Going back takes out what its attempts will bring when they end.
 */
export function recountUse(draft: Draft, before: Job, after: Job, nowMs: number): void {
  const counted = countsAsSpend(before.band);
  if (counted === countsAsSpend(after.band)) return;
  for (const task of draft.tasksOf(before.id))
    for (const attempt of draft.attemptsOf(task.id))
      if (holdsCapacity(attempt)) write(draft, before, { ...heldBy(attempt), toMs: nowMs }, counted ? 1 : -1);
}

function write(draft: Ledgers, job: Job, held: Held, sign: 1 | -1): void {
  const user = chargedIdentity(job.submittedBy, job.user);
  const ledger = enter(draft.use(user) ?? emptyLedger, held, fadingOf(draft), sign);
  draft.putUse({ user, ...ledger });
}

function heldBy(attempt: Attempt): Omit<Held, 'toMs'> {
  const { cpuMillicores, memoryBytes, devices, createdAtMs } = attempt;
  return {
    value: valueParts({ cpuMillicores, memoryBytes, gpuCount: devices.length }),
    fromMs: createdAtMs,
  };
}

/** Value x milliseconds of everybody who used anything, with what is held still. */
export function usesAt(
  view: Pick<ModelView, 'unfinishedAttempts' | 'job' | 'uses' | 'meta'>,
  nowMs: number,
): Map<string, { readonly used: ValueParts; readonly faded: ValueParts | null }> {
  const fading = fadingOf(view);
  const rows = new Map([...view.uses()].map((row) => [row.user, row]));
  const held = new Map<string, Omit<Held, 'toMs'>[]>([...rows.keys()].map((user) => [user, []]));
  for (const attempt of view.unfinishedAttempts()) {
    const job = view.job(attempt.jobId);
    if (job === undefined || !countsAsSpend(job.band)) continue;
    const user = chargedIdentity(job.submittedBy, job.user);
    const list = held.get(user);
    if (list === undefined) held.set(user, [heldBy(attempt)]);
    else list.push(heldBy(attempt));
  }
  return new Map(
    [...held].map(([user, list]) => [user, ledgerAt(rows.get(user) ?? emptyLedger, list, nowMs, fading)]),
  );
}

/** Before anything is written down in a round: sums kept for a moment too far away are kept for a nearer one. */
export function keepEpochNear(draft: Draft, nowMs: number): void {
  const fading = fadingOf(draft);
  const nearer = fading === null ? null : nearerEpoch(fading, nowMs);
  if (fading === null || nearer === null) return;
  for (const row of [...draft.uses()]) draft.putUse({ user: row.user, ...atEpoch(row, fading, nearer) });
  draft.setMeta(metaKeys.useEpoch, nearer.epochMs);
}

interface HalfLifeSetting {
  /** Null: nothing fades, and users are ordered by what they use now. */
  readonly halfLifeMs: number | null;
  readonly actor: string;
  readonly mayManage: boolean;
  readonly nowMs: number;
}

/** A change that changes nothing leaves no trace. */
export function setHalfLife(draft: Draft, setting: HalfLifeSetting): Result<null> {
  const { halfLifeMs, actor, nowMs } = setting;
  if (!setting.mayManage) {
    return refuse(
      'PERMISSION_DENIED',
      `${actor} may not set the half-life of past use: only who administers this cluster, the owner of its data folder, may.`,
    );
  }
  const before = fadingOf(draft);
  if ((before?.halfLifeMs ?? null) === halfLifeMs) return ok(null);
  const after = halfLifeMs === null ? null : { halfLifeMs, epochMs: nowMs };
  for (const row of [...draft.uses()])
    draft.putUse({ user: row.user, ...refaded(row, nowMs, before, after) });
  draft.setMeta(metaKeys.halfLife, halfLifeMs ?? 0);
  draft.setMeta(metaKeys.useEpoch, nowMs);
  draft.audit(nowMs, actor, 'budget_set', 'budgets', {
    before: { halfLifeMs: before?.halfLifeMs ?? null },
    after: { halfLifeMs },
  });
  return ok(null);
}
