/** The order of a list that shows child jobs as well as roots. Written once a job: nothing of it ever changes. */
import type { Migration } from './migration.js';

export const flatList: Migration = {
  version: 10,
  name: 'flat list',
  sql: 'CREATE INDEX jobs_by_time ON jobs(submitted_at_ms);',
};
