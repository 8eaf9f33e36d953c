/** The form's fields as text, and their way to and from a job request. */
import { constraintToText, textToConstraint } from '../../../core/contract/constraint-text.js';
import { ok, refuse, type FieldError, type Result } from '../../../core/contract/errors.js';
import {
  jobRequestSchema,
  parseJobRequest,
  type JobRequest,
  type JobSpec,
} from '../../../core/contract/job-request.js';
import { joinWords, parseCommandText, splitWords } from '../../../core/contract/job-text.js';

/** How the job that is waited for must have ended. */
export type DependencyWay = JobSpec['dependencies'][number]['on'];

export interface JobForm {
  command: string;
  /** The command is its words, also where they read as flags of ours or as variables: so it was submitted. */
  literal: boolean;
  workingDirectory: string;
  gpu: string;
  cpu: string;
  memory: string;
  name: string;
  replicas: string;
  maxRetries: string;
  timeout: string;
  schedulingTimeout: string;
  finishBy: string;
  startNotBefore: string;
  maxActive: string;
  held: boolean;
  dependencies: { job: string; on: DependencyWay }[];
  /** A requested band; empty for the default. */
  priority: string;
  environment: { name: string; value: string }[];
  constraints: { text: string; preferred: boolean }[];
  extras: string;
  machine: string;
  shareGpu: boolean;
  gpuMemory: string;
  image: string;
  /** A pull policy and a profile; empty for the default. */
  pull: string;
  containerProfile: string;
  shm: string;
  pidsLimit: string;
  tty: boolean;
  mounts: { source: string; target: string; readOnly: boolean }[];
  setup: string[];
  /** Fields the form has no place for, kept as they came. */
  rest: Partial<JobRequest>;
}

export const emptyForm: JobForm = {
  command: '',
  literal: false,
  workingDirectory: '',
  gpu: '',
  cpu: '',
  memory: '',
  name: '',
  replicas: '',
  maxRetries: '',
  timeout: '',
  schedulingTimeout: '',
  finishBy: '',
  startNotBefore: '',
  maxActive: '',
  held: false,
  dependencies: [],
  priority: '',
  environment: [],
  constraints: [],
  extras: '',
  machine: '',
  shareGpu: false,
  gpuMemory: '',
  image: '',
  pull: '',
  containerProfile: '',
  shm: '',
  pidsLimit: '',
  tty: false,
  mounts: [],
  setup: [],
  rest: {},
};

/** Fields written as one text that go into the request as they are. */
const plainFields = [
  'gpu',
  'cpu',
  'memory',
  'name',
  'replicas',
  'maxRetries',
  'timeout',
  'schedulingTimeout',
  'finishBy',
  'startNotBefore',
  'maxActive',
  'machine',
  'gpuMemory',
  'image',
  'pull',
  'containerProfile',
  'shm',
  'pidsLimit',
] as const;

/** Those that are text whatever they look like. */
const textOnly = new Set<string>(['name', 'machine', 'image']);
const flags = ['held', 'shareGpu', 'tty'] as const;

/** Fields of the form that are one text. */
export type TextField = (typeof plainFields)[number] | 'command' | 'workingDirectory' | 'priority' | 'extras';

const ownFields = new Set<string>([
  ...plainFields,
  'command',
  'workingDirectory',
  'priority',
  'environment',
  'constraints',
  'extras',
  ...flags,
  'dependencies',
  'mounts',
  'setup',
  'submitArgv',
]);

/** A field name of the form for each field name of the contract. */
export function formFieldOf(field: string, form: JobForm): string {
  const [first = '', second = '', third = ''] = field.split('.');
  if (first === 'environment' && second !== '') {
    const row = form.environment.findIndex((item) => item.name === second);
    return row < 0 ? 'environment' : `environment.${row}.${/^[A-Za-z_]\w*$/.test(second) ? 'value' : 'name'}`;
  }
  if (first === 'constraints' && second !== '') {
    const filled = form.constraints.flatMap((row, at) => (row.text.trim() === '' ? [] : [at]));
    return `constraints.${filled[Number(second)] ?? 0}.text`;
  }
  if (first === 'dependencies' && second !== '') {
    // Rows that were left empty are not part of the request.
    const filled = form.dependencies.flatMap((row, at) => (row.job.trim() === '' ? [] : [at]));
    return `dependencies.${filled[Number(second)] ?? 0}.job`;
  }
  if (first === 'mounts' && third !== '') {
    const filled = form.mounts.flatMap((row, at) => (isEmptyMount(row) ? [] : [at]));
    return `mounts.${filled[Number(second)] ?? 0}.${third}`;
  }
  if (first === 'setup' && second !== '') {
    const filled = form.setup.flatMap((text, at) => (text.trim() === '' ? [] : [at]));
    return `setup.${filled[Number(second)] ?? 0}`;
  }
  return ownFields.has(first) ? first : 'rest';
}

const isEmptyMount = ({ source, target }: JobForm['mounts'][number]): boolean =>
  source.trim() === '' && target.trim() === '';

const numberOrText = (text: string): number | string => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text);

function commandOf(
  form: Pick<JobForm, 'command' | 'literal'>,
): Result<{ readonly command: readonly string[]; readonly request: Partial<JobRequest> }> {
  if (!form.literal) return parseCommandText(form.command);
  const split = splitWords(form.command);
  return split.ok ? ok({ command: split.value.words, request: {} }) : split;
}

/** Whether the words read as something else than a command once they are written as text. */
function readsOtherwise(command: readonly string[]): boolean {
  const read = parseCommandText(joinWords(command));
  return !read.ok || read.value.isRunCommand || read.value.command.length !== command.length;
}

/** What the form says, not judged yet except for what cannot be written as a request (an open quote, a broken constraint). */
export function formToRequest(form: JobForm): Result<JobRequest> {
  const command = commandOf(form);
  if (!command.ok) return command;
  const constraints: NonNullable<JobRequest['constraints']> = [];
  for (const wish of form.constraints) {
    if (wish.text.trim() === '') continue;
    const read = textToConstraint(wish.text, wish.preferred ? 'PREFERRED' : 'REQUIRED');
    if (!read.ok) {
      const first = read.refusal.fields[0];
      return refuse('INVALID_ARGUMENT', read.refusal.message, [
        {
          field: `constraints.${constraints.length}`,
          value: wish.text,
          expected: first?.expected ?? read.refusal.message,
        },
      ]);
    }
    constraints.push(read.value);
  }
  const environment: Record<string, string> = {};
  for (const { name, value } of form.environment) {
    if (name === '' && value === '') continue;
    if (Object.hasOwn(environment, name)) {
      const expected = 'each name once';
      return refuse('INVALID_ARGUMENT', `The variable ${name} is there twice; expected ${expected}.`, [
        { field: `environment.${name}`, value: name, expected },
      ]);
    }
    environment[name] = value;
  }
  const request: JobRequest = {
    ...form.rest,
    command: [...command.value.command],
    workingDirectory: form.workingDirectory.trim(),
  };
  for (const field of plainFields) {
    const text = form[field].trim();
    if (text !== '') Object.assign(request, { [field]: textOnly.has(field) ? text : numberOrText(text) });
  }
  for (const flag of flags) if (form[flag]) request[flag] = true;
  const mounts = form.mounts
    .filter((row) => !isEmptyMount(row))
    .map(({ source, target, readOnly }) => ({
      source: source.trim(),
      target: target.trim(),
      ...(readOnly ? { readOnly } : {}),
    }));
  if (mounts.length > 0) request.mounts = mounts;
  const setup = form.setup.filter((text) => text.trim() !== '');
  if (setup.length > 0) request.setup = setup;
  const dependencies = form.dependencies
    .map(({ job, on }) => ({ job: job.trim(), on }))
    .filter(({ job }) => job !== '');
  if (dependencies.length > 0) request.dependencies = dependencies;
  if (form.priority !== '') request.priority = form.priority;
  if (constraints.length > 0) request.constraints = constraints;
  const extras = form.extras.split(/[\s,]+/).filter((extra) => extra !== '');
  if (extras.length > 0) request.extras = extras;
  const merged = { ...request, ...command.value.request };
  const variables = { ...environment, ...command.value.request.environment };
  if (Object.keys(variables).length > 0) merged.environment = variables;
  return ok(merged);
}

const ways: readonly DependencyWay[] = ['SUCCESS', 'END', 'FAILURE'];

function dependencyWayOf(value: unknown): DependencyWay {
  const word = typeof value === 'string' ? value.trim().toUpperCase() : '';
  return ways.find((way) => way === word) ?? 'SUCCESS';
}

/** A word of a choice as the contract writes it; empty for the usual one. */
function choiceOf(value: unknown, usual: string): string {
  const word = typeof value === 'string' ? value.trim().toUpperCase().replaceAll('-', '_') : '';
  return word === usual ? '' : word;
}

/** The form for a request. Text of any kind is taken: what is wrong shows beside its field. */
export function requestToForm(request: JobRequest): JobForm {
  const text = (value: unknown): string =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const { gpu } = request;
  const rest = Object.fromEntries(Object.entries(request).filter(([field]) => !ownFields.has(field)));
  return {
    ...emptyForm,
    command: joinWords(request.command),
    literal: readsOtherwise(request.command),
    workingDirectory: request.workingDirectory,
    gpu:
      typeof gpu === 'object'
        ? `${gpu.variant ?? ''}${typeof gpu.variant === 'string' ? 'x' : ''}${gpu.count}`
        : text(gpu),
    cpu: text(request.cpu),
    memory: text(request.memory),
    name: text(request.name),
    replicas: text(request.replicas),
    maxRetries: text(request.maxRetries),
    timeout: text(request.timeout),
    schedulingTimeout: text(request.schedulingTimeout),
    finishBy: text(request.finishBy),
    startNotBefore: text(request.startNotBefore),
    maxActive: text(request.maxActive),
    held: request.held === true,
    dependencies: (request.dependencies ?? []).map(({ job, on }) => ({ job, on: dependencyWayOf(on) })),
    priority: typeof request.priority === 'string' ? request.priority.toUpperCase() : '',
    environment: Object.entries(request.environment ?? {}).map(([name, value]) => ({ name, value })),
    constraints: (request.constraints ?? []).map((wish) => ({
      text: constraintToText({ key: wish.key, op: wish.op, values: wish.values ?? [] }),
      preferred: wish.mode === 'PREFERRED',
    })),
    extras: (request.extras ?? []).join(', '),
    machine: text(request.machine),
    shareGpu: request.shareGpu === true,
    gpuMemory: text(request.gpuMemory),
    image: text(request.image),
    pull: choiceOf(request.pull, 'MISSING'),
    containerProfile: choiceOf(request.containerProfile, 'DEFAULT'),
    shm: text(request.shm),
    pidsLimit: text(request.pidsLimit),
    tty: request.tty === true,
    mounts: (request.mounts ?? []).map(({ source, target, readOnly }) => ({
      source,
      target,
      readOnly: readOnly === true,
    })),
    setup: [...(request.setup ?? [])],
    rest,
  };
}

/** The form after its command was read: flags of a pasted `irisctl job run` line and leading variables go into their fields. */
export function spreadCommand(form: JobForm): JobForm | null {
  if (form.literal) return null;
  const read = parseCommandText(form.command);
  if (!read.ok || Object.keys(read.value.request).length + (read.value.isRunCommand ? 1 : 0) === 0)
    return null;
  const { commandText, shellOnly, shellOnlyBefore, isRunCommand } = read.value;
  // A shell would act on these variables: they stay where the form offers one.
  if (!isRunCommand && shellOnlyBefore.length > 0) return null;
  const before = formToRequest({ ...form, command: '' });
  if (!before.ok) return null;
  const environment = { ...before.value.environment, ...read.value.request.environment };
  const next = requestToForm({
    ...before.value,
    ...read.value.request,
    ...(Object.keys(environment).length > 0 ? { environment } : {}),
    command: [...read.value.command],
  });
  // As it was written: in quotes, what a shell acts on would pass for what is meant literally, and no shell would be offered.
  return shellOnly.length > 0 && !next.literal ? { ...next, command: commandText } : next;
}

/** Every wrong field of the form by the contract's own schema; empty when it can be submitted. */
export function formErrors(form: JobForm): readonly FieldError[] {
  const request = formToRequest(form);
  if (!request.ok) return request.refusal.fields;
  const parsed = parseJobRequest(request.value);
  return parsed.ok ? [] : parsed.refusal.fields;
}

/** A draft as it was kept; null when it is of another shape. */
export function readDraft(text: string | null): JobForm | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const known = new Map<string, unknown>(Object.entries(value));
    const form: JobForm = { ...emptyForm };
    for (const field of [...plainFields, 'command', 'workingDirectory', 'priority', 'extras'] as const) {
      const kept = known.get(field);
      if (typeof kept !== 'string') return null;
      form[field] = kept;
    }
    form.environment = rows(known.get('environment')).map((row) => ({
      name: textOf(row.get('name')),
      value: textOf(row.get('value')),
    }));
    form.constraints = rows(known.get('constraints')).map((row) => ({
      text: textOf(row.get('text')),
      preferred: row.get('preferred') === true,
    }));
    form.literal = known.get('literal') === true;
    for (const flag of flags) form[flag] = known.get(flag) === true;
    form.mounts = rows(known.get('mounts')).map((row) => ({
      source: textOf(row.get('source')),
      target: textOf(row.get('target')),
      readOnly: row.get('readOnly') === true,
    }));
    const setup: unknown = known.get('setup');
    form.setup = Array.isArray(setup) ? setup.map(textOf) : [];
    form.dependencies = rows(known.get('dependencies')).map((row) => ({
      job: textOf(row.get('job')),
      on: dependencyWayOf(row.get('on')),
    }));
    const rest = known.get('rest');
    if (typeof rest === 'object' && rest !== null && jobRequestSchema.partial().safeParse(rest).success) {
      form.rest = { ...rest };
    }
    return form;
  } catch {
    return null;
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function rows(value: unknown): Map<string, unknown>[] {
  return Array.isArray(value)
    ? value.flatMap((row: unknown) =>
        typeof row === 'object' && row !== null ? [new Map<string, unknown>(Object.entries(row))] : [],
      )
    : [];
}
