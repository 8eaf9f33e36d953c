/**
 * The job specification: one schema for the form, a YAML file and the command line. A `JobRequest` is what people write
 * (sizes and durations as text or numbers); `parseJobRequest` turns it into a `JobSpec`, which has units in its names, every
 * default filled in, and is what the controller stores. Field names of errors are those of `JobRequest`.
 */
import { z } from 'zod';
import { formatSize } from '../formats/sizes.js';
import { refuse, ok, type FieldError, type Result } from './errors.js';
import { expectedWords, fieldErrors, fieldSentence } from './field-errors.js';
import {
  constraintSchema,
  count,
  cpuExpected,
  dependencySchema,
  duration,
  environmentName,
  gpu,
  jobDefaults,
  jobLimits,
  listOf,
  namePattern,
  oneOf,
  portName,
  portVariable,
  signalNames,
  size,
  stagedFileSchema,
  textOf,
  timeBound,
  toNumber,
  utf8Length,
  type Constraint,
  type DependencyWish,
} from './job-fields.js';
import {
  containerLimits,
  containerProfile,
  imageName,
  mounts,
  pullPolicy,
  setupScripts,
  type ContainerProfile,
  type Mount,
  type PullPolicy,
} from './container-fields.js';
import type { TimeBound } from '../formats/times.js';
import { requestedBands } from './states.js';

export {
  isConfinedPath,
  jobDefaults,
  jobLimits,
  type Constraint,
  type DependencyWish,
} from './job-fields.js';
export { fieldErrors } from './field-errors.js';

export const jobRequestSchema = z.strictObject(
  {
    /** Last part of the job's path. Empty or absent: generated from the command, with a suffix of its own. */
    name: z
      .string({ error: 'a name' })
      .max(jobLimits.maxNameLength, { error: `at most ${jobLimits.maxNameLength} characters` })
      .regex(namePattern, { error: 'a name without / and control characters' })
      .refine((value) => value.trim() === value && value.trim() !== '', {
        error: 'a name without blanks at its ends',
      })
      .optional(),
    /** Id of the parent job, for a child job. */
    parent: textOf('the path of a job, such as /user/job')
      .regex(/^\/[^/]+\/./, { error: 'the path of a job, such as /user/job' })
      .optional(),
    /** Argument vector; the first is the program. Never a shell string. */
    command: listOf(
      textOf('text').refine((value) => !value.includes('\0'), { error: 'text without NUL characters' }),
      'a program and its arguments, as a list',
    )
      .min(1, { error: 'a program and its arguments' })
      .refine((value) => (value[0] ?? '').trim() !== '', { error: 'a program and its arguments' })
      .refine(
        (value) => value.reduce((sum, item) => sum + utf8Length(item) + 1, 0) <= jobLimits.maxCommandBytes,
        {
          error: `at most ${jobLimits.maxCommandBytes / 1024} KiB in all`,
        },
      ),
    /** Absolute path of the folder the command runs in, in place. */
    workingDirectory: textOf('an absolute path')
      .refine((value) => value.startsWith('/') || /^[A-Za-z]:[\\/]/.test(value), {
        error: 'an absolute path',
      })
      .refine((value) => !value.includes('\0'), { error: 'an absolute path' }),
    environment: z
      .record(
        z
          .string()
          .regex(environmentName, { error: 'names of letters, digits and _, not starting with a digit' }),
        textOf('text (a number in quotes)').refine((value) => !value.includes('\0'), {
          error: 'text without NUL characters',
        }),
        // A wrong name keeps its own text.
        { error: (issue) => (issue.code === 'invalid_type' ? 'names with their values' : undefined) },
      )
      .refine(
        (value) =>
          Object.entries(value).reduce(
            (sum, [key, text]) => sum + utf8Length(key) + utf8Length(text) + 2,
            0,
          ) <= jobLimits.maxEnvironmentBytes,
        { error: `at most ${jobLimits.maxEnvironmentBytes / 1024} KiB in all` },
      )
      .default({}),
    /** Cores per task, to a thousandth. A scheduling weight, never a quota. */
    cpu: z
      .union([z.string(), z.number()], { error: cpuExpected })
      .transform(toNumber)
      .pipe(
        z
          .number({ error: cpuExpected })
          .min(0.001, { error: cpuExpected })
          .max(100_000, { error: cpuExpected }),
      )
      .optional(),
    /** Memory per task. Asked for: also a limit. Not asked for: 1 GB is only counted. */
    memory: size.optional(),
    disk: size.optional(),
    gpu: gpu.optional(),
    replicas: count(jobLimits.maxReplicas, 1).default(1),
    /** Gang: all tasks start together, one group of workers sharing this attribute. Absent: no gang. */
    gangBy: textOf('the name of a worker attribute')
      .min(1, { error: 'the name of a worker attribute' })
      .optional(),
    maxRetries: count(jobLimits.maxRetries).default(0),
    maxRetriesPreemption: count(jobLimits.maxRetries).default(jobDefaults.maxRetriesPreemption),
    /** Tasks that may fail for good before the job does. */
    maxTaskFailures: count(jobLimits.maxReplicas).default(0),
    /** Longest run of one attempt, from its start. */
    timeout: duration.optional(),
    /** The job must have started by then, from its submission. */
    schedulingTimeout: duration.optional(),
    /** It must be possible that every task ends by then. With a time limit, a job that can no longer end in time is not started any more. */
    finishBy: timeBound.optional(),
    /** No task starts earlier. */
    startNotBefore: timeBound.optional(),
    /** Waits until it is released. */
    held: z.boolean({ error: 'true or false' }).default(false),
    /** Jobs that must have ended first, each in the named way. */
    dependencies: listOf(dependencySchema, 'a list of jobs to wait for')
      .max(jobLimits.maxDependencies, { error: `at most ${jobLimits.maxDependencies} jobs` })
      .default([]),
    /** Tasks that may be active at the same time; absent: all. */
    maxActive: count(jobLimits.maxReplicas, 1).optional(),
    priority: z
      .preprocess(
        (value) => (typeof value === 'string' ? value.trim().toUpperCase() : value),
        z.enum(requestedBands, { error: 'system, production, interactive, batch or inherit' }),
      )
      .default('INHERIT'),
    constraints: listOf(constraintSchema, 'a list of constraints').default([]),
    /** Set-up extras (Python extras of the project), passed to set-up scripts. */
    extras: listOf(
      textOf('the name of an extra').min(1, { error: 'the name of an extra' }),
      'a list of names',
    ).default([]),
    files: listOf(stagedFileSchema, 'a list of files').default([]),
    /** Names of ports to allot; each arrives as IRIS_PORT_<NAME>. */
    ports: listOf(
      textOf('names of letters, digits, - and _').regex(portName, {
        error: 'names of letters, digits, - and _',
      }),
      'a list of names',
    )
      .refine((value) => new Set(value.map(portVariable)).size === value.length, {
        error: 'names that differ by more than case, - and _, because each becomes one IRIS_PORT_ variable',
      })
      .default([]),
    preemptionPolicy: oneOf(['TERMINATE_CHILDREN', 'PRESERVE_CHILDREN']).optional(),
    existingJobPolicy: oneOf(['UNSPECIFIED', 'ERROR', 'KEEP', 'RECREATE']).default('UNSPECIFIED'),
    stopSignal: oneOf(signalNames).default('SIGTERM'),
    /** Between the stop signal and SIGKILL; at most 10 minutes. */
    grace: duration
      .refine((value) => value <= jobLimits.maxGraceMs, { error: 'a duration of at most 10m' })
      .default(jobDefaults.graceMs),
    /** The machine it has to run on, by name. Absent: any that fits. */
    machine: textOf('the name of a machine').trim().min(1, { error: 'the name of a machine' }).optional(),
    /** Other tasks that share may be put on its GPUs beside it, as far as their memory reaches. */
    shareGpu: z.boolean({ error: 'true or false' }).default(false),
    /** With `shareGpu`: what it will use of the memory of each card at most. Counted, not enforced. */
    gpuMemory: size.optional(),
    /** Container image the command runs in. Absent: a process of the machine itself. */
    image: imageName.optional(),
    pull: pullPolicy,
    containerProfile,
    /** Shell scripts that run before the command, in containers of their own that share its working folder. */
    setup: setupScripts,
    /** Folders of the machine seen in the container, beside the working directory. */
    mounts,
    /** Size of /dev/shm in the container. */
    shm: size.optional(),
    /** Most processes in the container at a time. */
    pidsLimit: count(containerLimits.maxPids, 1).optional(),
    /** The command gets a terminal; its two streams become one. */
    tty: z.boolean({ error: 'true or false' }).default(false),
    /** The command line the request came from, for the record. */
    submitArgv: listOf(textOf('text'), 'a list of arguments').default([]),
  },
  { error: 'a job request with command and workingDirectory' },
);

/** What people write. */
export type JobRequest = z.input<typeof jobRequestSchema>;
type ParsedRequest = z.output<typeof jobRequestSchema>;

/** A checked request with units in its names and defaults filled in; stored as it is, immutable after submission. */
export interface JobSpec {
  readonly name: string | null;
  readonly parent: string | null;
  readonly command: readonly string[];
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  /** True when memory was asked for: then it is a limit, else only counted by the scheduler. */
  readonly memoryIsLimit: boolean;
  readonly diskBytes: number;
  readonly gpuCount: number;
  /** Variant asked for, lower case; null is any. */
  readonly gpuVariant: string | null;
  readonly replicas: number;
  readonly gangBy: string | null;
  readonly maxRetriesFailure: number;
  readonly maxRetriesPreemption: number;
  readonly maxTaskFailures: number;
  readonly timeoutMs: number | null;
  readonly schedulingTimeoutMs: number | null;
  readonly finishBy: TimeBound | null;
  readonly startNotBefore: TimeBound | null;
  readonly held: boolean;
  /** `job` is a path once the job is submitted. */
  readonly dependencies: readonly DependencyWish[];
  readonly maxActive: number | null;
  readonly priority: ParsedRequest['priority'];
  readonly constraints: readonly Constraint[];
  readonly extras: readonly string[];
  readonly files: readonly { readonly path: string; readonly contentBase64: string }[];
  readonly ports: readonly string[];
  /** Resolved: terminate for one task, preserve for several, unless asked for otherwise. */
  readonly preemptionPolicy: 'TERMINATE_CHILDREN' | 'PRESERVE_CHILDREN';
  readonly existingJobPolicy: ParsedRequest['existingJobPolicy'];
  readonly stopSignal: ParsedRequest['stopSignal'];
  readonly graceMs: number;
  /** A machine by name, as a constraint of `machineAttribute`; null for any. */
  readonly machine: string | null;
  /** Of each of its GPUs, which others may share: the memory it will use. Null: its GPUs are its own. */
  readonly sharedGpuBytes: number | null;
  /** Null: a process of the machine itself; then the fields up to `tty` mean nothing. */
  readonly image: string | null;
  readonly pull: PullPolicy;
  readonly containerProfile: ContainerProfile;
  readonly setup: readonly string[];
  readonly mounts: readonly Mount[];
  readonly shmBytes: number | null;
  readonly pidsLimit: number | null;
  readonly tty: boolean;
  readonly submitArgv: readonly string[];
  /** What was asked for, before defaults, so that it can be shown and edited as written. */
  readonly asked: {
    readonly cpu: boolean;
    readonly memory: boolean;
    readonly disk: boolean;
  };
}

/** What a specification stored before these fields were there means. */
export const laterSpecFields = {
  finishBy: null,
  startNotBefore: null,
  held: false,
  dependencies: [],
  maxActive: null,
  machine: null,
  sharedGpuBytes: null,
  image: null,
  pull: 'MISSING',
  containerProfile: 'DEFAULT',
  setup: [],
  mounts: [],
  shmBytes: null,
  pidsLimit: null,
  tty: false,
} as const satisfies Partial<JobSpec>;

function toSpec(request: ParsedRequest): JobSpec {
  return {
    name: request.name ?? null,
    parent: request.parent ?? null,
    command: request.command,
    workingDirectory: request.workingDirectory,
    environment: request.environment,
    cpuMillicores: request.cpu === undefined ? jobDefaults.cpuMillicores : Math.round(request.cpu * 1000),
    memoryBytes: request.memory ?? jobDefaults.memoryBytes,
    memoryIsLimit: request.memory !== undefined,
    diskBytes: request.disk ?? jobDefaults.diskBytes,
    gpuCount: request.gpu?.count ?? 0,
    gpuVariant: request.gpu?.variant ?? null,
    replicas: request.replicas,
    gangBy: request.gangBy ?? null,
    maxRetriesFailure: request.maxRetries,
    maxRetriesPreemption: request.maxRetriesPreemption,
    maxTaskFailures: request.maxTaskFailures,
    timeoutMs: request.timeout ?? null,
    schedulingTimeoutMs: request.schedulingTimeout ?? null,
    finishBy: request.finishBy ?? null,
    startNotBefore: request.startNotBefore ?? null,
    held: request.held,
    dependencies: request.dependencies,
    maxActive: request.maxActive ?? null,
    priority: request.priority,
    constraints: request.constraints,
    extras: request.extras,
    files: request.files,
    ports: request.ports,
    preemptionPolicy:
      request.preemptionPolicy ?? (request.replicas === 1 ? 'TERMINATE_CHILDREN' : 'PRESERVE_CHILDREN'),
    existingJobPolicy: request.existingJobPolicy,
    stopSignal: request.stopSignal,
    graceMs: request.grace,
    machine: request.machine ?? null,
    sharedGpuBytes: request.shareGpu ? (request.gpuMemory ?? null) : null,
    image: request.image ?? null,
    pull: request.pull,
    containerProfile: request.containerProfile,
    setup: request.setup,
    mounts: request.mounts,
    shmBytes: request.shm ?? null,
    pidsLimit: request.pidsLimit ?? null,
    tty: request.tty,
    submitArgv: request.submitArgv,
    asked: {
      cpu: request.cpu !== undefined,
      memory: request.memory !== undefined,
      disk: request.disk !== undefined,
    },
  };
}

/** What makes no sense together of the fields about shared GPUs. */
function sharingErrors({ shareGpu, gpuMemory, gpu: asked, gangBy }: ParsedRequest): FieldError[] {
  if (!shareGpu) {
    if (gpuMemory === undefined) return [];
    const expected = 'nothing without shareGpu: who has a GPU alone has all its memory';
    return [{ field: 'gpuMemory', value: formatSize(gpuMemory), expected }];
  }
  const shares = { field: 'shareGpu', value: 'true' };
  if ((asked?.count ?? 0) === 0) return [{ ...shares, expected: 'false without a GPU asked for in gpu' }];
  if (gangBy !== undefined)
    return [{ ...shares, expected: `false for a gang (gangBy ${gangBy}): its tasks have their GPUs alone` }];
  if (gpuMemory !== undefined) return [];
  const expected = 'the memory a task uses of each GPU it shares, such as 8GB';
  return [{ field: 'gpuMemory', value: '', expected }];
}

/** A gang starts whole: with fewer of its tasks allowed at once it would wait for ever. */
function gangErrors({ gangBy, maxActive, replicas }: ParsedRequest): FieldError[] {
  if (gangBy === undefined || maxActive === undefined || maxActive >= replicas) return [];
  const expected = `at least ${replicas}, or nothing: the ${replicas} tasks of a gang start together`;
  return [{ field: 'maxActive', value: String(maxActive), expected }];
}

/** Checks a request. On failure INVALID_ARGUMENT with one entry a wrong field, in the order of the schema. */
export function parseJobRequest(input: unknown): Result<JobSpec> {
  const parsed = jobRequestSchema.safeParse(input, { error: expectedWords });
  const fields = parsed.success
    ? [...sharingErrors(parsed.data), ...gangErrors(parsed.data)]
    : fieldErrors(parsed.error, input);
  if (parsed.success && fields.length === 0) return ok(toSpec(parsed.data));
  return refuse('INVALID_ARGUMENT', fieldSentence(fields, 'The job request'), fields);
}
