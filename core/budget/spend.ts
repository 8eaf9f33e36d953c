/**
 * What users use. Spend is instantaneous: the value of what is active now, of work not asked for as BATCH. What they used over time
 * is in the ledger.
 */
import type { Band } from '../contract/states.js';
import { valueParts, type Amount, type ValueParts } from './value.js';

/** A task ASSIGNED, BUILDING or RUNNING. */
export interface ActiveUse extends Amount {
  readonly user: string;
  /** As asked for: a demoted task still counts, a BATCH one never does. */
  readonly requestedBand: Band;
}

export interface Spend extends ValueParts {
  readonly total: number;
}

export const noSpend: Spend = { gpus: 0, memory: 0, processors: 0, total: 0 };

export function countsAsSpend(requestedBand: Band): boolean {
  return requestedBand !== 'BATCH';
}

/** Spend of each user who has any, by part. */
export function spendByUser(active: Iterable<ActiveUse>): Map<string, Spend> {
  const spends = new Map<string, Spend>();
  for (const use of active) {
    if (!countsAsSpend(use.requestedBand)) continue;
    const before = spends.get(use.user) ?? noSpend;
    const { gpus, memory, processors } = valueParts(use);
    spends.set(use.user, {
      gpus: before.gpus + gpus,
      memory: before.memory + memory,
      processors: before.processors + processors,
      total: before.total + gpus + memory + processors,
    });
  }
  return spends;
}

/** The local administrator acts for the owner of a job; everybody else is charged themselves. */
export function chargedIdentity(submittedBy: string, owner: string): string {
  return submittedBy === '' || submittedBy === 'local_admin' ? owner : submittedBy;
}
