/** Budgets as they cross a boundary. Limits and spend are in the value of resources: 1000 a GPU, 1 a GiB of memory, 5 a core. */
import { z } from 'zod';
import { halfLife } from './half-life.js';
import { bandSchema, upperBandSchema } from './state-schemas.js';

const maxLimit = 1_000_000_000;
const limitExpected = `a whole number from 1 to ${maxLimit}, or unlimited`;
const limit = z
  .number({ error: limitExpected })
  .int({ error: limitExpected })
  .min(1, { error: limitExpected })
  .max(maxLimit, { error: limitExpected });

/** A limit in force. No limit is a word, so that no number has to mean it. */
export const budgetLimitSchema = z.union([limit, z.literal('unlimited')], { error: limitExpected });
export type BudgetLimitView = z.infer<typeof budgetLimitSchema>;

export const spendSchema = z.strictObject({
  gpus: z.number(),
  memory: z.number(),
  processors: z.number(),
  total: z.number(),
});
export type SpendView = z.infer<typeof spendSchema>;

/** Hours of a GPU, or of what is worth as much in memory or processors. */
const gpuHoursSchema = spendSchema;
export type GpuHoursView = z.infer<typeof gpuHoursSchema>;

/** Half-life of past use; null: past use does not count. */
export const halfLifeSchema = z
  .number({ error: halfLife.expected })
  .int({ error: halfLife.expected })
  .min(halfLife.shortestMs, { error: halfLife.expected })
  .max(halfLife.longestMs, { error: halfLife.expected })
  .nullable();

const boundExpected = 'a whole number, 0 or more, or none';
const bound = z
  .number({ error: boundExpected })
  .int({ error: boundExpected })
  .min(0, { error: boundExpected })
  .nullable();

/** What a user may have active at once, in every band; null is no bound. */
export const quotaSchema = z.strictObject({
  tasks: bound,
  gpus: bound,
  cpuMillicores: bound,
  memoryBytes: bound,
});
export type QuotaView = z.infer<typeof quotaSchema>;
export const noQuota: QuotaView = { tasks: null, gpus: null, cpuMillicores: null, memoryBytes: null };

export const budgetViewSchema = z.strictObject({
  user: z.string(),
  /** False: nothing was ever set for the user, the defaults apply. */
  isSet: z.boolean(),
  limit: budgetLimitSchema,
  /** The limit is the cluster's default, which follows the machines there are. */
  limitIsDefault: z.boolean(),
  /** Best band that may be asked for without a right. */
  maxBand: bandSchema,
  /** Rights to the upper bands; they hold whatever `maxBand` says. */
  allow: z.array(upperBandSchema),
  quota: quotaSchema,
  /** Value of what is active now and was not asked for as BATCH. */
  spend: spendSchema,
  overLimit: z.boolean(),
  /** What was held over time, of work not asked for as BATCH, up to `atMs`. */
  used: gpuHoursSchema,
  /** The same with past use fading: users are ordered by it. Null while nothing fades: then they are by what is active now. */
  faded: gpuHoursSchema.nullable(),
  atMs: z.number().int(),
  updatedAtMs: z.number().int().nullable(),
});
export type BudgetView = z.infer<typeof budgetViewSchema>;

/** What to change; what is absent stays. */
export const budgetChangeSchema = z.strictObject({
  limit: z
    .union([limit, z.enum(['unlimited', 'default'])], { error: `${limitExpected}, or default` })
    .optional(),
  maxBand: bandSchema.optional(),
  allow: z.array(upperBandSchema).default([]),
  disallow: z.array(upperBandSchema).default([]),
  /** Bounds to change; null takes one away, what is absent stays. */
  quota: quotaSchema.partial().optional(),
});
export type BudgetChange = z.output<typeof budgetChangeSchema>;
