/** The fields of a job request: what each may be, and what to say when it is not. */
import { z } from 'zod';
import { durationExpected, parseDuration } from '../formats/durations.js';
import { parseSize, sizeExpected } from '../formats/sizes.js';
import { parseTimeBound, timeBoundExpected } from '../formats/times.js';

/** Limits and defaults of the original (iris-behaviour section 0) unless the decision log says otherwise. */
export const jobLimits = {
  maxReplicas: 10_000,
  maxNameLength: 255,
  maxRetries: 1000,
  maxCommandBytes: 128 * 1024,
  maxEnvironmentBytes: 256 * 1024,
  maxStagedFileBytes: 16 * 1024 * 1024,
  maxGraceMs: 600_000,
  maxDependencies: 100,
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
export const namePattern = /^[^/\p{Cc}\p{Cs}]+$/u;
export const environmentName = /^[A-Za-z_][A-Za-z0-9_]*$/;
export const portName = /^[a-z][a-z0-9_-]*$/i;
export const signalNames = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

export const size = z.union([z.string(), z.number()], { error: sizeExpected }).transform((value, context) => {
  const bytes =
    typeof value === 'number' ? (Number.isSafeInteger(value) ? value : undefined) : parseSize(value);
  if (bytes === undefined || bytes <= 0) {
    context.addIssue({ code: 'custom', message: sizeExpected });
    return z.NEVER;
  }
  return bytes;
});

export const duration = z
  .union([z.string(), z.number()], { error: `${durationExpected}, above zero` })
  .transform((value, context) => {
    const ms = typeof value === 'number' ? Math.round(value * 1000) : parseDuration(value);
    if (ms === undefined || !Number.isSafeInteger(ms) || ms <= 0) {
      context.addIssue({ code: 'custom', message: `${durationExpected}, above zero` });
      return z.NEVER;
    }
    return ms;
  });

/** A point in time, or a duration from the submission; numbers are seconds from it. */
export const timeBound = z
  .union([z.string(), z.number()], { error: timeBoundExpected })
  .transform((value, context) => {
    const bound = parseTimeBound(String(value));
    if (bound === undefined) {
      context.addIssue({ code: 'custom', message: timeBoundExpected });
      return z.NEVER;
    }
    return bound;
  });

const dependencyExpected =
  'jobs to wait for, each with job (its path or name) and on (SUCCESS, END or FAILURE)';
/** What must have become of another job first. `job`: its path, or the name of one's own newest job of that name. */
export const dependencySchema = z.strictObject(
  {
    job: z
      .string({ error: 'the path or name of a job' })
      .trim()
      .min(1, { error: 'the path or name of a job' }),
    on: z
      .preprocess(
        (value) => (typeof value === 'string' ? value.trim().toUpperCase() : value),
        z.enum(['SUCCESS', 'END', 'FAILURE'], { error: 'success, end or failure' }),
      )
      .default('SUCCESS'),
  },
  { error: dependencyExpected },
);
export type DependencyWish = z.output<typeof dependencySchema>;

const gpuExpected = 'a number of GPUs (2), a model (H100) or both (H100x8)';

/** `H100x8` (model and count), `8` (any model), `H100` (one). A number above 16 alone is first tried as a model by the backend. */
export const gpu = z
  .union(
    [
      z.string(),
      z.number(),
      z.strictObject({
        count: z.number({ error: gpuExpected }),
        variant: z.string({ error: gpuExpected }).nullable().default(null),
      }),
    ],
    { error: gpuExpected },
  )
  .transform((value, context): { count: number; variant: string | null } => {
    const bad = () => {
      context.addIssue({ code: 'custom', message: gpuExpected });
      return z.NEVER;
    };
    if (typeof value === 'number') return isGpuCount(value) ? { count: value, variant: null } : bad();
    if (typeof value === 'object') {
      const variant = value.variant === null ? null : value.variant.trim().toLowerCase();
      return isGpuCount(value.count) && (variant === null || gpuModel.test(variant))
        ? { count: value.count, variant }
        : bad();
    }
    const text = value.trim().toLowerCase();
    if (/^\d+$/.test(text)) return isGpuCount(Number(text)) ? { count: Number(text), variant: null } : bad();
    if (!gpuModel.test(text)) return bad();
    const match = /^(.*?[^\s])\s*x(\d+)$/.exec(text);
    const [model, number] = [match?.[1], Number(match?.[2])];
    // A number no machine has of GPUs: the x belongs to the model's name, as in rtx4090.
    if (model === undefined || number > 16) return { count: 1, variant: text };
    return number >= 1 && (gpuModel.test(model) || /^\d+$/.test(model))
      ? { count: number, variant: model }
      : bad();
  });

/** A model's name: begins with a letter or a digit, is no decimal number, and no mere `x8`. */
const gpuModel = /^(?!x\d+$)(?![\d.]+$)[a-z0-9][a-z0-9._ -]*$/;

function isGpuCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** Reads a decimal number that a form or a command line has as text. Nothing else is taken for a number. */
export function toNumber(value: string | number): number {
  if (typeof value === 'number') return value;
  return /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : Number.NaN;
}

export const count = (max: number, min = 0) => {
  const error = `a whole number from ${min} to ${max}`;
  return z
    .union([z.string(), z.number()], { error })
    .transform(toNumber)
    .pipe(z.number({ error }).int({ error }).min(min, { error }).max(max, { error }));
};

export const cpuExpected = 'a number of cores, such as 4 or 0.5';
export const textOf = (expected: string) => z.string({ error: expected });
export const listOf = <T extends z.ZodType>(item: T, expected: string) => z.array(item, { error: expected });
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `one of ${values.join(', ')}` });

export const constraintOperators = [
  'EQ',
  'NE',
  'EXISTS',
  'NOT_EXISTS',
  'GT',
  'GE',
  'LT',
  'LE',
  'IN',
] as const;

/** A wish about workers' attributes. `values`: none for (NOT_)EXISTS, one for comparisons, at least one for IN. */
export const constraintSchema = z
  .strictObject({
    key: textOf('the name of a worker attribute').min(1, { error: 'the name of a worker attribute' }),
    op: oneOf(constraintOperators),
    values: z
      .array(z.union([z.string(), z.number()], { error: 'text or a number' }), { error: 'a list of values' })
      .default([]),
    mode: oneOf(['REQUIRED', 'PREFERRED']).default('REQUIRED'),
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

const confined = 'a relative path that stays inside the working folder (no .., no leading /)';

/** A file put into IRIS_WORKDIR before the command starts. `path` is relative and stays inside. */
export const stagedFileSchema = z.strictObject({
  path: textOf(confined).refine((value) => isConfinedPath(value), {
    error: confined,
  }),
  contentBase64: z
    .base64({ error: 'base64 text' })
    .max(Math.ceil((jobLimits.maxStagedFileBytes * 4) / 3) + 4, {
      error: 'a file of at most 16 MiB',
    }),
});

/** True when a path is relative, has no empty, `.` or `..` part, no backslash, drive letter or NUL, and so cannot leave its folder. */
export function isConfinedPath(path: string): boolean {
  if (
    path.length === 0 ||
    path.length > 4096 ||
    path.includes('\0') ||
    path.includes('\\') ||
    /^[A-Za-z]:/.test(path)
  ) {
    return false;
  }
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** The part of an IRIS_PORT_ variable that comes from a port's name. */
export function portVariable(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}

/** Bytes of a text in UTF-8, as the system counts the length of arguments. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // A half of a pair counts two of the pair's four bytes.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
