/** What was set of machines: the ones added by address, and of the controller's own what was changed by hand. */
import type { Migration } from './migration.js';

export const machines: Migration = {
  version: 5,
  name: 'machines',
  sql: `
CREATE TABLE machines (
  id TEXT NOT NULL PRIMARY KEY,
  address TEXT,
  identity TEXT,
  scheduling TEXT NOT NULL,
  drain_deadline_ms INTEGER,
  attributes TEXT,
  taints TEXT,
  wake_address TEXT,
  added_at_ms INTEGER NOT NULL,
  added_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
