/**
 * What users used over time, in value x milliseconds: of what has ended, plain and faded. Begins with what the attempts still known
 * tell of; `job_pruned` ones are not known any more.
 */
import type { Migration } from './migration.js';

export const userUses: Migration = {
  version: 8,
  name: 'user-uses',
  sql: `
CREATE TABLE user_uses (
  user_id TEXT NOT NULL PRIMARY KEY,
  gpus REAL NOT NULL,
  memory REAL NOT NULL,
  processors REAL NOT NULL,
  faded_gpus REAL NOT NULL,
  faded_memory REAL NOT NULL,
  faded_processors REAL NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO user_uses
SELECT user_id, sum(1000.0 * cards * held), sum(1.0 * gibibytes * held), sum(5.0 * cores * held), 0, 0, 0
FROM (
  SELECT CASE WHEN j.submitted_by IN ('', 'local_admin') THEN j.user ELSE j.submitted_by END AS user_id,
    max(0, a.finished_at_ms - a.created_at_ms) AS held,
    CASE WHEN a.devices IS NULL THEN 0 ELSE json_array_length(a.devices) END AS cards,
    a.memory_bytes / 1073741824 AS gibibytes,
    a.cpu_millicores / 1000 AS cores
  FROM attempts a JOIN jobs j ON j.id = a.job_id
  WHERE a.finished_at_ms IS NOT NULL AND j.band <> 3
)
GROUP BY user_id;
`,
};
