/** What containers of all jobs of a machine share so that nothing is fetched twice: how much it takes, and the emptying of it. */
import { z } from 'zod';

export const cacheNames = ['uv', 'hf', 'cargo', 'cache'] as const;
export type CacheName = (typeof cacheNames)[number];

/** Where containers see them. Names and places are those of the original. */
export const cacheTargets: Readonly<Record<CacheName, string>> = {
  uv: '/uv/cache',
  hf: '/hf/cache',
  cargo: '/cargo',
  cache: '/cache',
};

export const cacheViewSchema = z.strictObject({
  name: z.enum(cacheNames),
  /** Null: not measured. */
  bytes: z.number().nullable(),
  /** What stands against measuring or emptying it, or a part of it; null: nothing. */
  note: z.string().nullable(),
});
export type CacheView = z.infer<typeof cacheViewSchema>;

export const machineCachesSchema = z.strictObject({
  machineId: z.string(),
  /** On that machine. */
  folder: z.string(),
  /** UNKNOWN: nobody has asked since the host began. MEASURING: what is told beside it is what was found before. */
  state: z.enum(['UNKNOWN', 'MEASURING', 'MEASURED', 'FAILED']),
  measuredAtMs: z.number().int().nullable(),
  /** Why it FAILED; null else. */
  message: z.string().nullable(),
  /** One of each name, in their order. */
  caches: z.array(cacheViewSchema),
  /** What was emptied is being removed. */
  removing: z.boolean(),
  /** Of what was emptied, what could not be removed, and what to do about it; null: nothing. */
  left: z.strictObject({ bytes: z.number(), message: z.string() }).nullable(),
});
export type MachineCaches = z.infer<typeof machineCachesSchema>;
