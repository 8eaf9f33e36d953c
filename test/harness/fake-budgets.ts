/** Budgets of a made-up lab, changed as the controller changes them. */
import type { ParsedParams } from '../../core/contract/api.js';
import { noQuota, type BudgetView, type SpendView } from '../../core/contract/budgets.js';
import { RefusalError, refusal, type FieldError } from '../../core/contract/errors.js';
import { bandRank, type RequestedBand } from '../../core/contract/states.js';
import { changedQuota } from '../../core/model/budgets.js';
import { fakeUser } from './fake-data.js';

export interface FakeBudgets {
  mayManage: boolean;
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
    rows: [
      fakeBudget(fakeUser, { spend: spendOf(2000, 104, 60) }),
      fakeBudget('bert', { ...set, limit: 1000, maxBand: 'BATCH', spend: spendOf(1000, 210, 20) }),
      fakeBudget('clara', { ...set, limit: 'unlimited', allow: ['PRODUCTION'] }),
    ],
  };
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
