/**
 * A job as a command line: words after `job run` to a request, a pasted line to a request, and a request to the line that
 * would submit it again. With job-yaml.ts, the three views of one job specification.
 */
import { ok, refuse, type FieldError, type Result } from './errors.js';
import { defaultRunOptions, type RunFlag, type RunOptions } from './flag-kinds.js';
import { findRunFlag, runFlags } from './job-flags.js';
import { fieldErrors, jobRequestSchema, type JobRequest } from './job-request.js';
import { nearMatches } from './near-matches.js';
import { joinWords, splitWords, textFromWord } from './shell-words.js';

export { type RunFlag, type RunOptions } from './flag-kinds.js';
export { runFlags } from './job-flags.js';
export { joinWords, splitWords } from './shell-words.js';

export interface RunArguments {
  /** Fields the flags set, as written; the command is not among them. */
  readonly request: Partial<JobRequest>;
  /** The command's words; may be empty. */
  readonly command: readonly string[];
  readonly options: RunOptions;
  /** Flags accepted without effect. */
  readonly ignored: readonly string[];
}

/**
 * Reads the words after `job run`: flags (`--flag value`, `--flag=value`, `-e KEY VALUE`, `-e KEY=VALUE`), then the command, with
 * or without `--` before it. An unknown flag before the command is refused with its near matches, never taken into the command.
 */
export function parseRunArguments(argv: readonly string[]): Result<RunArguments> {
  let request: Partial<JobRequest> = {};
  let options = defaultRunOptions;
  const ignored: string[] = [];
  const seen = new Set<string>();
  let at = 0;
  while (at < argv.length) {
    const word = argv[at] ?? '';
    if (word === '--') {
      at += 1;
      break;
    }
    if (!word.startsWith('-') || word === '-') break;
    const taken = takeFlag(argv, at);
    if (!taken.ok) return taken;
    const { flag, value, next } = taken.value;
    if (flag.refused !== null && !harmless(flag, value)) {
      return refuse('INVALID_ARGUMENT', `${flag.name} cannot be used: ${flag.refused}.`, [
        { field: flag.name, value: value === '' ? 'given' : value, expected: flag.refused },
      ]);
    }
    if (!flag.repeatable && seen.has(flag.name)) {
      return refuse('INVALID_ARGUMENT', `${flag.name} is given twice (again as ${value}); give it once.`, [
        { field: flag.field ?? flag.name, value, expected: `${flag.name} once` },
      ]);
    }
    seen.add(flag.name);
    if (flag.ignored) ignored.push(flag.name);
    const effect = flag.convert(value, request);
    const wrong =
      effect.error ?? (effect.request === undefined ? null : firstWrong(flag, effect.request, value));
    if (wrong !== null) {
      return refuse('INVALID_ARGUMENT', `${flag.name} ${value}: expected ${wrong.expected}.`, [wrong]);
    }
    request = { ...request, ...effect.request };
    options = { ...options, ...effect.options };
    at = next;
  }
  return ok({ request, command: argv.slice(at), options, ignored });
}

/** The original's default value of a flag we do not have asks for nothing. */
function harmless(flag: RunFlag, value: string): boolean {
  return flag.name === '--processes-per-task' && value === '1';
}

interface TakenFlag {
  readonly flag: RunFlag;
  readonly value: string;
  /** Index of the first word not used. */
  readonly next: number;
}

function takeFlag(argv: readonly string[], at: number): Result<TakenFlag> {
  const word = argv[at] ?? '';
  const equals = word.indexOf('=');
  const name = equals < 0 ? word : word.slice(0, equals);
  const flag = findRunFlag(name);
  if (flag === undefined) return refuseUnknown(name);
  const attached = equals < 0 ? null : word.slice(equals + 1);
  if (!flag.takesValue) {
    if (attached === null) return ok({ flag, value: '', next: at + 1 });
    return refuse(
      'INVALID_ARGUMENT',
      `${name} takes no value, but has ${attached === '' ? 'an empty one' : attached}; write ${name} alone.`,
      [
        {
          field: flag.field ?? name,
          value: attached === '' ? 'empty text' : attached,
          expected: `${name} without a value`,
        },
      ],
    );
  }
  if (flag.name === '-e') return takeVariable(flag, argv, at, name, attached);
  if (attached !== null) return ok({ flag, value: attached, next: at + 1 });
  const value = argv[at + 1];
  if (value === undefined || isFlagWord(value)) return refuseMissing(flag, name, value);
  return ok({ flag, value, next: at + 2 });
}

/** `-e KEY VALUE`, `-e KEY=VALUE`, `--env=KEY=VALUE`. A value left out (an unset shell variable) must not eat the next word. */
function takeVariable(
  flag: RunFlag,
  argv: readonly string[],
  at: number,
  name: string,
  attached: string | null,
): Result<TakenFlag> {
  const key = attached ?? argv[at + 1];
  const afterKey = attached === null ? at + 2 : at + 1;
  if (key === undefined || (attached === null && isFlagWord(key))) return refuseMissing(flag, name, key);
  if (key.includes('=')) return ok({ flag, value: key, next: afterKey });
  const value = argv[afterKey];
  if (value === undefined || isFlagWord(value)) {
    const got = value === undefined ? 'nothing' : value;
    return refuse(
      'INVALID_ARGUMENT',
      `${name} ${key} has no value: ${got} follows. Write ${name} ${key}=VALUE (or ${key}= for an empty one).`,
      [{ field: `environment.${key}`, value: got, expected: `a value after ${name} ${key}` }],
    );
  }
  return ok({ flag, value: `${key}=${value}`, next: afterKey + 1 });
}

function isFlagWord(word: string): boolean {
  if (word === '--') return true;
  const equals = word.indexOf('=');
  return word.startsWith('-') && findRunFlag(equals < 0 ? word : word.slice(0, equals)) !== undefined;
}

function refuseMissing(flag: RunFlag, name: string, next: string | undefined): Result<TakenFlag> {
  const got = next === undefined ? 'nothing' : next;
  const wanted = flag.valueName ?? 'VALUE';
  return refuse('INVALID_ARGUMENT', `${name} needs a value (${name} ${wanted}), but ${got} follows.`, [
    { field: flag.field ?? name, value: got, expected: `${name} ${wanted}` },
  ]);
}

function refuseUnknown(name: string): Result<TakenFlag> {
  const known = runFlags.flatMap((flag) => [flag.name, ...flag.aliases]);
  const near = nearMatches(name, known);
  const hint =
    near.length > 0
      ? `did you mean ${near.join(' or ')}? A flag of the command itself goes after --`
      : 'flags of the command itself go after --';
  return refuse('INVALID_ARGUMENT', `${name} is no flag of job run; ${hint}.`, [
    {
      field: name,
      value: name,
      expected: near.length > 0 ? near.join(' or ') : 'a flag of job run, or -- before the command',
    },
  ]);
}

/** Judges only the fields a flag has just set, with the contract's own schema. */
function firstWrong(flag: RunFlag, added: Partial<JobRequest>, value: string): FieldError | null {
  for (const field of Object.keys(added)) {
    const shape = jobRequestSchema.shape;
    if (!isRequestField(field)) continue;
    const parsed = shape[field].safeParse(added[field]);
    if (parsed.success) continue;
    const first = fieldErrors(parsed.error, added[field])[0];
    const inner = first === undefined || first.field === 'request' ? field : `${field}.${first.field}`;
    return {
      field: inner,
      value: value === '' ? 'empty text' : value,
      expected: first?.expected ?? flag.help,
    };
  }
  return null;
}

function isRequestField(name: string): name is keyof JobRequest {
  return Object.hasOwn(jobRequestSchema.shape, name);
}

export interface PastedCommand extends RunArguments {
  /** True when the line was an `irisctl job run` or `iris job run` whose flags were read. */
  readonly isRunCommand: boolean;
  /** What a shell would have acted on; see `SplitWords`. Empty inside `sh -c '...'`. */
  readonly shellOnly: readonly string[];
  /** Global flags of the pasted line that name another place, such as `--cluster=marin`; they are not used. */
  readonly unused: readonly string[];
  /** The command alone as it was written, without what stands before it. */
  readonly commandText: string;
  /** Of `shellOnly`, what stands before the command: in its variables and flags. */
  readonly shellOnlyBefore: readonly string[];
}

/**
 * Reads what a person typed or pasted as the command: several lines are one command, a leading `$ ` prompt is dropped, leading
 * `NAME=value` words become environment, and an `iris ... job run ...` line has its flags read.
 */
export function parseCommandText(text: string): Result<PastedCommand> {
  const line = text.replace(/^\s*\$\s+/, '');
  const split = splitWords(line);
  if (!split.ok) return split;
  const { shellOnly } = split.value;
  const written = (command: readonly string[]) => {
    const commandText = textFromWord(line, split.value.words.length - command.length);
    const before = splitWords(line.slice(0, line.length - commandText.length));
    return { commandText, shellOnlyBefore: before.ok ? before.value.shellOnly : [] };
  };
  const environment: Record<string, string> = {};
  let words = split.value.words;
  for (;;) {
    const assignment = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(words[0] ?? '');
    if (assignment?.[1] === undefined || words.length < 2) break;
    environment[assignment[1]] = assignment[2] ?? '';
    words = words.slice(1);
  }
  const run = findRunCommand(words);
  if (run === null) {
    const request = Object.keys(environment).length > 0 ? { environment } : {};
    return ok({
      request,
      command: words,
      options: defaultRunOptions,
      ignored: [],
      isRunCommand: false,
      shellOnly,
      unused: [],
      ...written(words),
    });
  }
  const parsed = parseRunArguments(words.slice(run.argumentsAt));
  if (!parsed.ok) return parsed;
  return ok({
    ...parsed.value,
    isRunCommand: true,
    shellOnly,
    unused: run.unused,
    ...written(parsed.value.command),
  });
}

const launchers = new Set(['uv', 'uvx', 'npx', 'npm', 'run', '-s', '--silent', '--', 'time']);
const globalsWithValue = new Set(['--cluster', '--config', '--controller-url', '--home']);

/** Where the words after `job run` begin in `uv run iris --cluster=x job run ...`; null when the line is some other command. */
function findRunCommand(words: readonly string[]): { argumentsAt: number; unused: readonly string[] } | null {
  const program = words.findIndex((word) => !launchers.has(word));
  const name = (words[program] ?? '').split(/[\\/]/).at(-1) ?? '';
  if (!/^iris(ctl)?(\.exe|\.cmd)?$/.test(name)) return null;
  const unused: string[] = [];
  let at = program + 1;
  // `npm run -s irisctl -- job run`: npm's own separator.
  if (words[at] === '--') at += 1;
  while ((words[at] ?? '').startsWith('-')) {
    const word = words[at] ?? '';
    if (globalsWithValue.has(word)) {
      unused.push(`${word} ${words[at + 1] ?? ''}`.trim());
      at += 2;
      continue;
    }
    if (word.includes('=')) unused.push(word);
    at += 1;
  }
  return words[at] === 'job' && words[at + 1] === 'run' ? { argumentsAt: at + 2, unused } : null;
}

export interface CommandLine {
  /** One line, quoted for a POSIX shell. */
  readonly text: string;
  /** Fields a command line cannot carry; use YAML for them. */
  readonly leftOut: readonly (keyof JobRequest)[];
}

/** The `irisctl job run` line that would submit this request. Only what differs from the defaults is written. */
export function toCommandLine(request: JobRequest): CommandLine {
  const plain = withoutDefaults(request);
  const words = [
    'irisctl',
    'job',
    'run',
    ...runFlags.flatMap((flag) => attachValues(flag.write(plain))),
    '--',
    ...request.command,
  ];
  const written = new Set<string>(runFlags.flatMap((flag) => (flag.field === null ? [] : [flag.field])));
  const leftOut = Object.keys(plain)
    .filter(isRequestField)
    .filter((field) => field !== 'command' && field !== 'submitArgv' && !written.has(field));
  return { text: joinWords(words), leftOut };
}

/** A value that begins like a flag is written in one word with its own flag: apart it would be taken for the next. */
function attachValues(words: readonly string[]): string[] {
  const written: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const name = words[at] ?? '';
    const flag = findRunFlag(name);
    if (flag?.takesValue !== true) {
      written.push(name);
      continue;
    }
    const values = words.slice(at + 1, at + (flag.name === '-e' ? 3 : 2));
    at += values.length;
    if (values.at(-1)?.startsWith('-') !== true) written.push(name, ...values);
    else if (flag.name === '-e') written.push(name, values.join('='));
    else written.push(`${name}=${values.join('=')}`);
  }
  return written;
}

/** The request without fields that are empty or hold what would hold anyway. */
export function withoutDefaults(request: JobRequest): JobRequest {
  const entries = Object.entries(request).filter(([field, value]) => {
    if (value === undefined) return false;
    if (field === 'command' || field === 'workingDirectory') return true;
    if (Array.isArray(value)) return value.length > 0;
    if (field === 'environment') return Object.keys(request.environment ?? {}).length > 0;
    if (field === 'gpu') return !isNoGpu(request.gpu);
    return !isDefault(field, value);
  });
  return Object.assign(
    { command: request.command, workingDirectory: request.workingDirectory },
    Object.fromEntries(entries),
  );
}

function isNoGpu(gpu: JobRequest['gpu']): boolean {
  return typeof gpu === 'object' ? gpu.count === 0 : String(gpu).trim() === '0';
}

function isDefault(field: string, value: unknown): boolean {
  if (!isRequestField(field)) return false;
  const schema = jobRequestSchema.shape[field];
  const absent = schema.safeParse(undefined);
  const given = schema.safeParse(value);
  return absent.success && given.success && absent.data !== undefined && absent.data === given.data;
}
