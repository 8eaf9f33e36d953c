/** Holds and the owner's own order of jobs; places that wait for their victims; notices and checkpoints of attempts. */
import type { Migration } from './migration.js';

export const scheduling: Migration = {
  version: 4,
  name: 'scheduling',
  sql: `
ALTER TABLE jobs ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN own_rank INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN claim TEXT;
ALTER TABLE attempts ADD COLUMN checkpoint_at_ms INTEGER;
ALTER TABLE attempts ADD COLUMN notice_at_ms INTEGER;
ALTER TABLE attempts ADD COLUMN evictable_by TEXT;
`,
};
