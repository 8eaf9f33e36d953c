/** What a line of the list says of a job's band. */
import { isTerminalJobState } from '../../../core/contract/states.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { bandWords } from '../../strings/budgets.js';
import { demotedText } from '../../strings/explanation.js';
import { jobs as words } from '../../strings/jobs.js';

/** The band while it matters and is not the usual one; nothing for what is over. */
export function bandMark({ state, band, demoted }: JobSummary): string {
  if (isTerminalJobState(state)) return '';
  if (demoted !== undefined) return words.demotedMark;
  return band === 'INTERACTIVE' ? '' : bandWords[band];
}

/** For its hover. */
export function bandHint({ band, state, demoted }: JobSummary): string {
  return demoted === undefined ? words.bandHint(band) : demotedText(demoted, state !== 'PENDING');
}
