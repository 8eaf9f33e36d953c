/** Budgets of users: their rows, who may set them, and the bands a submission may ask for. */
import { gpuHours } from '../budget/ledger.js';
import { chargedIdentity, noSpend, spendByUser, type ActiveUse } from '../budget/spend.js';
import {
  checkBand,
  isOverLimit,
  isUpperBand,
  originalDefaultBudget,
  type Budget,
} from '../budget/effective-band.js';
import { noQuota, type BudgetChange, type BudgetView, type QuotaView } from '../contract/budgets.js';
import { ok, refuse, type Result } from '../contract/errors.js';
import type { JobSpec } from '../contract/job-request.js';
import { bandRank, bands, isActiveTaskState, type Band } from '../contract/states.js';
import type { Draft } from './draft.js';
import type { Job, UserBudget } from './entities.js';
import { cardsOf } from './capacity.js';
import { checkNamePart } from './names.js';
import { fadingOf, usesAt } from './use.js';
import type { ModelView } from './view.js';

/** What holds for a user; `defaultLimit` is the cluster's at the time. */
export function budgetInForce(row: UserBudget | undefined, defaultLimit: number): Budget {
  if (row === undefined) return { ...originalDefaultBudget, limit: defaultLimit };
  const limit = row.limit === 'default' ? defaultLimit : row.limit === 'unlimited' ? 0 : row.limit;
  return { limit, maxBand: row.maxBand, allow: row.allow };
}

/** What is active now, as the spend counts it. */
export function* activeUse(view: Pick<ModelView, 'unfinishedAttempts' | 'job'>): Generator<ActiveUse> {
  for (const attempt of view.unfinishedAttempts()) {
    const job = isActiveTaskState(attempt.state) ? view.job(attempt.jobId) : undefined;
    if (job === undefined) continue;
    yield {
      user: chargedIdentity(job.submittedBy, job.user),
      requestedBand: job.band,
      cpuMillicores: attempt.cpuMillicores,
      memoryBytes: attempt.memoryBytes,
      gpuCount: cardsOf(attempt, job.spec),
    };
  }
}

/** Everybody with a row or any use, and `others`, by name. */
export function budgetViews(
  view: Pick<ModelView, 'unfinishedAttempts' | 'job' | 'budgets' | 'uses' | 'meta'>,
  defaultLimit: number,
  others: readonly string[],
  nowMs: number,
): BudgetView[] {
  const spends = spendByUser(activeUse(view));
  const uses = usesAt(view, nowMs);
  const fades = fadingOf(view) !== null;
  const rows = new Map([...view.budgets()].map((row) => [row.user, row]));
  const users = [...new Set([...rows.keys(), ...spends.keys(), ...uses.keys(), ...others])].sort();
  return users.map((user) => {
    const row = rows.get(user);
    const budget = budgetInForce(row, defaultLimit);
    const spend = spends.get(user) ?? noSpend;
    const use = uses.get(user);
    return {
      user,
      isSet: row !== undefined,
      limit: budget.limit === 0 ? 'unlimited' : budget.limit,
      limitIsDefault: row === undefined || row.limit === 'default',
      maxBand: budget.maxBand,
      allow: [...budget.allow],
      quota: row?.quota ?? noQuota,
      spend,
      overLimit: isOverLimit(spend.total, budget.limit),
      used: use === undefined ? noSpend : gpuHours(use.used),
      faded: fades ? (use?.faded ? gpuHours(use.faded) : noSpend) : null,
      atMs: nowMs,
      updatedAtMs: row?.updatedAtMs ?? null,
    };
  });
}

export interface BudgetSetting {
  readonly user: string;
  readonly change: BudgetChange;
  readonly actor: string;
  /** The actor administers budgets: in a local cluster the data folder's owner. */
  readonly mayManage: boolean;
  readonly nowMs: number;
}

type Settings = Pick<UserBudget, 'limit' | 'maxBand' | 'allow' | 'quota'>;

const unset: Settings = {
  limit: 'default',
  maxBand: originalDefaultBudget.maxBand,
  allow: [],
  quota: noQuota,
};

/** Changes the row and tells of it; a change that changes nothing leaves no trace. */
export function setBudget(draft: Draft, setting: BudgetSetting): Result<{ readonly user: string }> {
  const { user, change, actor, nowMs } = setting;
  if (!setting.mayManage) {
    return refuse(
      'PERMISSION_DENIED',
      `${actor} may not set budgets: only who administers this cluster, the owner of its data folder, may.`,
    );
  }
  const name = checkNamePart('user', user, false);
  if (!name.ok) return name;
  const both = change.allow.find((band) => change.disallow.includes(band));
  if (both !== undefined) {
    const word = both.toLowerCase();
    return refuse('INVALID_ARGUMENT', `allow and disallow both name ${word}; name it in one of them.`, [
      { field: 'disallow', value: word, expected: `a band that allow does not name` },
    ]);
  }
  const rights = change.allow.length + change.disallow.length;
  if (
    change.limit === undefined &&
    change.maxBand === undefined &&
    change.quota === undefined &&
    rights === 0
  ) {
    return refuse(
      'INVALID_ARGUMENT',
      `Nothing to set for ${user}: name a limit, a best band, a quota, or a right to allow or disallow.`,
    );
  }
  const row = draft.budget(user);
  const before = settingsOf(row ?? unset);
  const allowed = new Set([...before.allow, ...change.allow]);
  for (const band of change.disallow) allowed.delete(band);
  const after = {
    limit: change.limit ?? before.limit,
    maxBand: change.maxBand ?? before.maxBand,
    allow: [...allowed].sort((left, right) => bandRank(left) - bandRank(right)),
    quota: changedQuota(before.quota, change.quota ?? {}),
  };
  if (row !== undefined && JSON.stringify(before) === JSON.stringify(after)) return ok({ user });
  draft.putBudget({ user, ...after, updatedAtMs: nowMs });
  draft.audit(nowMs, actor, 'budget_set', `/${user}`, { before: row === undefined ? null : before, after });
  return ok({ user });
}

function settingsOf({ limit, maxBand, allow, quota }: Settings): Settings {
  return { limit, maxBand, allow, quota };
}

export function changedQuota(before: QuotaView, change: NonNullable<BudgetChange['quota']>): QuotaView {
  const bound = (key: keyof QuotaView) => (change[key] === undefined ? before[key] : change[key]);
  return {
    tasks: bound('tasks'),
    gpus: bound('gpus'),
    cpuMillicores: bound('cpuMillicores'),
    memoryBytes: bound('memoryBytes'),
  };
}

/** The band a job gets that was asked for by nobody: its parent's, or INTERACTIVE. */
export function resolveBand(spec: JobSpec, parent: Job | null): Band {
  return spec.priority === 'INHERIT' ? (parent?.band ?? 'INTERACTIVE') : spec.priority;
}

/**
 * The band of a submission, if its identity may ask for it. A band that was inherited is judged like one that was asked for, and a
 * child by the identity its root was submitted by: no way leads around a right.
 */
export function checkSubmittedBand(
  view: Pick<ModelView, 'budget'>,
  spec: JobSpec,
  parent: Job | null,
  submission: { readonly user: string; readonly submittedBy: string },
): Result<Band> {
  const band = resolveBand(spec, parent);
  const user = chargedIdentity(parent?.submittedBy ?? submission.submittedBy, submission.user);
  const budget = budgetInForce(view.budget(user), originalDefaultBudget.limit);
  const checked = checkBand(user, band, budget);
  if (checked.ok) return checked;
  const open = bands.filter((other) => checkBand(user, other, budget).ok).map((other) => other.toLowerCase());
  const word = band.toLowerCase();
  const { code, message } = checked.refusal;
  const upper = isUpperBand(band);
  const command = `irisctl budget set ${user} ${upper ? '--allow' : '--max-band'} ${word}`;
  const advice = upper
    ? ''
    : ` Ask for another with --priority, or who manages budgets raises it with: ${command}`;
  return refuse(code, `${message}${advice}`, [
    { field: 'priority', value: word, expected: `${open.join(' or ')}, unless allowed with: ${command}` },
  ]);
}
