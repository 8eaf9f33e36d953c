/** What the window and irisctl are shown: plain records derived from the controller's state. Times are epoch milliseconds (UTC). */
import { z } from 'zod';
import { machineViewSchema } from './machines.js';
import { attemptUsageSchema } from './usage.js';
import { attemptStateSchema, bandSchema, jobStateSchema, taskStateSchema } from './state-schemas.js';

const timeMs = z.number().int();
const optionalTimeMs = timeMs.nullable();

/**
 * Why something ended or waits: `code` for programs, `message` one sentence for people that names the thing and what there is
 * or can be done. Codes are stable.
 */
export const causeCodes = [
  // Waiting
  'WAITS_FOR_CAPACITY',
  'WAITS_NO_WORKER_FITS',
  'WAITS_FOR_CONSTRAINT',
  'WAITS_FOR_PREDECESSOR',
  'WAITS_BACKEND_NOT_READY',
  'WAITS_HELD',
  'WAITS_FOR_TIME',
  'WAITS_FOR_JOB',
  'WAITS_FOR_VICTIM',
  'WAITS_RESERVED',
  'WAITS_QUOTA',
  'WAITS_JOB_CAP',
  'WAITS_FOR_TURN',
  // Ended by the command itself
  'EXIT_CODE',
  'SIGNALED',
  'EXIT_OR_SIGNAL',
  // Could not start
  'PROGRAM_NOT_FOUND',
  'PROGRAM_NOT_EXECUTABLE',
  'FOLDER_MISSING',
  'FOLDER_NOT_PERMITTED',
  'STAGING_FAILED',
  'START_FAILED',
  'IMAGE_UNAVAILABLE',
  'IMAGE_NOT_FOUND',
  'REGISTRY_LOGIN_NEEDED',
  'REGISTRY_LOGIN_REFUSED',
  'REGISTRY_UNREACHABLE',
  'SETUP_FAILED',
  // Ended by us
  'TIME_LIMIT',
  'MEMORY_LIMIT',
  'STOPPED_BY_USER',
  'PARENT_ENDED',
  'JOB_ENDED',
  'GANG_SIBLING_ENDED',
  'PREEMPTED',
  'SCHEDULING_DEADLINE',
  'FINISH_DEADLINE',
  'DEPENDENCY_UNMET',
  'TOO_MANY_REPLICAS',
  // Infrastructure
  'WORKER_LOST',
  'REBOOTED',
  'SUPERVISOR_LOST',
  'CONTAINER_LOST',
  'LOG_STORAGE_FULL',
  'DOCKER_STORAGE_FULL',
  'GPU_LOST',
  'GPU_CLAIMED',
  'GPU_UNCLAIMABLE',
  // Warnings of an attempt
  'MEMORY_NEAR_LIMIT',
  'PROCESSES_REMAIN',
  'FOLDER_LOST',
  'LOG_ENGINE_RESTARTED',
  'LOG_UNREADABLE',
  'GPU_STILL_USED',
  'GPU_INTRUDER',
  'GPU_IDLE',
  'UNKNOWN',
] as const;
export const causeSchema = z.strictObject({ code: z.enum(causeCodes), message: z.string() });
export type Cause = z.infer<typeof causeSchema>;
export type CauseCode = Cause['code'];

/** Why work competes in a lower band than asked for: what its user had in use at the time, above the limit. */
export const demotionSchema = z.strictObject({
  requested: bandSchema,
  effective: bandSchema,
  user: z.string(),
  spend: z.number(),
  limit: z.number(),
  /** When that was so: at the assignment of what runs, now of what waits. */
  atMs: timeMs,
});
export type DemotionView = z.infer<typeof demotionSchema>;

/** Number of tasks by state; states with none are absent. */
export const taskCountsSchema = z.partialRecord(taskStateSchema, z.number().int());

/** One line of the job list. */
export const jobSummarySchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  user: z.string(),
  parentId: z.string().nullable(),
  rootId: z.string(),
  depth: z.number().int(),
  state: jobStateSchema,
  band: bandSchema,
  submittedAtMs: timeMs,
  startedAtMs: optionalTimeMs,
  finishedAtMs: optionalTimeMs,
  numTasks: z.number().int(),
  taskCounts: taskCountsSchema,
  childCount: z.number().int(),
  failureCount: z.number().int(),
  preemptionCount: z.number().int(),
  /** GPUs asked for by all tasks together. */
  gpuCount: z.number().int(),
  /** Exit code of the first failed task by index, 0 when succeeded, null while unknown. */
  exitCode: z.number().int().nullable(),
  /** Why it ended, when it did not succeed. */
  cause: causeSchema.nullable(),
  /** Why it waits, of its first waiting task. */
  waiting: causeSchema.nullable(),
  /** Workers its active or last attempts are on; at most four, in name order. */
  workers: z.array(z.string()),
  /** The command in one line, cut at 200 characters; for search and display. */
  commandLine: z.string(),
  /** The job this one was run again from. */
  retryOf: z.string().nullable(),
  /** Waits until it is released. */
  held: z.boolean(),
  /** Of its first task that runs or waits in a lower band than asked for; absent where none does. */
  demoted: demotionSchema.optional(),
});
export type JobSummary = z.infer<typeof jobSummarySchema>;

export const attemptViewSchema = z.strictObject({
  uid: z.string(),
  taskId: z.string(),
  number: z.number().int(),
  state: attemptStateSchema,
  workerId: z.string().nullable(),
  createdAtMs: timeMs,
  startedAtMs: optionalTimeMs,
  /** Null until its processes are verified gone. */
  finishedAtMs: optionalTimeMs,
  /** Monotonic, so that a clock change never makes it negative; null until ended. */
  durationMs: z.number().nullable(),
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  cause: causeSchema.nullable(),
  /** What was noticed of it that neither ended it nor is undone by its end: its log may be cut, say. At most one of a code. */
  warnings: z.array(causeSchema),
  /** UUIDs of the GPUs allotted. */
  devices: z.array(z.string()),
  /** Highest memory seen, bytes; null when not measured. */
  peakMemoryBytes: z.number().int().nullable(),
  pid: z.number().int().nullable(),
  /** Last checkpoint it told of. */
  checkpointAtMs: optionalTimeMs,
  /** What it used; absent: not measured. */
  usage: attemptUsageSchema.optional(),
  /** When it was told to leave for better work. */
  noticeAtMs: optionalTimeMs,
  /** Why it was placed in a lower band than asked for; absent where it was not. */
  demoted: demotionSchema.optional(),
});
export type AttemptView = z.infer<typeof attemptViewSchema>;

export const taskViewSchema = z.strictObject({
  id: z.string(),
  index: z.number().int(),
  state: taskStateSchema,
  band: bandSchema,
  submittedAtMs: timeMs,
  startedAtMs: optionalTimeMs,
  finishedAtMs: optionalTimeMs,
  exitCode: z.number().int().nullable(),
  cause: causeSchema.nullable(),
  waiting: causeSchema.nullable(),
  failureCount: z.number().int(),
  preemptionCount: z.number().int(),
  /** Its attempts, oldest first; at most the last 20. */
  attempts: z.array(attemptViewSchema),
});
export type TaskView = z.infer<typeof taskViewSchema>;

/** Counts for the status bar and the tray: root and child jobs alike. `failedRecently`: failed in the last 24 hours and not looked at. */
export const countsSchema = z.strictObject({
  running: z.number().int(),
  waiting: z.number().int(),
  failedUnseen: z.number().int(),
  finished: z.number().int(),
});
export type Counts = z.infer<typeof countsSchema>;

export const overviewSchema = z.strictObject({
  machines: z.array(machineViewSchema),
  counts: countsSchema,
  /** Newest first, at most 20. */
  running: z.array(jobSummarySchema),
  /** In the order they would start, at most 20. */
  waiting: z.array(jobSummarySchema),
  /** Root jobs that ended last, newest first, at most 10. */
  recent: z.array(jobSummarySchema),
});
export type Overview = z.infer<typeof overviewSchema>;

/** A root job's end, kept in the app whether or not the desktop showed it. */
export const inboxItemSchema = z.strictObject({
  id: z.number().int(),
  jobId: z.string(),
  jobName: z.string(),
  state: jobStateSchema,
  cause: causeSchema.nullable(),
  atMs: timeMs,
  /** Run time of the job, null when nothing ran. */
  durationMs: z.number().nullable(),
  read: z.boolean(),
});
export type InboxItem = z.infer<typeof inboxItemSchema>;

/** One audit row; written in the transaction of the change it tells of. */
export const auditEventSchema = z.strictObject({
  id: z.number().int(),
  atMs: timeMs,
  actor: z.string(),
  action: z.string(),
  entity: z.string(),
  detail: z.record(z.string(), z.unknown()),
});
export type AuditEvent = z.infer<typeof auditEventSchema>;

export const hostStatusSchema = z.strictObject({
  contractVersion: z.number().int(),
  appVersion: z.string(),
  host: z.enum(['desktop', 'headless']),
  /** Runtime in words, such as `Electron 45.5.0` or `Node 20.20.2`. */
  runtime: z.string(),
  pid: z.number().int(),
  startedAtMs: timeMs,
  home: z.string(),
  user: z.string(),
  clusterName: z.string(),
  /** False while storage fails or a backend is not ready; `health` then says what. */
  healthy: z.boolean(),
  health: z.string(),
  counts: countsSchema,
  /** journal_mode, synchronous and so on, read back. */
  pragmas: z.record(z.string(), z.union([z.string(), z.number()])),
});
export type HostStatus = z.infer<typeof hostStatusSchema>;
