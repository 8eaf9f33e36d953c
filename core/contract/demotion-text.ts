/** Why work competes in a lower band than asked for, in one sentence. */
import type { DemotionView } from './views.js';

/** `placed`: the numbers are those of its placement, not of now. */
export function demotionText(
  { requested, effective, user, spend, limit }: DemotionView,
  placed: boolean,
): string {
  const uses = placed ? 'had' : 'has';
  const when = placed ? ' when it was placed' : '';
  return `Demoted to ${effective}, asked for ${requested}, because ${user} ${uses} ${spend} of ${limit} in use${when}.`;
}
