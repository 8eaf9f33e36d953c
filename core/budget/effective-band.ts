/** The band work competes in: what was asked for, unless its owner spends more than the limit; and who may ask for which band. */
import { refuse, ok, type Result } from '../contract/errors.js';
import { bandRank, type Band } from '../contract/states.js';

/** The two bands that are never demoted and need a right of their own. */
export type UpperBand = 'SYSTEM' | 'PRODUCTION';

export interface Budget {
  /** Value in use above which work is demoted to BATCH; 0 is no limit. */
  readonly limit: number;
  /** Best band that may be asked for without a right. */
  readonly maxBand: Band;
  /** Upper bands granted to the user, whatever `maxBand` says. */
  readonly allow: readonly UpperBand[];
}

/** Of a user without a row of their own (iris-behaviour section 0). */
export const originalDefaultBudget: Budget = { limit: 1000, maxBand: 'INTERACTIVE', allow: [] };

export function isUpperBand(band: Band): band is UpperBand {
  return band === 'SYSTEM' || band === 'PRODUCTION';
}

/** Strictly more than the limit demotes: who uses just what the limit says is within it. */
export function isOverLimit(spend: number, limit: number): boolean {
  return limit > 0 && spend > limit;
}

export function effectiveBand(requested: Band, spend: number, limit: number): Band {
  return !isUpperBand(requested) && isOverLimit(spend, limit) ? 'BATCH' : requested;
}

/** Why work runs in a lower band than asked for, in numbers; null when it does not. */
export interface Demotion {
  readonly requested: Band;
  readonly spend: number;
  readonly limit: number;
}

export function demotionOf(requested: Band, spend: number, limit: number): Demotion | null {
  return effectiveBand(requested, spend, limit) === requested ? null : { requested, spend, limit };
}

/**
 * Whether the user may ask for the band. The original's rule where the right to manage budgets opens the upper bands is the caller's
 * business: who holds it there passes `mayManage`. Ours needs the grant itself.
 */
export function checkBand(user: string, requested: Band, budget: Budget, mayManage = false): Result<Band> {
  if (isUpperBand(requested)) {
    if (mayManage || budget.allow.includes(requested)) return ok(requested);
    const word = requested.toLowerCase();
    const message =
      `${user} may not submit to ${requested}: it needs the right to it. ` +
      `Who manages budgets grants it with: irisctl budget set ${user} --allow ${word}`;
    return refuse('PERMISSION_DENIED', message);
  }
  if (bandRank(requested) >= bandRank(budget.maxBand)) return ok(requested);
  const message = `${user} may not submit to ${requested}: the best band of that budget is ${budget.maxBand}.`;
  return refuse('PERMISSION_DENIED', message);
}
