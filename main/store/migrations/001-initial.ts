/**
 * Jobs, their specifications, tasks, attempts, audit, inbox, receipts and counters. States and bands are stored as numbers
 * (see codes.ts): of `job.proto` for states, the rank for bands.
 */
import type { Migration } from './migration.js';

export const initial: Migration = {
  version: 1,
  name: 'initial',
  sql: `
CREATE TABLE jobs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  user TEXT NOT NULL,
  submitted_by TEXT NOT NULL,
  parent_id TEXT REFERENCES jobs(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  root_id TEXT NOT NULL,
  depth INTEGER NOT NULL,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  state INTEGER NOT NULL,
  band INTEGER NOT NULL,
  submitted_at_ms INTEGER NOT NULL,
  root_submitted_at_ms INTEGER NOT NULL,
  started_at_ms INTEGER,
  finished_at_ms INTEGER,
  scheduling_deadline_ms INTEGER,
  cause_code TEXT,
  cause_message TEXT,
  exit_code INTEGER,
  num_tasks INTEGER NOT NULL,
  retry_of TEXT,
  gpu_count INTEGER NOT NULL,
  command_line TEXT NOT NULL,
  search_text TEXT NOT NULL
) STRICT;
CREATE INDEX jobs_by_submission ON jobs(depth, submitted_at_ms);
CREATE INDEX jobs_by_state ON jobs(depth, state, submitted_at_ms);
CREATE INDEX jobs_by_finish ON jobs(depth, finished_at_ms);
CREATE INDEX jobs_by_name ON jobs(name_key, depth, submitted_at_ms);
CREATE INDEX jobs_by_user ON jobs(user, depth, submitted_at_ms);
CREATE INDEX jobs_by_parent ON jobs(parent_id, submitted_at_ms) WHERE parent_id IS NOT NULL;
CREATE INDEX jobs_by_root ON jobs(root_id);
CREATE INDEX jobs_live ON jobs(root_id) WHERE state IN (1, 3);

CREATE TABLE job_config (
  job_seq INTEGER PRIMARY KEY REFERENCES jobs(seq) ON DELETE CASCADE,
  spec TEXT NOT NULL
) STRICT;

CREATE TABLE tasks (
  job_id TEXT NOT NULL REFERENCES jobs(id) ON DELETE CASCADE,
  task_index INTEGER NOT NULL,
  state INTEGER NOT NULL,
  final INTEGER NOT NULL,
  band INTEGER NOT NULL,
  submitted_at_ms INTEGER NOT NULL,
  started_at_ms INTEGER,
  finished_at_ms INTEGER,
  exit_code INTEGER,
  cause_code TEXT,
  cause_message TEXT,
  waiting_code TEXT,
  waiting_message TEXT,
  current_attempt INTEGER NOT NULL,
  insertion INTEGER NOT NULL,
  failure_count INTEGER NOT NULL,
  preemption_count INTEGER NOT NULL,
  PRIMARY KEY (job_id, task_index)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
  job_id TEXT NOT NULL,
  task_index INTEGER NOT NULL,
  number INTEGER NOT NULL,
  uid TEXT NOT NULL UNIQUE,
  state INTEGER NOT NULL,
  backend_id TEXT NOT NULL,
  worker_id TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  started_at_ms INTEGER,
  finished_at_ms INTEGER,
  duration_ms REAL,
  exit_code INTEGER,
  signal TEXT,
  cause_code TEXT,
  cause_message TEXT,
  devices TEXT,
  cpu_millicores INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  ports TEXT,
  peak_memory_bytes INTEGER,
  pid INTEGER,
  PRIMARY KEY (job_id, task_index, number),
  FOREIGN KEY (job_id, task_index) REFERENCES tasks(job_id, task_index) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_unfinished ON attempts(job_id) WHERE finished_at_ms IS NULL;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  entity TEXT NOT NULL,
  detail TEXT
) STRICT;
CREATE INDEX audit_by_entity ON audit(entity);

CREATE TABLE inbox (
  id INTEGER PRIMARY KEY,
  job_id TEXT NOT NULL,
  job_name TEXT NOT NULL,
  state INTEGER NOT NULL,
  cause_code TEXT,
  cause_message TEXT,
  at_ms INTEGER NOT NULL,
  duration_ms REAL,
  read INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX inbox_unread ON inbox(at_ms) WHERE read = 0;

CREATE TABLE receipts (
  request_id TEXT NOT NULL PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  answer TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX receipts_by_time ON receipts(at_ms);

CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
