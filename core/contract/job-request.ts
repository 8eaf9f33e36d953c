/**
 * The job specification: one schema for the form, a YAML file and the command line. A `JobRequest` is what people write
 * (sizes and durations as text or numbers); `parseJobRequest` turns it into a `JobSpec`, which has units in its names, every
 * default filled in, and is what the controller stores. Field names of errors are those of `JobRequest`.
 */
import { z } from 'zod';
import { durationExpected, parseDuration } from '../formats/durations.js';
import { parseSize, sizeExpected } from '../formats/sizes.js';
import { type FieldError, type Result, refuse, ok } from './errors.js';
import { requestedBands } from './states.js';

/** Limits and defaults of the original (iris-behaviour section 0) unless the decision log says otherwise. */
export const jobLimits = {
  maxReplicas: 10_000,
  maxNameLength: 255,
  maxRetries: 1000,
  maxCommandBytes: 128 * 1024,
  maxEnvironmentBytes: 256 * 1024,
  maxStagedFileBytes: 16 * 1024 * 1024,
  maxGraceMs: 600_000,
} as const;

export const jobDefaults = {
  /** Scheduling requests when nothing was asked for, as the original's command line has them. They are never limits. */
  cpuMillicores: 100,
  memoryBytes: 1_000_000_000,
  diskBytes: 5_000_000_000,
  maxRetriesPreemption: 100,
  graceMs: 30_000,
} as const;

/** One path part: no slash, not blank, no control characters; kept in its case, compared in lower case. */
const namePattern = /^[^/\p{Cc}]+$/u;
const environmentName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const portName = /^[a-z][a-z0-9_-]*$/i;
const signalNames = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

const size = z
  .union([z.string(), z.number()])
  .transform((value, context) => {
    const bytes = typeof value === 'number' ? (Number.isSafeInteger(value) ? value : undefined) : parseSize(value);
    if (bytes === undefined || bytes <= 0) {
      context.addIssue({ code: 'custom', message: sizeExpected });
      return z.NEVER;
    }
    return bytes;
  });

const duration = z.union([z.string(), z.number()]).transform((value, context) => {
  const ms = typeof value === 'number' ? Math.round(value * 1000) : parseDuration(value);
  if (ms === undefined || !Number.isSafeInteger(ms) || ms <= 0) {
    context.addIssue({ code: 'custom', message: `${durationExpected}, above zero` });
    return z.NEVER;
  }
  return ms;
});

/** `H100x8` (model and count), `8` (any model), `H100` (one). A number above 16 alone is first tried as a model by the backend. */
const gpu = z
  .union([
    z.string(),
    z.number(),
    z.strictObject({ count: z.number(), variant: z.string().nullable().default(null) }),
  ])
  .transform((value, context): { count: number; variant: string | null } => {
    const bad = () => {
      context.addIssue({ code: 'custom', message: 'a number of GPUs (2), a model (H100) or both (H100x8)' });
      return z.NEVER;
    };
    if (typeof value === 'object') return Number.isInteger(value.count) && value.count >= 0 ? value : bad();
    const text = String(value).trim();
    if (/^\d+$/.test(text)) return { count: Number(text), variant: null };
    const match = /^([A-Za-z0-9][A-Za-z0-9._ -]*?)(?:x(\d+))?$/.exec(text);
    if (match === null || match[1] === undefined) return bad();
    const count = match[2] === undefined ? 1 : Number(match[2]);
    // No machine has that many GPUs: the x belongs to the model's name, as in rtx4090.
    if (count > 16) return { count: 1, variant: text.toLowerCase() };
    return { count, variant: match[1].trim().toLowerCase() };
  });

const count = (max: number, min = 0) =>
  z.coerce.number({ error: `a whole number from ${min} to ${max}` }).pipe(
    z
      .number()
      .int({ error: `a whole number from ${min} to ${max}` })
      .min(min, { error: `a whole number from ${min} to ${max}` })
      .max(max, { error: `a whole number from ${min} to ${max}` }),
  );

export const constraintOperators = ['EQ', 'NE', 'EXISTS', 'NOT_EXISTS', 'GT', 'GE', 'LT', 'LE', 'IN'] as const;

/** A wish about workers' attributes. `values`: none for (NOT_)EXISTS, one for comparisons, at least one for IN. */
export const constraintSchema = z
  .strictObject({
    key: z.string().min(1, { error: 'the name of a worker attribute' }),
    op: z.enum(constraintOperators),
    values: z.array(z.union([z.string(), z.number()])).default([]),
    mode: z.enum(['REQUIRED', 'PREFERRED']).default('REQUIRED'),
  })
  .superRefine((value, context) => {
    const right =
      value.op === 'EXISTS' || value.op === 'NOT_EXISTS'
        ? value.values.length === 0
        : value.op === 'IN'
          ? value.values.length >= 1
          : value.values.length === 1;
    if (!right) {
      context.addIssue({
        code: 'custom',
        path: ['values'],
        message: 'no value for EXISTS and NOT_EXISTS, at least one for IN, exactly one for the others',
      });
    }
  });
export type Constraint = z.infer<typeof constraintSchema>;

/** A file put into IRIS_WORKDIR before the command starts. `path` is relative and stays inside. */
export const stagedFileSchema = z.strictObject({
  path: z
    .string()
    .min(1)
    .refine((value) => isConfinedPath(value), {
      error: 'a relative path that stays inside the working folder (no .., no leading /)',
    }),
  contentBase64: z.base64({ error: 'base64 text' }).max(Math.ceil((jobLimits.maxStagedFileBytes * 4) / 3) + 4, {
    error: 'a file of at most 16 MiB',
  }),
});

/** True when a path is relative, has no empty, `.` or `..` part, no backslash, drive letter or NUL, and so cannot leave its folder. */
export function isConfinedPath(path: string): boolean {
  if (path.length === 0 || path.length > 4096 || path.includes('\0') || path.includes('\\') || /^[A-Za-z]:/.test(path)) {
    return false;
  }
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

export const jobRequestSchema = z.strictObject({
  /** Last part of the job's path. Empty or absent: generated from the command with a random suffix. */
  name: z
    .string()
    .max(jobLimits.maxNameLength, { error: `at most ${jobLimits.maxNameLength} characters` })
    .regex(namePattern, { error: 'a name without / and control characters' })
    .refine((value) => value.trim() === value && value.trim() !== '', { error: 'a name without blanks at its ends' })
    .optional(),
  /** Id of the parent job, for a child job. */
  parent: z.string().optional(),
  /** Argument vector; the first is the program. Never a shell string. */
  command: z
    .array(z.string().refine((value) => !value.includes('\0'), { error: 'text without NUL characters' }))
    .min(1, { error: 'a program and its arguments' })
    .refine((value) => (value[0] ?? '').trim() !== '', { error: 'a program and its arguments' })
    .refine((value) => value.reduce((sum, item) => sum + item.length + 1, 0) <= jobLimits.maxCommandBytes, {
      error: `at most ${jobLimits.maxCommandBytes / 1024} KiB in all`,
    }),
  /** Absolute path of the folder the command runs in, in place. */
  workingDirectory: z
    .string()
    .refine((value) => value.startsWith('/') || /^[A-Za-z]:[\\/]/.test(value), { error: 'an absolute path' })
    .refine((value) => !value.includes('\0'), { error: 'an absolute path' }),
  environment: z
    .record(
      z.string().regex(environmentName, { error: 'names of letters, digits and _, not starting with a digit' }),
      z.string().refine((value) => !value.includes('\0'), { error: 'text without NUL characters' }),
    )
    .refine(
      (value) =>
        Object.entries(value).reduce((sum, [key, text]) => sum + key.length + text.length + 2, 0) <=
        jobLimits.maxEnvironmentBytes,
      { error: `at most ${jobLimits.maxEnvironmentBytes / 1024} KiB in all` },
    )
    .default({}),
  /** Cores per task, to a thousandth. A scheduling weight, never a quota. */
  cpu: z.coerce
    .number({ error: 'a number of cores, such as 4 or 0.5' })
    .min(0.001, { error: 'a number of cores, such as 4 or 0.5' })
    .max(100_000, { error: 'a number of cores, such as 4 or 0.5' })
    .optional(),
  /** Memory per task. Asked for: also a limit. Not asked for: 1 GB is only counted. */
  memory: size.optional(),
  disk: size.optional(),
  gpu: gpu.optional(),
  replicas: count(jobLimits.maxReplicas, 1).default(1),
  /** Gang: all tasks start together, one group of workers sharing this attribute. Absent: no gang. */
  gangBy: z.string().min(1).optional(),
  maxRetries: count(jobLimits.maxRetries).default(0),
  maxRetriesPreemption: count(jobLimits.maxRetries).default(jobDefaults.maxRetriesPreemption),
  /** Tasks that may fail for good before the job does. */
  maxTaskFailures: count(jobLimits.maxReplicas).default(0),
  /** Longest run of one attempt, from its start. */
  timeout: duration.optional(),
  /** The job must have started by then, from its submission. */
  schedulingTimeout: duration.optional(),
  priority: z
    .preprocess(
      (value) => (typeof value === 'string' ? value.trim().toUpperCase() : value),
      z.enum(requestedBands, { error: 'system, production, interactive, batch or inherit' }),
    )
    .default('INHERIT'),
  constraints: z.array(constraintSchema).default([]),
  /** Set-up extras (Python extras of the project), passed to set-up scripts. */
  extras: z.array(z.string().min(1)).default([]),
  files: z.array(stagedFileSchema).default([]),
  /** Names of ports to allot; each arrives as IRIS_PORT_<NAME>. */
  ports: z.array(z.string().regex(portName, { error: 'names of letters, digits, - and _' })).default([]),
  preemptionPolicy: z.enum(['TERMINATE_CHILDREN', 'PRESERVE_CHILDREN']).optional(),
  existingJobPolicy: z.enum(['UNSPECIFIED', 'ERROR', 'KEEP', 'RECREATE']).default('UNSPECIFIED'),
  stopSignal: z.enum(signalNames).default('SIGTERM'),
  /** Between the stop signal and SIGKILL; at most 10 minutes. */
  grace: duration
    .refine((value) => value <= jobLimits.maxGraceMs, { error: 'a duration of at most 10m' })
    .default(jobDefaults.graceMs),
  /** The command line the request came from, for the record. */
  submitArgv: z.array(z.string()).default([]),
});

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
  readonly submitArgv: readonly string[];
  /** What was asked for, before defaults, so that it can be shown and edited as written. */
  readonly asked: {
    readonly cpu: boolean;
    readonly memory: boolean;
    readonly disk: boolean;
  };
}

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
    submitArgv: request.submitArgv,
    asked: {
      cpu: request.cpu !== undefined,
      memory: request.memory !== undefined,
      disk: request.disk !== undefined,
    },
  };
}

/** Checks a request. On failure INVALID_ARGUMENT with one entry a wrong field, in the order of the schema. */
export function parseJobRequest(input: unknown): Result<JobSpec> {
  const parsed = jobRequestSchema.safeParse(input);
  if (parsed.success) return ok(toSpec(parsed.data));
  const fields = fieldErrors(parsed.error, input);
  const first = fields[0];
  const message =
    first === undefined
      ? 'The job request is not valid.'
      : `${first.field}: ${first.value} is not valid; expected ${first.expected}.`;
  return refuse('INVALID_ARGUMENT', fields.length > 1 ? `${message} (and ${fields.length - 1} more)` : message, fields);
}

/** Turns zod's issues into field errors that name the field, the value as given and what would be right. */
export function fieldErrors(error: z.ZodError, input: unknown): FieldError[] {
  const result: FieldError[] = [];
  for (const issue of error.issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) {
        result.push({
          field: [...issue.path, key].join('.'),
          value: showValue(valueAt(input, [...issue.path, key])),
          expected: 'no such field',
        });
      }
      continue;
    }
    result.push({
      field: issue.path.length === 0 ? 'request' : issue.path.join('.'),
      value: showValue(valueAt(input, issue.path)),
      // A wrong key carries what would be right inside.
      expected: issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message,
    });
  }
  return result;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** A value as the user gave it, short enough for one line; nothing given reads as `nothing`. */
function showValue(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text === '') return 'empty text';
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
