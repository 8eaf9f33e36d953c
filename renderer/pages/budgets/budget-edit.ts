/** A budget being edited, and what saving it would change. */
import {
  budgetChangeSchema,
  budgetLimitSchema,
  noQuota,
  type BudgetView,
} from '../../../core/contract/budgets.js';
import { upperBands, type UpperBand, type Band } from '../../../core/contract/states.js';
import type { Params } from '../../../core/contract/api.js';
import { quotaToText, textToQuota } from '../../../core/contract/quota-text.js';
import { budgets as words, limitWord } from '../../strings/budgets.js';

export type LimitKind = 'default' | 'unlimited' | 'number';

export interface BudgetDraft {
  readonly user: string;
  readonly kind: LimitKind;
  readonly number: string;
  readonly maxBand: Band;
  readonly allow: readonly UpperBand[];
  /** As people write it; empty for none. */
  readonly quota: string;
}

export type BudgetChange = Params<'budget.set'>['change'];

export interface BudgetEdit {
  readonly errors: { readonly user?: string; readonly limit?: string; readonly quota?: string };
  readonly change: BudgetChange;
  /** One a difference, as it is asked before saving; empty when nothing differs. */
  readonly sentences: readonly string[];
}

/** A budget nobody set, for a user yet to be named. */
export const newDraft: BudgetDraft = {
  user: '',
  kind: 'default',
  number: '',
  maxBand: 'INTERACTIVE',
  allow: [],
  quota: '',
};

export function draftOf(row: BudgetView): BudgetDraft {
  const kind = row.limitIsDefault ? 'default' : row.limit === 'unlimited' ? 'unlimited' : 'number';
  return {
    user: row.user,
    kind,
    number: kind === 'number' ? String(row.limit) : '',
    maxBand: row.maxBand,
    allow: row.allow,
    quota: quotaToText(row.quota),
  };
}

function limitOf(draft: BudgetDraft): { value: BudgetChange['limit']; error?: string } {
  if (draft.kind !== 'number') return { value: draft.kind };
  const text = draft.number.trim();
  const plain = text.replaceAll(',', '');
  const parsed = budgetLimitSchema.safeParse(/^\d+$/.test(plain) ? Number(plain) : null);
  if (parsed.success) return { value: parsed.data };
  const expected = budgetChangeSchema.shape.limit.safeParse(0.5).error?.issues[0]?.message ?? 'a number';
  return { value: undefined, error: words.limitExpected(text, expected.replace(/, or unlimited.*/, '')) };
}

/** The field holds the whole quota: what is not named in it is not bounded. */
function quotaOf(draft: BudgetDraft): { value: NonNullable<BudgetChange['quota']>; error?: string } {
  if (draft.quota.trim() === '') return { value: noQuota };
  const read = textToQuota(draft.quota);
  if (read.ok) return { value: { ...noQuota, ...read.value } };
  const wrong = read.refusal.fields[0];
  return { value: noQuota, error: words.limitExpected(wrong?.value ?? '', wrong?.expected ?? '') };
}

const shownLimit = (limit: BudgetChange['limit'], fallback: string): string =>
  limit === undefined ? fallback : limit === 'default' ? words.kindDefault : limitWord(limit);

/** `before` is what holds now; for a user without a row, the defaults. */
export function editOf(before: BudgetDraft, draft: BudgetDraft): BudgetEdit {
  const sentences: string[] = [];
  const change: BudgetChange = {
    allow: upperBands.filter((band) => draft.allow.includes(band) && !before.allow.includes(band)),
    disallow: upperBands.filter((band) => before.allow.includes(band) && !draft.allow.includes(band)),
  };
  const limit = limitOf(draft);
  const limitBefore = limitOf(before).value;
  if (limit.error === undefined && limit.value !== limitBefore) {
    change.limit = limit.value;
    sentences.push(words.changedLimit(shownLimit(limitBefore, ''), shownLimit(limit.value, '')));
  }
  if (draft.maxBand !== before.maxBand) {
    change.maxBand = draft.maxBand;
    sentences.push(words.changedBand(before.maxBand, draft.maxBand));
  }
  const quota = quotaOf(draft);
  if (quota.error === undefined && draft.quota.trim() !== before.quota) {
    change.quota = quota.value;
    sentences.push(words.changedQuota(before.quota, draft.quota.trim()));
  }
  sentences.push(...(change.allow ?? []).map(words.granted), ...(change.disallow ?? []).map(words.taken));
  return {
    errors: {
      ...(draft.user.trim() === '' ? { user: words.needsUser } : {}),
      ...(limit.error === undefined ? {} : { limit: limit.error }),
      ...(quota.error === undefined ? {} : { quota: quota.error }),
    },
    change,
    sentences,
  };
}
