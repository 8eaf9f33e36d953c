/** A budget being edited, and what saving it would change. */
import {
  budgetChangeSchema,
  budgetLimitSchema,
  upperBands,
  type BudgetView,
  type UpperBand,
} from '../../../core/contract/budgets.js';
import type { Params } from '../../../core/contract/api.js';
import type { Band } from '../../../core/contract/states.js';
import { budgets as words, limitWord } from '../../strings/budgets.js';

export type LimitKind = 'default' | 'unlimited' | 'number';

export interface BudgetDraft {
  readonly user: string;
  readonly kind: LimitKind;
  readonly number: string;
  readonly maxBand: Band;
  readonly allow: readonly UpperBand[];
}

export type BudgetChange = Params<'budget.set'>['change'];

export interface BudgetEdit {
  readonly errors: { readonly user?: string; readonly limit?: string };
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
};

export function draftOf(row: BudgetView): BudgetDraft {
  const kind = row.limitIsDefault ? 'default' : row.limit === 'unlimited' ? 'unlimited' : 'number';
  return {
    user: row.user,
    kind,
    number: kind === 'number' ? String(row.limit) : '',
    maxBand: row.maxBand,
    allow: row.allow,
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
  sentences.push(...(change.allow ?? []).map(words.granted), ...(change.disallow ?? []).map(words.taken));
  return {
    errors: {
      ...(draft.user.trim() === '' ? { user: words.needsUser } : {}),
      ...(limit.error === undefined ? {} : { limit: limit.error }),
    },
    change,
    sentences,
  };
}
