/** The limit of users without a budget of their own, scaled to what the cluster has. */
import { originalDefaultBudget } from './effective-band.js';
import { resourceValue, type Amount } from './value.js';

/**
 * Half of what all machines are worth, but never less than the largest of them: one task on one whole machine must not demote its
 * owner, which is what a fixed 1000 did to everybody with eight GPUs. Rounded up to a hundred; at least the original's 1000.
 */
export function scaledDefaultLimit(machines: readonly Amount[]): number {
  let all = 0;
  let largest = 0;
  for (const machine of machines) {
    const value = resourceValue(machine);
    all += value;
    largest = Math.max(largest, value);
  }
  const limit = Math.max(all / 2, largest, originalDefaultBudget.limit);
  return Math.ceil(limit / 100) * 100;
}
