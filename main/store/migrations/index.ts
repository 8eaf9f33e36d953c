/** Every step of the schema in order. A new one is appended; a released one never changes. */
import { initial } from './001-initial.js';
import { attemptWarnings } from './002-attempt-warnings.js';
import { userBudgets } from './003-user-budgets.js';
import { scheduling } from './004-scheduling.js';
import { machines } from './005-machines.js';
import { userQuotas } from './006-user-quotas.js';
import { attemptUsage } from './007-attempt-usage.js';
import { userUses } from './008-user-uses.js';
import { demotions } from './009-demotions.js';
import { flatList } from './010-flat-list.js';
import type { Migration } from './migration.js';

export const migrations: readonly Migration[] = [
  initial,
  attemptWarnings,
  userBudgets,
  scheduling,
  machines,
  userQuotas,
  attemptUsage,
  userUses,
  demotions,
  flatList,
];
