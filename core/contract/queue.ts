/** The queue as a round goes through it, and what runs where. Times are epoch milliseconds. */
import { z } from 'zod';
import { attemptStateSchema, bandSchema } from './state-schemas.js';
import { causeSchema } from './views.js';

const timeMs = z.number().int();

/** What the owner of a job, or who administers the cluster, may change of it while it is not over. */
export const jobChangeSchema = z.discriminatedUnion('kind', [
  /** Nothing of it is placed until it is released; what runs goes on. */
  z.strictObject({ kind: z.literal('hold') }),
  z.strictObject({ kind: z.literal('release') }),
  /** Also of its descendants that inherited theirs. What runs keeps the band it was placed in. */
  z.strictObject({ kind: z.literal('band'), band: bandSchema }),
  /** Among the owner's own jobs of the band. */
  z.strictObject({ kind: z.literal('move'), to: z.enum(['first', 'last', 'usual']) }),
]);
export type JobChange = z.infer<typeof jobChangeSchema>;

export const queuedJobViewSchema = z.strictObject({
  jobId: z.string(),
  name: z.string(),
  /** Charged for it. */
  user: z.string(),
  /** Band asked for; another than the lane's when its user is over the limit. */
  requestedBand: bandSchema,
  waitingTasks: z.number().int(),
  numTasks: z.number().int(),
  gpuCount: z.number().int(),
  submittedAtMs: timeMs,
  held: z.boolean(),
  /** Its owner moved it: lower is earlier; 0 for its usual place. */
  rank: z.number().int(),
  waiting: causeSchema.nullable(),
});
export type QueuedJobView = z.infer<typeof queuedJobViewSchema>;

/** One band, its jobs in the order their first tasks are tried: users in turn, whoever uses least first. */
export const bandQueueSchema = z.strictObject({
  band: bandSchema,
  /** Jobs that wait in it, shown or not. */
  total: z.number().int(),
  jobs: z.array(queuedJobViewSchema),
});

/** Something on a machine: an attempt that holds it, or a place promised to a task that waits for others to leave. */
export const laneItemSchema = z.strictObject({
  /** Of the attempt; null for a promised place. */
  uid: z.string().nullable(),
  taskId: z.string(),
  jobId: z.string(),
  jobName: z.string(),
  user: z.string(),
  band: bandSchema,
  workerId: z.string(),
  /** UUIDs of the GPUs; empty when it has none. */
  devices: z.array(z.string()),
  /** `PROMISED`: nothing runs yet. */
  state: z.union([attemptStateSchema, z.literal('PROMISED')]),
  /** Start, or placement while it has not started. */
  fromMs: timeMs,
  /** End; of what runs the latest by its time limit, null when it has none. */
  toMs: timeMs.nullable(),
});
export type LaneItem = z.infer<typeof laneItemSchema>;

export const queueViewSchema = z.strictObject({
  atMs: timeMs,
  /** Best band first; all four. */
  bands: z.array(bandQueueSchema),
  items: z.array(laneItemSchema),
  /** Machines kept for jobs that have waited long. */
  reservations: z.array(
    z.strictObject({
      jobId: z.string(),
      band: bandSchema,
      workerIds: z.array(z.string()),
      startMs: timeMs.nullable(),
    }),
  ),
});
export type QueueView = z.infer<typeof queueViewSchema>;
