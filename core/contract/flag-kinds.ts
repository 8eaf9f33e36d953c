/** Kinds of flags of `irisctl job run`, and how each changes a request and is written from one. */
import type { FieldError } from './errors.js';
import { constraintToText, textToConstraint } from './constraint-text.js';
import type { Constraint, JobRequest } from './job-request.js';

/** Choices about the command itself, not the job. */
export interface RunOptions {
  /** Return after submission instead of following the job. */
  readonly noWait: boolean;
  /** Stop the job when the command line is interrupted. */
  readonly terminateOnExit: boolean;
  /** Tell what would become of it; submit nothing. */
  readonly dryRun: boolean;
}

export const defaultRunOptions: RunOptions = {
  noWait: false,
  terminateOnExit: true,
  dryRun: false,
};

/** What a flag adds: fields of the request, options, or a field error. */
export interface FlagEffect {
  readonly request?: Partial<JobRequest>;
  readonly options?: Partial<RunOptions>;
  readonly error?: FieldError;
}

export interface RunFlag {
  readonly name: string;
  readonly aliases: readonly string[];
  /** Field of the job request it sets; null for options, ignored and refused flags. */
  readonly field: keyof JobRequest | null;
  readonly takesValue: boolean;
  /** How the value is called in help; null when there is none. */
  readonly valueName: string | null;
  readonly repeatable: boolean;
  readonly help: string;
  /** Why it cannot be used here, one sentence with what to do; null when it can. */
  readonly refused: string | null;
  /** Accepted because the original's users type it; has no effect. */
  readonly ignored: boolean;
  /** What the value (empty without one) adds to the request so far. Values are checked later, by the contract's schema. */
  convert(value: string, soFar: Partial<JobRequest>): FlagEffect;
  /** The flag's words for a request, in the order to write them; empty when the request does not need it. */
  write(request: JobRequest): readonly string[];
}

export const nothing = (): readonly string[] => [];

/** Plain numbers become numbers, so that YAML shows `cpu: 4`; anything else is left for the schema to judge. */
export function numberOrText(text: string): number | string {
  return /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text;
}

interface FlagOptions {
  readonly aliases?: readonly string[];
  readonly valueName?: string;
  readonly repeatable?: boolean;
  readonly write?: (request: JobRequest) => readonly string[];
}

export function valueFlag(
  name: string,
  field: keyof JobRequest,
  valueName: string,
  help: string,
  request: (value: string, soFar: Partial<JobRequest>) => Partial<JobRequest>,
  options: FlagOptions = {},
): RunFlag {
  return {
    name,
    aliases: options.aliases ?? [],
    field,
    takesValue: true,
    valueName,
    repeatable: options.repeatable ?? false,
    help,
    refused: null,
    ignored: false,
    convert: (value, soFar) => ({ request: request(value, soFar) }),
    write: options.write ?? ((from) => writeScalar(name, from[field])),
  };
}

function writeScalar(name: string, value: unknown): readonly string[] {
  return typeof value === 'string' || typeof value === 'number' ? [name, String(value)] : [];
}

export function refusedFlag(name: string, takesValue: boolean, reason: string): RunFlag {
  return {
    name,
    aliases: [],
    field: null,
    takesValue,
    valueName: takesValue ? 'VALUE' : null,
    repeatable: true,
    help: 'not available here',
    refused: reason,
    ignored: false,
    convert: () => ({}),
    write: nothing,
  };
}

export function switchFlag(
  name: string,
  help: string,
  convert: (soFar: Partial<JobRequest>) => FlagEffect,
  more: {
    readonly ignored?: boolean;
    readonly field?: keyof JobRequest;
    readonly write?: RunFlag['write'];
  } = {},
): RunFlag {
  return {
    name,
    aliases: [],
    field: more.field ?? null,
    takesValue: false,
    valueName: null,
    repeatable: true,
    help,
    refused: null,
    ignored: more.ignored ?? false,
    convert: (_value, soFar) => convert(soFar),
    write: more.write ?? nothing,
  };
}

/** `--region a --region b` is one wish with two allowed values. */
export function addPlace(key: string, value: string, soFar: Partial<JobRequest>): Partial<JobRequest> {
  const constraints = soFar.constraints ?? [];
  const before = constraints.find((item) => item.key === key);
  const values = [...(before?.values ?? []), value];
  const wish = { key, op: values.length > 1 ? ('IN' as const) : ('EQ' as const), values };
  return { constraints: [...constraints.filter((item) => item.key !== key), wish] };
}

/** The last of --preemptible and --no-preemptible holds. As in the original, `true` is a preference and `false` a demand. */
export function setPreemptible(value: boolean, soFar: Partial<JobRequest>): FlagEffect {
  const others = (soFar.constraints ?? []).filter((item) => item.key !== 'preemptible');
  const wish = {
    key: 'preemptible',
    op: 'EQ' as const,
    values: [String(value)],
    mode: value ? ('PREFERRED' as const) : ('REQUIRED' as const),
  };
  return { request: { constraints: [...others, wish] } };
}

export function writeConstraints(request: JobRequest): readonly string[] {
  const words: string[] = [];
  for (const wish of request.constraints ?? []) {
    const full: Constraint = {
      key: wish.key,
      op: wish.op,
      values: wish.values ?? [],
      mode: wish.mode ?? 'REQUIRED',
    };
    words.push(
      ...(placeWords(full) ?? [
        full.mode === 'PREFERRED' ? '--prefer' : '--constraint',
        constraintToText(full),
      ]),
    );
  }
  return words;
}

function placeWords(wish: Constraint): readonly string[] | null {
  const texts = wish.values.filter((value) => typeof value === 'string');
  if (texts.length !== wish.values.length) return null;
  if ((wish.key === 'region' || wish.key === 'zone') && wish.mode === 'REQUIRED') {
    const one = wish.op === 'EQ' || (wish.op === 'IN' && texts.length > 1);
    return one ? texts.flatMap((value) => [`--${wish.key}`, value]) : null;
  }
  if (wish.key === 'preemptible' && wish.op === 'EQ') {
    if (texts[0] === 'true' && wish.mode === 'PREFERRED') return ['--preemptible'];
    if (texts[0] === 'false' && wish.mode === 'REQUIRED') return ['--no-preemptible'];
  }
  return null;
}

export function constraintFlag(name: string, mode: Constraint['mode'], help: string): RunFlag {
  return {
    ...valueFlag(name, 'constraints', 'WISH', help, () => ({}), { repeatable: true, write: nothing }),
    convert: (value, soFar) => {
      const wish = textToConstraint(value, mode);
      return wish.ok
        ? { request: { constraints: [...(soFar.constraints ?? []), wish.value] } }
        : {
            error: wish.refusal.fields[0] ?? { field: 'constraints', value, expected: wish.refusal.message },
          };
    },
  };
}

export function gpuWords(request: JobRequest): readonly string[] {
  const gpu = request.gpu;
  if (gpu === undefined) return [];
  if (typeof gpu !== 'object') return ['--gpu', String(gpu)];
  if (gpu.count === 0) return [];
  return [
    '--gpu',
    gpu.variant === undefined || gpu.variant === null ? String(gpu.count) : `${gpu.variant}x${gpu.count}`,
  ];
}

/** `--after a --after-end b`: jobs to wait for, in the order given. */
export const dependencyFlags: readonly RunFlag[] = (
  [
    ['--after', 'SUCCESS', 'start after that job has succeeded'],
    ['--after-end', 'END', 'start after that job has ended, however'],
    ['--after-failure', 'FAILURE', 'start only if that job fails'],
  ] as const
).map(([name, on, help]) =>
  valueFlag(
    name,
    'dependencies',
    'JOB',
    help,
    (job, soFar) => ({ dependencies: [...(soFar.dependencies ?? []), { job, on }] }),
    {
      repeatable: true,
      write: (request) =>
        (request.dependencies ?? []).flatMap((wish) =>
          (wish.on ?? 'SUCCESS') === on ? [name, wish.job] : [],
        ),
    },
  ),
);
