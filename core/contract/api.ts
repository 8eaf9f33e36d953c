/**
 * The one contract of window, irisctl and controller: every method with its request and response, every topic with its
 * filter, snapshot and delta, as schemas from which types are inferred. Handlers, preload and clients are derived from it.
 */
import { z } from 'zod';
import {
  auditEventSchema,
  countsSchema,
  hostStatusSchema,
  inboxItemSchema,
  jobSummarySchema,
  overviewSchema,
  taskViewSchema,
} from './views.js';
import { budgetChangeSchema, budgetViewSchema, halfLifeSchema } from './budgets.js';
import { jobSortKeys } from './constants.js';
import { fieldErrorSchema, refusalSchema } from './error-schemas.js';
import { dryRunSchema, explanationSchema } from './explanation.js';
import { imageMethods } from './image-methods.js';
import { jobChangeSchema, laneItemSchema, queueViewSchema } from './queue.js';
import { openQuestionSchema } from './questions.js';
import {
  historySchema,
  imageNewsSchema,
  machineChangeSchema,
  machineCheckSchema,
  machineName,
  machineViewSchema,
  sshAddress,
} from './machines.js';
import { machineId, requestId } from './request-ids.js';
import { jobStateSchema } from './state-schemas.js';
import type { JobRequest, JobSpec } from './job-request.js';

export { contractVersion } from './constants.js';

const jobId = z.string().min(3);
const user = z.string().min(1).max(255);
const page = { offset: z.number().int().min(0).max(1_000_000), limit: z.number().int().min(1).max(500) };

export const jobFilterSchema = z.strictObject({
  states: z.array(jobStateSchema).optional(),
  user: z.string().optional(),
  /** Words that must all occur in the job's id or its command line; case does not matter. */
  search: z.string().max(500).optional(),
  /** Submitted at or after. */
  sinceMs: z.number().int().optional(),
  /** Finished at or after. */
  finishedSinceMs: z.number().int().optional(),
  /** True (the default): only root jobs; false: jobs of every depth. */
  rootsOnly: z.boolean().default(true),
});
export type JobFilter = z.input<typeof jobFilterSchema>;

export const jobSortSchema = z.strictObject({ key: z.enum(jobSortKeys), descending: z.boolean() });
export type JobSort = z.infer<typeof jobSortSchema>;

/** The stored specification; typed by `JobSpec`, checked when it was parsed from a request. */
const jobSpecView = z.custom<JobSpec>((value) => typeof value === 'object' && value !== null);
/** A request as people write it; checked field by field by `parseJobRequest`, not here, so that errors name fields. */
const jobRequestView = z.custom<JobRequest>((value) => typeof value === 'object' && value !== null);

export const jobDetailSchema = z.strictObject({
  summary: jobSummarySchema,
  spec: jobSpecView,
  submittedBy: z.string(),
  /** Path of each ancestor, root first. */
  ancestors: z.array(z.string()),
});
export type JobDetail = z.infer<typeof jobDetailSchema>;

/** The answer about one of several targets. */
export const targetResultSchema = z.strictObject({
  id: z.string(),
  /** The job made by a retry. */
  newId: z.string().nullable(),
  refusal: refusalSchema.nullable(),
});

const stream = z.enum(['out', 'err']);
const logGrowthSchema = z.strictObject({
  outSize: z.number().int(),
  errSize: z.number().int(),
  complete: z.boolean(),
  /**
   * The last line of each stream as its program printed it last, where the log does not have it yet and something printed before it is not
   * known either: to be shown behind those sizes until the log has grown past them, never kept. From a carriage return on it takes the place
   * of the line there, else it is the end of it. Absent: there is none.
   */
  heard: z.strictObject({ out: z.string(), err: z.string() }).optional(),
});

export const logChunkSchema = z.strictObject({
  stream,
  /** Byte offset in that stream's file. */
  offset: z.number().int(),
  dataBase64: z.string(),
});

export const methods = {
  hello: {
    params: z.strictObject({ contractVersion: z.number().int(), client: z.string() }),
    result: hostStatusSchema,
  },
  status: { params: z.strictObject({}), result: hostStatusSchema },
  'job.submit': {
    params: z.strictObject({
      requestId,
      request: jobRequestView,
      retryOf: z.string().nullable().default(null),
    }),
    /** `existed`: the KEEP policy returned a job that was there. `warnings`: sentences to show, such as lingering being off. */
    result: z.strictObject({ jobId: z.string(), existed: z.boolean(), warnings: z.array(z.string()) }),
  },
  /** Checks a request without submitting it: field errors, and whether it could start now or ever. */
  'job.check': {
    params: z.strictObject({ request: jobRequestView }),
    result: z.strictObject({
      fields: z.array(fieldErrorSchema),
      /** One sentence: starts now on ..., waits because ..., or can never run because ... */
      verdict: z.enum(['STARTS_NOW', 'WAITS', 'NEVER', 'INVALID']),
      message: z.string(),
      /** Where it would go, what it would evict, why it would wait; null when it is invalid or can never run. */
      dryRun: dryRunSchema.nullable(),
      /** The equivalent irisctl command line; empty when invalid. */
      commandLine: z.string(),
    }),
  },
  'job.list': {
    params: z.strictObject({ filter: jobFilterSchema, sort: jobSortSchema, ...page }),
    result: z.strictObject({ total: z.number().int(), rows: z.array(jobSummarySchema) }),
  },
  'job.children': {
    params: z.strictObject({ jobId, ...page }),
    result: z.strictObject({ total: z.number().int(), rows: z.array(jobSummarySchema) }),
  },
  /** `jobId` may be the full path or an unambiguous name of one's own job (the newest of that name). */
  'job.get': { params: z.strictObject({ jobId: z.string().min(1) }), result: jobDetailSchema },
  'task.list': {
    params: z.strictObject({ jobId, ...page }),
    result: z.strictObject({ total: z.number().int(), rows: z.array(taskViewSchema) }),
  },
  'job.stop': {
    params: z.strictObject({ requestId, jobIds: z.array(jobId).min(1).max(10_000) }),
    result: z.strictObject({ results: z.array(targetResultSchema) }),
  },
  /** Runs finished jobs again under a new suffix; their history stays. */
  'job.retry': {
    params: z.strictObject({ requestId, jobIds: z.array(jobId).min(1).max(10_000) }),
    result: z.strictObject({ results: z.array(targetResultSchema) }),
  },
  /** Holds, releases, moves jobs or changes their band; each target is answered by itself. */
  'job.change': {
    params: z.strictObject({ requestId, jobIds: z.array(jobId).min(1).max(10_000), change: jobChangeSchema }),
    result: z.strictObject({ results: z.array(targetResultSchema) }),
  },
  /** Why a live job waits; null when it does not. The expected start may be some seconds old, as it says. */
  'job.explain': {
    params: z.strictObject({ jobId }),
    result: z.strictObject({ explanation: explanationSchema.nullable() }),
  },
  'queue.get': { params: z.strictObject({}), result: queueViewSchema },
  /** What ran since then and is over, newest end first, at most `limit`. */
  'queue.history': {
    params: z.strictObject({
      sinceMs: z.number().int(),
      limit: z.number().int().min(1).max(5000).default(1000),
    }),
    result: z.strictObject({ items: z.array(laneItemSchema) }),
  },
  /** Up to `maxBytes` of one stream from `offset`; `size` is what there is now, `complete` that nothing more will come. */
  'log.read': {
    params: z.strictObject({
      attemptUid: z.string(),
      stream,
      offset: z.number().int().min(0),
      maxBytes: z.number().int().min(1).max(1_048_576),
    }),
    result: z.strictObject({ dataBase64: z.string(), size: z.number().int(), complete: z.boolean() }),
  },
  /**
   * Both streams in the order they grew, exact between the controller's marks. `cursor` is what the last answer gave
   * (absent: from the start; `tail`: about the last `maxBytes`; `sinceMs`: from the whole line the log had reached at that time,
   * by the last mark before it, so that nothing written since is missing and what was written up to a second before may come too).
   */
  'log.merged': {
    params: z.strictObject({
      attemptUid: z.string(),
      cursor: z.strictObject({ out: z.number().int().min(0), err: z.number().int().min(0) }).nullable(),
      tail: z.boolean().default(false),
      sinceMs: z.number().int().nullable().default(null),
      maxBytes: z.number().int().min(1).max(1_048_576),
    }),
    result: z.strictObject({
      chunks: z.array(logChunkSchema),
      cursor: z.strictObject({ out: z.number().int(), err: z.number().int() }),
      outSize: z.number().int(),
      errSize: z.number().int(),
      /** Nothing more will come and the cursor is at the end of both. */
      complete: z.boolean(),
    }),
  },
  /** Lines that hold the text (case-insensitive unless `matchCase`), by byte offset; `nextOffset` null at the end. */
  'log.search': {
    params: z.strictObject({
      attemptUid: z.string(),
      stream,
      text: z.string().min(1).max(500),
      matchCase: z.boolean().default(false),
      offset: z.number().int().min(0),
      limit: z.number().int().min(1).max(1000),
    }),
    result: z.strictObject({
      matches: z.array(z.strictObject({ offset: z.number().int(), line: z.string() })),
      nextOffset: z.number().int().nullable(),
    }),
  },
  'overview.get': { params: z.strictObject({}), result: overviewSchema },
  'machine.list': {
    params: z.strictObject({}),
    result: z.strictObject({ machines: z.array(machineViewSchema) }),
  },
  /** Looks at a machine step by step without adding it. `acceptKey`: the fingerprint its unknown or changed host key must have. */
  'machine.check': {
    params: z.strictObject({ address: sshAddress, acceptKey: z.string().max(100).nullable().default(null) }),
    result: z.strictObject({ checks: z.array(machineCheckSchema), usable: z.boolean() }),
  },
  /** Adds a machine that was looked at and is usable; the checks say what stands in the way when it is not. */
  'machine.add': {
    params: z.strictObject({
      requestId,
      name: machineName,
      address: sshAddress,
      acceptKey: z.string().max(100).nullable().default(null),
    }),
    result: z.strictObject({ machine: machineViewSchema.nullable(), checks: z.array(machineCheckSchema) }),
  },
  /** Only of a machine on which nothing of ours runs, unless `force`: then its tasks count as lost. */
  /** With `force` what runs there is told to stop, for some seconds at most; `notStopped` names in one sentence what may go on. */
  'machine.remove': {
    params: z.strictObject({ requestId, machineId, force: z.boolean().default(false) }),
    result: z.strictObject({ notStopped: z.string().nullable() }),
  },
  'machine.change': {
    params: z.strictObject({ requestId, machineId, change: machineChangeSchema }),
    result: machineViewSchema,
  },
  /** Tries at once to reach a machine that is not in contact; what has to be asked for that is asked. Answers once it is, or refuses. */
  'machine.connect': { params: z.strictObject({ machineId }), result: z.strictObject({}) },
  /** To the open question; null: it is not answered. `keep`: in memory, until this host ends. The answer is in no refusal and no log. */
  'question.answer': {
    params: z.strictObject({
      questionId: z.string().min(1).max(64),
      answer: z.string().nullable(),
      keep: z.boolean().default(false),
    }),
    result: z.strictObject({}),
  },
  /** Sends the packet that wakes a machine that is off. */
  'machine.wake': { params: z.strictObject({ machineId }), result: z.strictObject({}) },
  /** Load over time, oldest first: about every 2 s in the last hour, every minute in the last week. */
  'machine.history': {
    params: z.strictObject({ machineId, sinceMs: z.number().int() }),
    result: historySchema,
  },
  ...imageMethods,
  /** Users with a budget of their own or any use, and the caller, by name. */
  'budget.list': {
    params: z.strictObject({}),
    result: z.strictObject({
      /** The caller, and whether they may set budgets. */
      me: z.string(),
      mayManage: z.boolean(),
      halfLifeMs: halfLifeSchema,
      budgets: z.array(budgetViewSchema),
    }),
  },
  /** What holds for a user; the defaults when nothing was set. */
  'budget.get': { params: z.strictObject({ user }), result: budgetViewSchema },
  /** Only who administers the cluster may; written with an audit row that holds what was before and after. */
  'budget.set': {
    params: z.strictObject({ requestId, user, change: budgetChangeSchema }),
    result: budgetViewSchema,
  },
  /** How past use fades, for all users; null: it does not. Only who administers the cluster may set it; audited. */
  'budget.halfLife': {
    params: z.strictObject({ requestId, halfLifeMs: halfLifeSchema }),
    result: z.strictObject({ halfLifeMs: halfLifeSchema }),
  },
  'audit.list': {
    params: z.strictObject({
      entity: z.string().optional(),
      beforeId: z.number().int().optional(),
      limit: page.limit,
    }),
    result: z.strictObject({ events: z.array(auditEventSchema) }),
  },
  'inbox.list': {
    params: z.strictObject({ beforeId: z.number().int().optional(), limit: page.limit }),
    result: z.strictObject({ items: z.array(inboxItemSchema), unread: z.number().int() }),
  },
  'inbox.read': {
    /** Marks these, or all when absent, as read. */
    params: z.strictObject({ ids: z.array(z.number().int()).optional() }),
    result: z.strictObject({ unread: z.number().int() }),
  },
  /** Writes each round to a file from now on, or ends that. The file; null when it is off. Only who administers the cluster may. */
  'debug.record': {
    params: z.strictObject({ on: z.boolean() }),
    result: z.strictObject({ path: z.string().nullable() }),
  },
  /** Ends this host; attempts go on, what waits stays waiting until a host runs again. */
  shutdown: { params: z.strictObject({ reason: z.string().max(200) }), result: z.strictObject({}) },
} as const;

export type MethodName = keyof typeof methods;
export type Params<M extends MethodName> = z.input<(typeof methods)[M]['params']>;
export type ParsedParams<M extends MethodName> = z.output<(typeof methods)[M]['params']>;
export type MethodResult<M extends MethodName> = z.output<(typeof methods)[M]['result']>;

/**
 * A subscription gives one snapshot, then deltas with sequence numbers from 1; a gap means: subscribe again. At most ten
 * deltas a second a subscription, the last value of an entity wins, one unacknowledged delta in flight; a client that falls behind
 * gets a new snapshot (and sequence numbers from 1 again) instead of what it missed.
 */
export const topics = {
  /**
   * Rows that changed (whatever the list's filter: the client keeps what it shows) and the counts. Snapshot: counts only. With
   * `countsOnly` a delta has no rows: it tells that some job changed, and the counts.
   */
  jobs: {
    filter: z.strictObject({ countsOnly: z.boolean().optional() }),
    snapshot: z.strictObject({ counts: countsSchema }),
    delta: z.strictObject({
      rows: z.array(jobSummarySchema),
      removed: z.array(z.string()),
      counts: countsSchema,
    }),
  },
  /** One job: its detail, then its summary as it changes and the tasks that changed. */
  job: {
    filter: z.strictObject({ jobId }),
    snapshot: z.strictObject({ summary: jobSummarySchema, tasks: z.array(taskViewSchema) }),
    delta: z.strictObject({ summary: jobSummarySchema, tasks: z.array(taskViewSchema) }),
  },
  /** Growth of one attempt's log. */
  log: {
    filter: z.strictObject({ attemptUid: z.string() }),
    snapshot: logGrowthSchema,
    delta: logGrowthSchema,
  },
  /** Machines, counts, running and waiting; sampled about every two seconds while somebody listens. */
  overview: { filter: z.strictObject({}), snapshot: overviewSchema, delta: overviewSchema },
  /** Budgets and what is used of them; a delta is the whole again. */
  budgets: {
    filter: z.strictObject({}),
    snapshot: z.strictObject({ halfLifeMs: halfLifeSchema, budgets: z.array(budgetViewSchema) }),
    delta: z.strictObject({ halfLifeMs: halfLifeSchema, budgets: z.array(budgetViewSchema) }),
  },
  /** The queue in its order and what runs where; a delta is the whole again. */
  queue: { filter: z.strictObject({}), snapshot: queueViewSchema, delta: queueViewSchema },
  /** New and changed items of the in-app list, and how many are unread. */
  inbox: {
    filter: z.strictObject({}),
    snapshot: z.strictObject({ unread: z.number().int() }),
    delta: z.strictObject({ items: z.array(inboxItemSchema), unread: z.number().int() }),
  },
  /** What is asked on the way to machines, or to one. Only while somebody listens is anything asked. */
  questions: {
    filter: z.strictObject({ address: sshAddress.nullable() }),
    snapshot: openQuestionSchema,
    delta: openQuestionSchema,
  },
  /** Fetches of images, step by step, and how often images or caches changed so far: `image.list` and `cache.list` tell of them. */
  images: { filter: z.strictObject({}), snapshot: imageNewsSchema, delta: imageNewsSchema },
  /** The host's health. */
  status: { filter: z.strictObject({}), snapshot: hostStatusSchema, delta: hostStatusSchema },
} as const;

export type TopicName = keyof typeof topics;
export type TopicFilter<T extends TopicName> = z.input<(typeof topics)[T]['filter']>;
export type TopicSnapshot<T extends TopicName> = z.output<(typeof topics)[T]['snapshot']>;
export type TopicDelta<T extends TopicName> = z.output<(typeof topics)[T]['delta']>;
