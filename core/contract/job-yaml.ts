/** A job request as a YAML file, both ways, and a stored specification back to the request that would make it again. */
import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, stringify, type Document } from 'yaml';
import type { z } from 'zod';
import { durationToInput } from '../formats/durations.js';
import { sizeToInput } from '../formats/sizes.js';
import { timeBoundToInput } from '../formats/times.js';
import { ok, refuse, type FieldError, type Result } from './errors.js';
import { fieldErrors, jobDefaults, jobRequestSchema, type JobRequest, type JobSpec } from './job-request.js';
import { withoutDefaults } from './job-text.js';
import { nearMatches } from './near-matches.js';
import { splitWords } from './shell-words.js';

/** Longest YAML text that is read: a request with its staged files fits. */
const maxYamlLength = 24 * 1024 * 1024;

/** YAML of a request: its fields in the order of the schema, without what holds anyway. The command is one word a line when long. */
export function requestToYaml(request: JobRequest): string {
  const plain: Partial<Record<string, unknown>> = { ...withoutDefaults(request) };
  const ordered: Record<string, unknown> = {};
  for (const field of Object.keys(jobRequestSchema.shape)) {
    if (plain[field] !== undefined && field !== 'submitArgv') ordered[field] = plain[field];
  }
  return stringify(ordered, { lineWidth: 0, defaultStringType: 'PLAIN', defaultKeyType: 'PLAIN' });
}

/** A YAML error with the place, as the editor shows it. */
function refuseAt(field: string, value: string, expected: string, line: number | null): Result<never> {
  const place = line === null ? '' : `Line ${line}: `;
  return refuse('INVALID_ARGUMENT', `${place}${field}: ${value} is not valid; expected ${expected}.`, [
    { field, value, expected },
  ]);
}

/**
 * Reads a request from YAML. `command` may also be one line of text, split as a shell would; words, environment values and names
 * that YAML takes for numbers stay as written (`1e-4`, `010`, `yes`). With `draft`, values a form can show as wrong pass (an empty
 * command, a bad size), but not what it could not show: broken YAML, unknown fields, lists where a word belongs.
 */
export function yamlToRequest(text: string, options: { readonly draft?: boolean } = {}): Result<JobRequest> {
  if (text.length > maxYamlLength) {
    return refuse(
      'INVALID_ARGUMENT',
      `The YAML has ${text.length} characters; at most ${maxYamlLength} are read.`,
    );
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const broken = document.errors[0];
  if (broken !== undefined) {
    const at = lines.linePos(broken.pos[0]);
    return refuse('INVALID_ARGUMENT', `Line ${at.line}, column ${at.col}: ${broken.message}`, [
      { field: 'yaml', value: `line ${at.line}`, expected: 'well-formed YAML' },
    ]);
  }
  const root = document.contents;
  if (!isMap(root)) {
    return refuse(
      'INVALID_ARGUMENT',
      'The YAML is no job: expected fields such as command: and workingDirectory:.',
      [
        {
          field: 'yaml',
          value: text.trim() === '' ? 'nothing' : 'no mapping',
          expected: 'command: [python, train.py]',
        },
      ],
    );
  }
  keepWordsAsWritten(document);
  const plain: unknown = document.toJS({ maxAliasCount: 100 });
  if (typeof plain !== 'object' || plain === null) return refuse('INVALID_ARGUMENT', 'The YAML is no job.');
  const fields: Record<string, unknown> = { command: [], workingDirectory: '', ...plain };
  if (typeof fields['command'] === 'string') {
    const words = splitWords(fields['command']);
    if (!words.ok) return words;
    fields['command'] = words.value.words;
  }
  const parsed = jobRequestSchema.safeParse(fields);
  if (parsed.success) return ok(asRequest(fields));
  const problem = firstProblem(parsed.error, fields, options.draft ?? false);
  if (problem === null) return ok(asRequest(fields));
  return refuseAt(problem.field, problem.value, problem.expected, lineOf(document, lines, problem.field));
}

/** Structure was checked by the schema (or, in a draft, only scalars are wrong); this is where text becomes a request. */
function asRequest(fields: Record<string, unknown>): JobRequest {
  return fields as unknown as JobRequest;
}

function firstProblem(error: z.ZodError, fields: Record<string, unknown>, draft: boolean): FieldError | null {
  const all = fieldErrors(error, fields);
  const known = Object.keys(jobRequestSchema.shape);
  for (const [index, problem] of all.entries()) {
    if (problem.expected === 'no such field') {
      const near = nearMatches(problem.field, known);
      return {
        ...problem,
        expected:
          near.length > 0
            ? `a field of a job (did you mean ${near.join(' or ')}?)`
            : `one of ${known.join(', ')}`,
      };
    }
    const given = valueAt(fields, problem.field.split('.'));
    const scalar = typeof given === 'string' || typeof given === 'number' || given === undefined;
    const emptyCommand =
      problem.field === 'command' && Array.isArray(given) && given.every((word) => typeof word === 'string');
    if (!draft || (!scalar && !emptyCommand)) return all[index] ?? null;
  }
  return null;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return current;
    current = new Map(Object.entries(current)).get(key);
  }
  return current;
}

function lineOf(document: Document.Parsed, lines: LineCounter, field: string): number | null {
  const path = field.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  for (let length = path.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : null;
    if (Array.isArray(range) && typeof range[0] === 'number') return lines.linePos(range[0]).line;
  }
  return null;
}

/** In these fields everything is text; YAML's idea of `1e-4`, `010` or `null` must not change it. */
const textFields = new Set([
  'command',
  'environment',
  'extras',
  'ports',
  'name',
  'submitArgv',
  'workingDirectory',
  'gangBy',
  'parent',
  'machine',
  'image',
  'setup',
]);

function keepWordsAsWritten(document: Document.Parsed): void {
  if (!isMap(document.contents)) return;
  for (const pair of document.contents.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : '';
    if (!textFields.has(key)) continue;
    const node: unknown = pair.value;
    toText(node);
    if (!isMap(node) && !isSeq(node)) continue;
    for (const item of node.items) toText(isPair(item) ? item.value : item);
  }
}

function toText(node: unknown): void {
  if (!isScalar(node) || typeof node.value === 'string') return;
  node.value = node.source ?? '';
}

/** The request that makes this specification again: what was asked for as people write it, without defaults. */
export function specToRequest(spec: JobSpec): JobRequest {
  const request: JobRequest = {
    command: [...spec.command],
    workingDirectory: spec.workingDirectory,
    environment: { ...spec.environment },
    replicas: spec.replicas,
    maxRetries: spec.maxRetriesFailure,
    maxRetriesPreemption: spec.maxRetriesPreemption,
    maxTaskFailures: spec.maxTaskFailures,
    priority: spec.priority,
    constraints: spec.constraints.map((wish) => ({ ...wish, values: [...wish.values] })),
    extras: [...spec.extras],
    files: spec.files.map((file) => ({ ...file })),
    ports: [...spec.ports],
    existingJobPolicy: spec.existingJobPolicy,
    stopSignal: spec.stopSignal,
    ...(spec.graceMs === jobDefaults.graceMs ? {} : { grace: durationToInput(spec.graceMs) }),
    ...(spec.name === null ? {} : { name: spec.name }),
    ...(spec.parent === null ? {} : { parent: spec.parent }),
    ...(spec.asked.cpu ? { cpu: spec.cpuMillicores / 1000 } : {}),
    ...(spec.asked.memory ? { memory: sizeToInput(spec.memoryBytes) } : {}),
    ...(spec.asked.disk ? { disk: sizeToInput(spec.diskBytes) } : {}),
    ...(spec.gpuCount === 0 ? {} : { gpu: gpuToInput(spec.gpuCount, spec.gpuVariant) }),
    ...(spec.gangBy === null ? {} : { gangBy: spec.gangBy }),
    ...(spec.timeoutMs === null ? {} : { timeout: durationToInput(spec.timeoutMs) }),
    ...(spec.schedulingTimeoutMs === null
      ? {}
      : { schedulingTimeout: durationToInput(spec.schedulingTimeoutMs) }),
    ...(spec.finishBy === null ? {} : { finishBy: timeBoundToInput(spec.finishBy) }),
    ...(spec.startNotBefore === null ? {} : { startNotBefore: timeBoundToInput(spec.startNotBefore) }),
    ...(spec.maxActive === null ? {} : { maxActive: spec.maxActive }),
    held: spec.held,
    ...(spec.machine === null ? {} : { machine: spec.machine }),
    ...(spec.sharedGpuBytes === null ? {} : { shareGpu: true, gpuMemory: sizeToInput(spec.sharedGpuBytes) }),
    ...(spec.image === null ? {} : { image: spec.image }),
    pull: spec.pull,
    containerProfile: spec.containerProfile,
    setup: [...spec.setup],
    mounts: spec.mounts.map((mount) => ({ ...mount })),
    ...(spec.shmBytes === null ? {} : { shm: sizeToInput(spec.shmBytes) }),
    ...(spec.pidsLimit === null ? {} : { pidsLimit: spec.pidsLimit }),
    tty: spec.tty,
    dependencies: spec.dependencies.map((wish) => ({ ...wish })),
    ...(spec.preemptionPolicy === usualPolicy(spec.replicas)
      ? {}
      : { preemptionPolicy: spec.preemptionPolicy }),
  };
  return withoutDefaults(request);
}

function usualPolicy(replicas: number): JobSpec['preemptionPolicy'] {
  return replicas === 1 ? 'TERMINATE_CHILDREN' : 'PRESERVE_CHILDREN';
}

/** `2`, `h100x2`, or the two apart when the text would be read differently. */
function gpuToInput(count: number, variant: string | null): NonNullable<JobRequest['gpu']> {
  if (variant === null) return count;
  const text = count === 1 ? variant : `${variant}x${count}`;
  const read = jobRequestSchema.shape.gpu.safeParse(text);
  const same = read.success && read.data?.count === count && read.data.variant === variant;
  return same ? text : { count, variant };
}
