/** What the questions on leaving say of the jobs. Pure. */
import { formatWhole } from '../../core/formats/counts.js';

export function unfinishedWords(unfinished: number): string {
  return unfinished === 1 ? '1 job is not finished.' : `${formatWhole(unfinished)} jobs are not finished.`;
}

/** Nothing where all is over. */
export function eitherWayWords(unfinished: number): string {
  if (unfinished === 0) return '';
  return `${unfinishedWords(unfinished)} ${unfinished === 1 ? 'It goes' : 'They go'} on either way. `;
}
