/** Why an attempt was placed in a lower band than asked for, as JSON; null for those that were not. */
import type { Migration } from './migration.js';

export const demotions: Migration = {
  version: 9,
  name: 'demotions',
  sql: 'ALTER TABLE attempts ADD COLUMN demoted TEXT;',
};
