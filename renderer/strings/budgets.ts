/** Strings of the Budgets page, and of what is shown of one's own budget elsewhere. */
import type { BudgetLimitView, GpuHoursView, SpendView } from '../../core/contract/budgets.js';
import type { UpperBand, Band } from '../../core/contract/states.js';
import { halfLifeToText } from '../../core/contract/half-life.js';
import { formatCount } from './common.js';
import { made } from './numbers.js';

export const bandWords: Readonly<Record<Band, string>> = {
  SYSTEM: 'System',
  PRODUCTION: 'Production',
  INTERACTIVE: 'Interactive',
  BATCH: 'Batch',
};

export const limitWord = (limit: BudgetLimitView): string =>
  limit === 'unlimited' ? 'No limit' : formatCount(limit);

/** `7 days`, `36 hours`: as it was set. */
export function halfLifeWords(ms: number): string {
  const hours = ms / 3_600_000;
  if (!Number.isInteger(hours)) return halfLifeToText(ms);
  const [count, unit] = hours % 24 === 0 ? [hours / 24, 'day'] : [hours, 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

const fewHours = made(
  () => new Intl.NumberFormat('en-US', { maximumFractionDigits: 1, minimumFractionDigits: 1 }),
);
const manyHours = made(() => new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 }));

/** GPU-hours: to a tenth while they are few; what is less than that is not nothing. */
export function formatHours(hours: number): string {
  if (hours > 0 && hours < 0.05) return '< 0.1';
  return hours === 0 ? '0' : (hours < 100 ? fewHours() : manyHours()).format(hours);
}

const used = (spend: number, limit: BudgetLimitView): string =>
  limit === 'unlimited'
    ? `${formatCount(spend)}, no limit`
    : `${formatCount(spend)} of ${formatCount(limit)}`;

export const budgets = {
  title: 'Budgets',
  what: 'The budgets',
  keyBudgets: 'Go to Budgets',
  also: 'limit user priority band right spend',
  intro:
    'A GPU in use counts 1,000, a GiB of memory 1, a core 5; batch work counts nothing. Who has more than the limit in use competes as batch.',
  owner: 'Only the owner of the data folder may change budgets.',
  // Own budget
  mine: 'Your budget',
  mineOf: (spend: number, limit: BudgetLimitView): string => `you: ${used(spend, limit)}`,
  used,
  usedLabel: (user: string): string => `Used by ${user}`,
  parts: (spend: SpendView): string =>
    `GPUs ${formatCount(spend.gpus)}, memory ${formatCount(spend.memory)}, processors ${formatCount(spend.processors)}`,
  nothingUsed: 'Nothing is used now.',
  inAll: (used: GpuHoursView): string => `${formatHours(used.total)} GPU-hours in all.`,
  mineTitle: (used: GpuHoursView, faded: GpuHoursView | null): string =>
    `What your running work uses of your budget. ${formatHours(used.total)} GPU-hours in all${
      faded === null ? '' : `, of which ${formatHours(faded.total)} still count`
    }. Show all budgets.`,
  near: (left: number): string => `${formatCount(left)} left.`,
  over: (by: number): string => `${formatCount(by)} over the limit.`,
  // Table
  table: 'Budgets by user',
  user: 'User',
  limit: 'Limit',
  usedNow: 'Used now',
  hours: 'GPU-hours',
  hoursHint:
    'What was held over time: hours of a GPU, or of what is worth as much in memory or processors. Batch work counts nothing.',
  faded: 'Faded',
  fadedHint: (halfLife: string): string =>
    `GPU-hours, those of ${halfLife} ago counting half. Who has least goes first within a band.`,
  showParts: (user: string): string => `What ${user} uses, by part`,
  part: 'Part',
  partWords: { gpus: 'GPUs', memory: 'Memory', processors: 'Processors', total: 'Together' },
  maxBand: 'Best band',
  rights: 'Rights',
  you: 'you',
  defaultLimit: 'default',
  defaultLimitHint: 'Nothing was set: the limit follows the machines of this cluster.',
  quota: 'Quota',
  quotaExample: 'gpus=4,tasks=10',
  noQuota: 'Nothing bounds what may be active at once.',
  noRights: 'No right to the upper bands, Production and System.',
  edit: (user: string): string => `Change the budget of ${user}`,
  add: 'Set for a user',
  // Editing
  userName: 'Name of the user',
  limitKind: 'Kind of limit',
  kindDefault: 'Default',
  kindUnlimited: 'No limit',
  kindNumber: 'A number',
  limitNumber: 'Limit',
  right: (band: UpperBand): string => bandWords[band],
  save: 'Save',
  needsUser: 'Name a user.',
  limitExpected: (text: string, expected: string): string =>
    text === '' ? `Expected ${expected}.` : `${text}: expected ${expected}.`,
  confirmTitle: (user: string): string => `Change the budget of ${user}?`,
  confirmAction: 'Change budget',
  changedLimit: (before: string, after: string): string => `Limit: ${before} becomes ${after}.`,
  changedBand: (before: Band, after: Band): string =>
    `Best band: ${bandWords[before]} becomes ${bandWords[after]}.`,
  changedQuota: (before: string, after: string): string =>
    `Quota: ${before === '' ? 'none' : before} becomes ${after === '' ? 'none' : after}.`,
  granted: (band: UpperBand): string =>
    `May ask for ${bandWords[band]}, which goes before ${band === 'SYSTEM' ? 'everything else' : 'all interactive and batch work'} and is never demoted.`,
  taken: (band: UpperBand): string => `May no longer ask for ${bandWords[band]}. What was submitted stays.`,
  refused: (message: string): string => `Not changed. ${message}`,
  // Past use
  pastUse: 'Past use',
  pastUseOff: 'Does not count',
  pastUseOn: (halfLife: string): string => `Counts half after ${halfLife}`,
  pastUseNow: (halfLife: string | null): string =>
    halfLife === null
      ? 'Within a band, whoever uses least now goes first.'
      : `Within a band, whoever used least goes first; what was used ${halfLife} ago counts half.`,
  pastUseTitle: 'Change how past use counts?',
  pastUseOffBody:
    'Users are ordered by what they use now. What was used stays on record; turned on again, all of it counts at first.',
  pastUseOnBody: (halfLife: string): string =>
    `Within a band, whoever used least goes first. What was used so far counts as it does now and fades from there: half of it is left after ${halfLife}. Limits and demotion follow what is used now, as before.`,
  pastUseAction: 'Change',
  // New job
  bandNeedsRight: (band: string): string => `${band} (needs a right you do not have)`,
  bandAboveBest: (band: string): string => `${band} (above your best band)`,
} as const;
