/** What was noticed of an attempt besides how it ended. */
import type { Migration } from './migration.js';

export const attemptWarnings: Migration = {
  version: 2,
  name: 'attempt-warnings',
  sql: 'ALTER TABLE attempts ADD COLUMN warnings TEXT;',
};
