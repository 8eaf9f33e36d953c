/** Budgets of many users written once: tiers, applied in order, the later one winning. */
import type { Band } from '../contract/states.js';
import { bandSchema } from '../contract/state-schemas.js';
import { ok, refuse, type Result } from '../contract/errors.js';
import type { Budget, UpperBand } from './effective-band.js';

export interface Tier {
  readonly users: readonly string[];
  readonly limit: number;
  /** As written; checked here. */
  readonly maxBand: string;
  readonly allow?: readonly UpperBand[];
}

/** One wrong entry refuses all: half-applied tiers would be worse than none. Users not listed get no row. */
export function budgetsOfTiers(tiers: readonly Tier[]): Result<ReadonlyMap<string, Budget>> {
  const budgets = new Map<string, Budget>();
  for (const [at, tier] of tiers.entries()) {
    const band = parseBand(tier.maxBand);
    if (band === null) return wrong(at, 'maxBand', tier.maxBand, 'system, production, interactive or batch');
    if (!Number.isFinite(tier.limit) || tier.limit < 0)
      return wrong(at, 'limit', String(tier.limit), 'a number from 0, which is no limit');
    for (const user of tier.users) {
      if (user.trim() === '') return wrong(at, 'users', `"${user}"`, 'names of users');
      budgets.set(user, { limit: tier.limit, maxBand: band, allow: tier.allow ?? [] });
    }
  }
  return ok(budgets);
}

function parseBand(text: string): Band | null {
  const parsed = bandSchema.safeParse(text.trim().toUpperCase());
  return parsed.success ? parsed.data : null;
}

function wrong(at: number, field: string, value: string, expected: string): Result<never> {
  const path = `tiers.${at}.${field}`;
  return refuse('INVALID_ARGUMENT', `${path}: ${value} is not valid; expected ${expected}.`, [
    { field: path, value, expected },
  ]);
}
