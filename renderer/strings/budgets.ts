/** Strings of the Budgets page, and of what is shown of one's own budget elsewhere. */
import type { BudgetLimitView, SpendView, UpperBand } from '../../core/contract/budgets.js';
import type { Band } from '../../core/contract/states.js';
import { formatCount } from './common.js';

export const bandWords: Readonly<Record<Band, string>> = {
  SYSTEM: 'System',
  PRODUCTION: 'Production',
  INTERACTIVE: 'Interactive',
  BATCH: 'Batch',
};

export const limitWord = (limit: BudgetLimitView): string =>
  limit === 'unlimited' ? 'No limit' : formatCount(limit);

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
  mineHint: 'What your running work uses of your budget. Show all budgets.',
  used,
  usedLabel: (user: string): string => `Used by ${user}`,
  parts: (spend: SpendView): string =>
    `GPUs ${formatCount(spend.gpus)}, memory ${formatCount(spend.memory)}, processors ${formatCount(spend.processors)}`,
  nothingUsed: 'Nothing is used now.',
  near: (left: number): string => `${formatCount(left)} left.`,
  over: (by: number): string => `${formatCount(by)} over the limit.`,
  // Table
  table: 'Budgets by user',
  user: 'User',
  limit: 'Limit',
  usedNow: 'Used now',
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
  // New job
  bandNeedsRight: (band: string): string => `${band} (needs a right you do not have)`,
  bandAboveBest: (band: string): string => `${band} (above your best band)`,
} as const;
