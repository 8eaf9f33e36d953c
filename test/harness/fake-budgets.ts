/** Budgets of a made-up lab, changed as the controller changes them. */
import type { ParsedParams, TopicSnapshot } from '../../core/contract/api.js';
import { noQuota, type BudgetView, type SpendView } from '../../core/contract/budgets.js';
import { RefusalError, refusal, type FieldError } from '../../core/contract/errors.js';
import { bandRank, type RequestedBand } from '../../core/contract/states.js';
import { changedQuota } from '../../core/model/budgets.js';
import { fakeUser } from './fake-data.js';

export interface FakeBudgets {
  mayManage: boolean;
  halfLifeMs: number | null;
  rows: BudgetView[];
}

const defaultLimit = 4500;

function spendOf(gpus: number, memory: number, processors: number): SpendView {
  return { gpus, memory, processors, total: gpus + memory + processors };
}

export function fakeBudget(user: string, part: Partial<BudgetView> = {}): BudgetView {
  return judged({
    user,
    isSet: false,
    limit: defaultLimit,
    limitIsDefault: true,
    maxBand: 'INTERACTIVE',
    allow: [],
    quota: noQuota,
    spend: spendOf(0, 0, 0),
    overLimit: false,
    used: spendOf(0, 0, 0),
    faded: null,
    atMs: 1_790_000_000_000,
    updatedAtMs: null,
    ...part,
  });
}

function judged(row: BudgetView): BudgetView {
  return { ...row, overLimit: row.limit !== 'unlimited' && row.spend.total > row.limit };
}

export function fakeBudgets(): FakeBudgets {
  const set = { isSet: true, limitIsDefault: false, updatedAtMs: 1_790_000_000_000 };
  return {
    mayManage: true,
    halfLifeMs: null,
    rows: [
      fakeBudget(fakeUser, { spend: spendOf(2000, 104, 60), used: spendOf(1204, 3.25, 1.5) }),
      fakeBudget('bert', { ...set, limit: 1000, maxBand: 'BATCH', spend: spendOf(1000, 210, 20) }),
      fakeBudget('clara', { ...set, limit: 'unlimited', allow: ['PRODUCTION'] }),
    ],
  };
}

export function fakeBudgetsTopic({ halfLifeMs, rows }: FakeBudgets): TopicSnapshot<'budgets'> {
  return { halfLifeMs, budgets: rows };
}

/** A quarter of what was used is left, say. */
export function setFakeHalfLife(budgets: FakeBudgets, halfLifeMs: number | null): void {
  if (!budgets.mayManage)
    throw new RefusalError(
      refusal('PERMISSION_DENIED', `${fakeUser} may not set the half-life of past use.`),
    );
  budgets.halfLifeMs = halfLifeMs;
  budgets.rows = budgets.rows.map((row) => {
    const { gpus, memory, processors } = row.used;
    return { ...row, faded: halfLifeMs === null ? null : spendOf(gpus / 4, memory / 4, processors / 4) };
  });
}

export function fakeBudgetOf(budgets: FakeBudgets, user: string): BudgetView {
  return budgets.rows.find((row) => row.user === user) ?? fakeBudget(user);
}

export function setFakeBudget(budgets: FakeBudgets, params: ParsedParams<'budget.set'>): BudgetView {
  if (!budgets.mayManage) {
    throw new RefusalError(refusal('PERMISSION_DENIED', `${fakeUser} may not set budgets.`));
  }
  const { user, change } = params;
  const before = fakeBudgetOf(budgets, user);
  const limit = change.limit === 'default' ? defaultLimit : (change.limit ?? before.limit);
  const row = judged({
    ...before,
    isSet: true,
    limit,
    limitIsDefault: change.limit === undefined ? before.limitIsDefault : change.limit === 'default',
    maxBand: change.maxBand ?? before.maxBand,
    quota: changedQuota(before.quota, change.quota ?? {}),
    allow: [...new Set([...before.allow, ...change.allow])].filter((band) => !change.disallow.includes(band)),
    updatedAtMs: 1_790_000_100_000,
  });
  budgets.rows = [...budgets.rows.filter((other) => other.user !== user), row].sort((left, right) =>
    left.user < right.user ? -1 : 1,
  );
  return row;
}

/** What the controller says of a band that may not be asked for. */
export function fakeBandError(budgets: FakeBudgets, band: RequestedBand): FieldError | null {
  if (band === 'INHERIT') return null;
  const { allow, maxBand } = fakeBudgetOf(budgets, fakeUser);
  const upper = band === 'SYSTEM' || band === 'PRODUCTION';
  if (upper ? allow.includes(band) : bandRank(band) >= bandRank(maxBand)) return null;
  const word = band.toLowerCase();
  return { field: 'priority', value: word, expected: `another, unless allowed with: irisctl budget set` };
}
