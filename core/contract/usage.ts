/** What an attempt used up to now, or in all when it is over. Null: not measured here. */
import { z } from 'zod';

export const attemptUsageSchema = z.strictObject({
  cpuSeconds: z.number().min(0).nullable(),
  /** When it was measured last. */
  memoryBytes: z.number().min(0).nullable(),
  /** Read from and written to disks, what the system had in memory anyway not counted. Absent in what was stored before it was measured. */
  diskReadBytes: z.number().min(0).nullable().default(null),
  diskWrittenBytes: z.number().min(0).nullable().default(null),
  /** Mean over the cards it holds and the time it held them. */
  gpuPercent: z.number().min(0).nullable(),
  /** Most that was used on its cards at once. */
  gpuMemoryBytes: z.number().min(0).nullable(),
  /** Of its cards, from what they drew. */
  energyJoules: z.number().min(0).nullable(),
  /** Cards on which its processes were seen to compute, beside those it was given. */
  devicesUsed: z.array(z.string()),
});
export type AttemptUsage = z.infer<typeof attemptUsageSchema>;
