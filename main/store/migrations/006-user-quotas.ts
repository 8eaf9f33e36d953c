/** What a user may have active at once, as JSON; null for no bound. */
import type { Migration } from './migration.js';

export const userQuotas: Migration = {
  version: 6,
  name: 'user-quotas',
  sql: 'ALTER TABLE user_budgets ADD COLUMN quota TEXT;',
};
