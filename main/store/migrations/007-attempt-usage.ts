/** What an attempt used, as JSON; null for one too short to be measured. */
import type { Migration } from './migration.js';

export const attemptUsage: Migration = {
  version: 7,
  name: 'usage of attempts',
  sql: 'ALTER TABLE attempts ADD COLUMN usage TEXT;',
};
