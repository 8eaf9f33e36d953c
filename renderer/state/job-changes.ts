/** Holding, releasing, moving jobs and changing their band, as one call; what was refused by job. */
import type { JobChange } from '../../core/contract/queue.js';
import type { Refusal } from '../../core/contract/errors.js';
import { bandRank, isUpperBand, type Band } from '../../core/contract/states.js';
import type { BudgetView } from '../../core/contract/budgets.js';
import type { Host } from './host.js';
import { asRefusal } from './hooks.js';
import { newRequestId } from './request-id.js';

/** Never throws: a call that failed has refused every job of it. */
export async function changeJobs(
  host: Pick<Host, 'call'>,
  jobIds: readonly string[],
  change: JobChange,
): Promise<ReadonlyMap<string, Refusal>> {
  try {
    const { results } = await host.call('job.change', {
      requestId: newRequestId(),
      jobIds: [...jobIds],
      change,
    });
    return new Map(results.flatMap(({ id, refusal }) => (refusal === null ? [] : [[id, refusal] as const])));
  } catch (error) {
    const refusal = asRefusal(error);
    return new Map(jobIds.map((id) => [id, refusal]));
  }
}

/** Whether a budget lets its user ask for the band. */
export function mayAskFor(budget: Pick<BudgetView, 'allow' | 'maxBand'>, band: Band): boolean {
  return isUpperBand(band) ? budget.allow.includes(band) : bandRank(band) >= bandRank(budget.maxBand);
}
