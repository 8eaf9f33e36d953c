/** Why a task waits, what would make it start, and when it may: as data, with a plain sentence each. Times are epoch milliseconds. */
import { z } from 'zod';
import { bandSchema, jobStateSchema } from './state-schemas.js';
import { causeCodes } from './views.js';

const timeMs = z.number().int();
const count = z.number().int();

export const resourceSchema = z.enum(['cpu', 'memory', 'gpu']);

/** What one task asks of a machine. */
export const needSchema = z.strictObject({
  cpuMillicores: count,
  memoryBytes: z.number(),
  gpuCount: count,
  /** In the machines' own words where they know it. */
  gpuVariant: z.string().nullable(),
  /** Of each card, which it would share; absent: it wants them alone. */
  sharedGpuBytes: z.number().optional(),
});
export type NeedView = z.infer<typeof needSchema>;

/** In millicores, bytes or cards. */
export const shortfallSchema = z.strictObject({
  resource: resourceSchema,
  needed: z.number(),
  free: z.number(),
  total: z.number(),
  /** Of processors and memory: what attempts of other controllers on that machine have; absent: nothing. */
  others: z.number().optional(),
});
export type Shortfall = z.infer<typeof shortfallSchema>;

/** Why the cards of a machine cannot be shared by one more task, each counted once. */
export const sharingSchema = z.strictObject({
  /** Held by, or promised to, a task that does not share. */
  alone: count,
  /** Shared by as many tasks as may. */
  crowded: count,
  /** Their memory in use is not known. */
  unreadable: count,
  /** The others have too little memory left; the most that one has, below its margin. */
  full: count,
  mostFreeBytes: z.number(),
});
export type SharingView = z.infer<typeof sharingSchema>;

/** The machine that comes nearest to what is needed, and what it lacks. */
export const offerSchema = z.strictObject({
  workerId: z.string(),
  lacks: z.array(shortfallSchema),
  gpusUsedByOthers: count,
  /** Who they are, at most five; absent where nobody knows. */
  gpuUsers: z.array(z.string()).optional(),
  gpusNotAnswering: count,
  /** As something is wrong with them, or with claiming them: the machine says what. */
  gpusKept: count,
  /** For a task that shares its cards. */
  sharing: sharingSchema.optional(),
});
export type Offer = z.infer<typeof offerSchema>;

const reason = <Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) =>
  z.strictObject({ kind: z.literal(kind), ...shape });

export const waitReasonSchema = z.discriminatedUnion('kind', [
  /** Waiting tasks before it in the order of placement, by user, most first, at most three users. */
  reason('position', {
    band: bandSchema,
    ahead: count,
    users: z.array(z.strictObject({ user: z.string(), tasks: count })),
  }),
  /** Its user spends more than the limit: it competes as BATCH. */
  reason('demoted', {
    user: z.string(),
    asked: bandSchema,
    effective: bandSchema,
    spend: z.number(),
    limit: z.number(),
  }),
  /** `possible`: machines that could run it if they were empty. */
  reason('capacity', { need: needSchema, possible: count, best: offerSchema }),
  /** What is free is kept or promised, or others are placed first. */
  reason('turn', { workerId: z.string().nullable() }),
  /** No machine is large enough; `largest` of each resource, on any machine its constraints allow; `cards`: the GPUs there are, or what each machine has where only all of it together is too much. */
  reason('too-large', { need: needSchema, largest: needSchema, cards: z.string() }),
  /** `allows`: machines that meet the constraint by itself; `values`: what machines say of that attribute, at most ten. */
  reason('constraint', {
    constraints: z.array(
      z.strictObject({ text: z.string(), key: z.string(), allows: count, values: z.array(z.string()) }),
    ),
    machines: count,
    together: count,
  }),
  /** `fits` of `size` tasks have room at once in `group`, the best one; `largest` would if a group were empty. */
  reason('gang', {
    size: count,
    fits: count,
    largest: count,
    groupBy: z.string(),
    group: z.string().nullable(),
    groups: count,
    need: needSchema,
  }),
  /** Enough is free, but the machine makes as many starts at once as it may. */
  reason('build-slots', { workerId: z.string(), machines: count }),
  reason('hold', {}),
  reason('not-before', { atMs: timeMs }),
  reason('dependency', {
    jobs: z.array(
      z.strictObject({
        jobId: z.string(),
        on: z.enum(['success', 'end', 'failure']),
        state: jobStateSchema.nullable(),
      }),
    ),
  }),
  reason('quota', {
    user: z.string(),
    parts: z.array(
      z.strictObject({
        resource: z.enum(['tasks', 'cpu', 'memory', 'gpu']),
        used: z.number(),
        asked: z.number(),
        quota: z.number(),
      }),
    ),
  }),
  reason('job-cap', { active: count, most: count }),
  /** It has a place; what is there has to leave first, by `untilMs` at the latest where that is known. */
  reason('victim', {
    workerId: z.string(),
    attempts: z.array(z.strictObject({ uid: z.string(), taskId: z.string() })),
    untilMs: timeMs.nullable(),
  }),
  /** Machines kept for it; `startMs` by known time limits, null when something endless is in the way. */
  reason('reserved', { workerIds: z.array(z.string()), startMs: timeMs.nullable() }),
  reason('no-machine', { workerIds: z.array(z.string()) }),
  /** In the words of the backend, or of whatever else forbids a start. */
  reason('backend', { code: z.enum(causeCodes), message: z.string() }),
]);
export type WaitReason = z.infer<typeof waitReasonSchema>;

const change = <Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) =>
  z.strictObject({ kind: z.literal(kind), text: z.string(), ...shape });

/** Something that would make a waiting task start, by itself; `text` is one sentence. */
export const remedySchema = z.discriminatedUnion('kind', [
  change('fewer-cpus', { cpuMillicores: count, workerId: z.string() }),
  change('less-memory', { memoryBytes: z.number(), workerId: z.string() }),
  change('fewer-gpus', { gpuCount: count, gpuVariant: z.string().nullable(), workerId: z.string() }),
  /** With so many of the GPUs given back to jobs that the machine keeps from them. */
  change('release-gpu', { gpuCount: count, workerId: z.string() }),
  change('other-gpu', { gpuCount: count, gpuVariant: z.string(), workerId: z.string() }),
  change('fewer-replicas', { replicas: count, group: z.string().nullable() }),
  /** Without this constraint alone. */
  change('drop-constraint', { constraint: z.string(), workerId: z.string() }),
  /** The earliest known end after which there is room; `jobId` is the last of those that have to end. */
  change('wait-for', { jobId: z.string(), endMs: timeMs, workerId: z.string() }),
  change('raise-limit', { user: z.string(), limit: z.number(), spend: z.number() }),
  change('raise-job-cap', { most: count }),
  change('release', {}),
]);
export type Remedy = z.infer<typeof remedySchema>;

export const assumptionSchema = z.strictObject({
  code: z.enum(['NO_NEW_WORK', 'RUNS_TO_LIMIT', 'ENDLESS', 'ENDS_WELL', 'LEAVES_AT_ONCE', 'MACHINES_STAY']),
  text: z.string(),
});
export type Assumption = z.infer<typeof assumptionSchema>;

/**
 * `at`: its first waiting task starts then. `after`: not before then; nobody looked further. `unknown`: no known end lets it start.
 */
export const expectedStartSchema = z.strictObject({
  kind: z.enum(['now', 'at', 'after', 'unknown']),
  startMs: timeMs.nullable(),
  /** When the projection was made. */
  madeAtMs: timeMs,
  text: z.string(),
  assumptions: z.array(assumptionSchema),
});
export type ExpectedStart = z.infer<typeof expectedStartSchema>;

export const explanationSchema = z.strictObject({
  jobId: z.string(),
  /** The first of its waiting tasks, which this is about, and how many wait. */
  taskId: z.string(),
  waiting: count,
  /** The first is what keeps it waiting; the others tell what else bears on it. */
  reasons: z.array(waitReasonSchema).min(1),
  /** One sentence. */
  message: z.string(),
  /** At most 60 characters, for lists. */
  short: z.string().max(60),
  remedies: z.array(remedySchema),
  expected: expectedStartSchema.nullable(),
});
export type Explanation = z.infer<typeof explanationSchema>;

export const dryRunSchema = z.strictObject({
  verdict: z.enum(['STARTS_NOW', 'STARTS_AFTER_EVICTIONS', 'WAITS', 'NEVER']),
  message: z.string(),
  /** Where its tasks would go now, and what each has to wait for. */
  places: z.array(
    z.strictObject({
      index: count,
      workerId: z.string(),
      devices: z.array(z.string()),
      provisional: z.boolean(),
    }),
  ),
  /** What it would evict. */
  evicts: z.array(
    z.strictObject({
      uid: z.string(),
      taskId: z.string(),
      jobId: z.string(),
      workerId: z.string(),
      band: bandSchema,
    }),
  ),
  /** Tasks that would wait. */
  waiting: count,
  /** Why those would; null when none does. */
  explanation: explanationSchema.nullable(),
  /** It would compete as BATCH, because its user spends more than the limit. */
  demoted: z
    .strictObject({
      asked: bandSchema,
      effective: bandSchema,
      spend: z.number(),
      limit: z.number(),
      text: z.string(),
    })
    .nullable(),
  /** With all its tasks its user would use more than the limit: what is placed after that competes as BATCH. */
  passesLimit: z
    .strictObject({ spend: z.number(), adds: z.number(), limit: z.number(), text: z.string() })
    .nullable(),
});
export type DryRun = z.infer<typeof dryRunSchema>;
