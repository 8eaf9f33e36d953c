/** Machines (workers) as the window and irisctl are shown them, and what can be asked of them. */
import { z } from 'zod';
import { gpuViewSchema } from './gpus.js';

const timeMs = z.number().int();

/** Of the disk that has the attempts' folders and, beside them, the caches of containers. */
export const jobsDiskPurpose = 'logs, working folders and caches of jobs';

export const diskViewSchema = z.strictObject({
  mountPoint: z.string(),
  purpose: z.string(),
  totalBytes: z.number(),
  freeBytes: z.number(),
});
export type DiskView = z.infer<typeof diskViewSchema>;

/** Whether new tasks are placed on it. DRAINING: tasks still run; DRAINED: none does any more. */
export const schedulingStates = ['OPEN', 'CORDONED', 'DRAINING', 'DRAINED'] as const;

/**
 * CONNECTED; CONNECTING: trying; ANSWER_NEEDED: its login asks for something, such as a password, and has no answer; UNREACHABLE: it
 * answered before; OFF: nothing answers at its address.
 */
export const contactStates = ['CONNECTED', 'CONNECTING', 'ANSWER_NEEDED', 'UNREACHABLE', 'OFF'] as const;

export const contactSchema = z.strictObject({
  state: z.enum(contactStates),
  /** Since when. */
  sinceMs: timeMs,
  lastContactMs: timeMs.nullable(),
  /** What went wrong and what can be done; null while connected. */
  message: z.string().nullable(),
  /** What it was before, newest first, at most `contactLogLength`; absent: nothing else yet. */
  log: z
    .array(z.strictObject({ atMs: timeMs, state: z.enum(contactStates), message: z.string().nullable() }))
    .optional(),
});
export const contactLogLength = 20;
export type Contact = z.infer<typeof contactSchema>;

export const dockerStateSchema = z.strictObject({
  /** UNKNOWN: not looked at yet. */
  state: z.enum(['READY', 'ABSENT', 'FAILED', 'UNKNOWN']),
  version: z.string().nullable(),
  /** Whether containers can be given GPUs. */
  gpus: z.boolean(),
  /** What is wrong and what can be done, also of one that is ready but short of room; null when all is well. */
  message: z.string().nullable(),
  /** What answers where; absent or null: not known, or nothing does. */
  found: z
    .strictObject({
      engine: z.enum(['Docker', 'Podman']),
      /** Its socket, or its address. */
      at: z.string(),
      /** What named it: DOCKER_HOST, a docker context, or that it was looked for there. */
      from: z.string(),
      rootless: z.boolean(),
    })
    .nullable()
    .optional(),
  /** The file system its data lies on; absent or null: not known. */
  storage: z
    .strictObject({ path: z.string(), totalBytes: z.number(), freeBytes: z.number() })
    .nullable()
    .optional(),
});
export type DockerState = z.infer<typeof dockerStateSchema>;

const keyExpected = 'a key of 1 to 253 characters';
const keySchema = z.string().min(1, { error: keyExpected }).max(253, { error: keyExpected });
const attributeText = z.string().max(253, { error: 'at most 253 characters' });

export const taintSchema = z.strictObject({ key: keySchema, value: attributeText });

/** One machine (worker): its capacity, what is free of it for jobs, and its load now. */
export const machineViewSchema = z.strictObject({
  id: z.string(),
  hostname: z.string(),
  state: z.enum(['HEALTHY', 'DEGRADED', 'DEAD']),
  platform: z.string(),
  cpuModel: z.string(),
  cpuCount: z.number().int(),
  cpuMillicoresTotal: z.number().int(),
  cpuMillicoresFree: z.number().int(),
  cpuBusyPercent: z.number().nullable(),
  memoryTotalBytes: z.number(),
  memoryAvailableBytes: z.number(),
  /** Not promised to tasks. */
  memoryFreeForJobsBytes: z.number(),
  disks: z.array(diskViewSchema),
  gpus: z.array(gpuViewSchema),
  /** Why there are no GPUs, or what is wrong with reading them; null when all is well. */
  gpuNote: z.string().nullable(),
  attributes: z.record(z.string(), z.union([z.string(), z.number()])),
  /** Names of those of its attributes that were set by hand; the others it says of itself. Absent: none was. */
  setByHand: z.array(z.string()).optional(),
  runningTasks: z.number().int(),
  /** What attempts of other controllers on it have of processors and memory; absent: nothing. */
  others: z.strictObject({ cpuMillicores: z.number().int(), memoryBytes: z.number() }).optional(),
  sampledAtMs: timeMs,
  /** `ssh://[user@]host[:port]`; null: the machine the controller runs on. */
  address: z.string().nullable(),
  contact: contactSchema,
  scheduling: z.enum(schedulingStates),
  /** Of one that is drained: when its tasks are requeued, null: they run to their end. */
  drainDeadlineMs: timeMs.nullable(),
  docker: dockerStateSchema,
  /** Set by hand; only jobs that tolerate them are placed. */
  taints: z.array(taintSchema),
  /** How far its clock is ahead of the controller's; null: not measured. */
  clockSkewMs: z.number().nullable(),
  /** Hardware address it can be woken by; null: not known. */
  wakeAddress: z.string().nullable(),
});
export type MachineView = z.infer<typeof machineViewSchema>;

/** The state of the machine a controller runs on itself. */
export const localMachine = {
  address: null,
  contact: { state: 'CONNECTED', sinceMs: 0, lastContactMs: null, message: null },
  scheduling: 'OPEN',
  drainDeadlineMs: null,
  docker: { state: 'UNKNOWN', version: null, gpus: false, message: null },
  clockSkewMs: 0,
  wakeAddress: null,
} as const satisfies Partial<MachineView>;

/** A name people type and jobs name; becomes the worker's id. */
export const machineName = z
  .string({ error: 'a name of letters, digits, - and .' })
  .regex(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/i, {
    error: 'a name of letters, digits, - and ., at most 63, that begins and ends with a letter or digit',
  });

const addressExpected = 'an address such as ssh://ws-2, ssh://ann@ws-2.lab:2222 or an alias of ~/.ssh/config';
const portOf = (address: string): number =>
  Number(/:(\d{1,5})$/.exec(address.replace(/\[.*\]/, ''))?.[1] ?? 22);

export const sshAddress = z
  .string({ error: addressExpected })
  .trim()
  .max(300, { error: addressExpected })
  .regex(
    /^(ssh:\/\/)?([A-Za-z0-9_.][A-Za-z0-9_.-]*@)?([A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9a-f:.]+\])(:\d{1,5})?$/i,
    { error: addressExpected },
  )
  .refine((text) => portOf(text) >= 1 && portOf(text) <= 65_535, { error: addressExpected });

/** What is looked at of a machine before it is added, in order. */
export const machineCheckSteps = [
  'reach',
  'host-key',
  'login',
  'shell',
  'attempts-folder',
  'docker',
  'gpus',
  'disk',
  'clock',
] as const;

/** One step of that. */
export const machineCheckSchema = z.strictObject({
  step: z.enum(machineCheckSteps),
  outcome: z.enum(['OK', 'WARNING', 'FAILED', 'SKIPPED']),
  /** What was found, one sentence. */
  message: z.string(),
  /** What to do about it; null when there is nothing to do. */
  advice: z.string().nullable(),
  /** Of `host-key`: `SHA256:...` to compare and accept. */
  fingerprint: z.string().nullable(),
  /** Of `login`: somebody has to answer a question. */
  code: z.literal('ANSWER_NEEDED').optional(),
});
export type MachineCheck = z.infer<typeof machineCheckSchema>;

/** What can be changed of a machine; each is written with an audit row. */
export const machineChangeSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('cordon') }),
  z.strictObject({ kind: z.literal('uncordon') }),
  /** `deadlineMs` from now: tasks that run then are requeued; null: all run to their end. */
  z.strictObject({ kind: z.literal('drain'), deadlineMs: z.number().int().min(0).nullable() }),
  /** Null removes. */
  z.strictObject({
    kind: z.literal('attributes'),
    attributes: z.record(keySchema, z.union([attributeText, z.number()]).nullable()),
  }),
  z.strictObject({
    kind: z.literal('taints'),
    taints: z.array(taintSchema).max(50, { error: 'at most 50 taints' }),
  }),
  z.strictObject({ kind: z.literal('wake-address'), wakeAddress: z.string().max(17).nullable() }),
  /** A card that is kept from jobs is given to them again. */
  z.strictObject({ kind: z.literal('release-gpu'), uuid: z.string().min(1).max(255) }),
]);
export type MachineChange = z.infer<typeof machineChangeSchema>;

/** One figure over time: `values` beside `timesMs`, null where there was none. */
export const historySeriesSchema = z.strictObject({
  /** `cpu-percent`, `memory-bytes`, `gpu-percent:UUID`, `gpu-memory-bytes:UUID`, `gpu-watts:UUID`, `gpu-celsius:UUID`. */
  key: z.string(),
  values: z.array(z.number().nullable()),
});
export const historySchema = z.strictObject({
  stepMs: z.number().int(),
  timesMs: z.array(timeMs),
  series: z.array(historySeriesSchema),
});
export type History = z.infer<typeof historySchema>;

export const imageViewSchema = z.strictObject({
  machineId: z.string(),
  /** `sha256:...` */
  id: z.string(),
  /** Its names, such as `pytorch/pytorch:2.9`; empty when it has none. */
  names: z.array(z.string()),
  sizeBytes: z.number(),
  createdAtMs: timeMs,
  /** Containers of ours that use it. */
  inUse: z.number().int(),
});
export type ImageView = z.infer<typeof imageViewSchema>;

/** A fetch of an image: its layers together. */
export const imagePullSchema = z.strictObject({
  machineId: z.string(),
  image: z.string(),
  state: z.enum(['PULLING', 'DONE', 'FAILED', 'CANCELLED']),
  /** Null while not known. */
  totalBytes: z.number().nullable(),
  doneBytes: z.number(),
  layers: z.number().int(),
  layersDone: z.number().int(),
  message: z.string().nullable(),
  startedAtMs: timeMs,
});
export type ImagePull = z.infer<typeof imagePullSchema>;

/** `changes` counts the comings and goings of images on any machine since the host began to look: another number means others may be there. */
export const imageNewsSchema = z.strictObject({
  changes: z.number().int().min(0),
  /** As often something new is to be told of caches. */
  cacheChanges: z.number().int().min(0),
  pulls: z.array(imagePullSchema),
});
export type ImageNews = z.infer<typeof imageNewsSchema>;
