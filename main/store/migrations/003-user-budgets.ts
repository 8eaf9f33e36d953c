/** What was set for users: an absent limit is the cluster's default, 0 is none. */
import type { Migration } from './migration.js';

export const userBudgets: Migration = {
  version: 3,
  name: 'user-budgets',
  sql: `
CREATE TABLE user_budgets (
  user_id TEXT NOT NULL PRIMARY KEY,
  budget_limit INTEGER,
  max_band INTEGER NOT NULL,
  allowed_bands TEXT,
  updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
