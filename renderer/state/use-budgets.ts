/** Budgets as they are now, and which of them is one's own. */
import type { BudgetView } from '../../core/contract/budgets.js';
import type { Refusal } from '../../core/contract/errors.js';
import { useCall, useTopic } from './hooks.js';

export type BudgetsState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly refusal: Refusal; readonly retry: () => void }
  | {
      readonly kind: 'live';
      readonly me: string;
      readonly mayManage: boolean;
      /** How past use fades; null: it does not count. */
      readonly halfLifeMs: number | null;
      readonly rows: readonly BudgetView[];
      readonly mine: BudgetView | null;
    };

/** What is held adds to use over time without any event: it is asked for again this often. */
const refreshMs = 60_000;

/** Who asks is answered once; the rows come live, without the caller when neither set nor active. */
export function useBudgets(): BudgetsState {
  const asked = useCall('budget.list', {}, { staleTimeMs: refreshMs, refreshMs });
  const topic = useTopic('budgets', {});
  if (asked.error !== null && asked.data === undefined) {
    return { kind: 'failed', refusal: asked.error.refusal, retry: () => void asked.refetch() };
  }
  if (topic.kind === 'ended') {
    return { kind: 'failed', refusal: topic.refusal, retry: () => void asked.refetch() };
  }
  if (asked.data === undefined || topic.kind === 'loading') return { kind: 'loading' };
  const { me, mayManage } = asked.data;
  const isMe = (row: BudgetView) => row.user === me;
  // Each is whole; the later one counts.
  const { budgets: rows, halfLifeMs } = madeAt(asked.data) > madeAt(topic.value) ? asked.data : topic.value;
  const mine = rows.find(isMe) ?? asked.data.budgets.find(isMe) ?? null;
  const all = mine === null || rows.some(isMe) ? rows : [...rows, mine];
  return { kind: 'live', me, mayManage, halfLifeMs, rows: all, mine };
}

function madeAt({ budgets }: { readonly budgets: readonly BudgetView[] }): number {
  return budgets[0]?.atMs ?? 0;
}

/** Share of the limit from which little is left. */
const nearShare = 0.8;

/** 0 to 1; null where there is no limit. */
export function usedShare({ spend, limit }: Pick<BudgetView, 'spend' | 'limit'>): number | null {
  return limit === 'unlimited' ? null : Math.min(1, spend.total / limit);
}

export function isNearLimit(budget: Pick<BudgetView, 'spend' | 'limit'>): boolean {
  return (usedShare(budget) ?? 0) >= nearShare;
}
