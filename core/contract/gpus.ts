/** Graphics cards and their slices as the window and irisctl are shown them. Null in a number: the tool gave none; `note` says why. */
import { z } from 'zod';

/**
 * FREE: jobs may get it. HELD: an attempt of ours has it. BUSY: processes of others compute on it. SICK: kept from jobs until it
 * is released by hand or a look at it finds nothing wrong. SILENT: the tool does not answer about it.
 */
export const gpuStates = ['FREE', 'HELD', 'BUSY', 'SICK', 'SILENT'] as const;

export const gpuProcessSchema = z.strictObject({
  pid: z.number().int(),
  /** Whose it is; null when that cannot be seen. */
  user: z.string().nullable(),
  name: z.string(),
  usedBytes: z.number().nullable(),
  /** False: it only draws the desktop. */
  computes: z.boolean(),
  /** Attempt of ours it belongs to. */
  attemptUid: z.string().nullable(),
});
export type GpuProcessView = z.infer<typeof gpuProcessSchema>;

export const gpuViewSchema = z.strictObject({
  /** What jobs are given: `GPU-...`, `MIG-...`, or the bus address of a card too old to have one. */
  uuid: z.string(),
  index: z.number().int(),
  name: z.string(),
  variant: z.string(),
  utilizationPercent: z.number().nullable(),
  memoryUsedBytes: z.number().nullable(),
  memoryTotalBytes: z.number().nullable(),
  temperatureCelsius: z.number().nullable(),
  powerWatts: z.number().nullable(),
  note: z.string().nullable(),
  /** Attempt that holds it, by us. */
  heldBy: z.string().nullable(),
  /** Other attempts that share it with that one; absent: none does. */
  sharedWith: z.array(z.string()).optional(),
  /** Processes of others on it. */
  busyByOthers: z.boolean(),
  state: z.enum(gpuStates),
  /** One sentence for BUSY, SICK and SILENT; null otherwise. */
  stateReason: z.string().nullable(),
  /** Of a MIG slice: the card it is cut from, which jobs are not given. */
  parentUuid: z.string().nullable(),
  busId: z.string().nullable(),
  /** The card uses the machine's own memory, so that its total is the machine's. */
  sharesHostMemory: z.boolean(),
  powerLimitWatts: z.number().nullable(),
  clockMhz: z.number().nullable(),
  memoryClockMhz: z.number().nullable(),
  /** Memory errors that could not be corrected, since the driver was loaded. */
  eccUncorrected: z.number().int().nullable(),
  /** NUMA node beside which it sits, and the cards it has an NVLink to; null: not readable here. */
  numaNode: z.number().int().nullable(),
  nvlinkTo: z.array(z.string()).nullable(),
  processes: z.array(gpuProcessSchema),
  /** Owners of attempts of other controllers on this machine that claim it; empty when none does. */
  claimedBy: z.array(z.string()),
});
export type GpuView = z.infer<typeof gpuViewSchema>;

/** Of a card nothing more is known about than its name. */
export const plainGpu = {
  utilizationPercent: null,
  memoryUsedBytes: null,
  memoryTotalBytes: null,
  temperatureCelsius: null,
  powerWatts: null,
  note: null,
  heldBy: null,
  busyByOthers: false,
  state: 'FREE',
  stateReason: null,
  parentUuid: null,
  busId: null,
  sharesHostMemory: false,
  powerLimitWatts: null,
  clockMhz: null,
  memoryClockMhz: null,
  eccUncorrected: null,
  numaNode: null,
  nvlinkTo: null,
  processes: [],
  claimedBy: [],
} as const satisfies Partial<GpuView> | { readonly processes: readonly []; readonly claimedBy: readonly [] };
