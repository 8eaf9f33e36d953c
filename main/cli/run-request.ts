/** The words of `job run` to the request that is submitted. */
import { ok, refuse, type Result } from '../../core/contract/errors.js';
import { parseJobRequest, type JobRequest } from '../../core/contract/job-request.js';
import { findRunFlag } from '../../core/contract/job-flags.js';
import { parseRunArguments, type RunOptions } from '../../core/contract/job-text.js';

/** Taken from the caller's environment when set, as the original's client does; nothing else of it is copied. */
const carriedVariables = ['HF_TOKEN', 'WANDB_API_KEY'] as const;

const mask = '***';

export interface RunRequest {
  readonly request: JobRequest;
  readonly options: RunOptions;
  /** Flags that were accepted and do nothing here. */
  readonly ignored: readonly string[];
}

export function buildRunRequest(
  words: readonly string[],
  caller: {
    readonly folder: string;
    readonly environment: NodeJS.ProcessEnv;
    readonly argv: readonly string[];
  },
): Result<RunRequest> {
  const parsed = parseRunArguments(words);
  if (!parsed.ok) return parsed;
  const { command, options, ignored } = parsed.value;
  if (command.length === 0) {
    return refuse(
      'INVALID_ARGUMENT',
      'job run needs a command: irisctl job run [flags] -- PROGRAM ARGUMENTS.',
      [{ field: 'command', value: 'nothing', expected: 'a program and its arguments' }],
    );
  }
  const environment: Record<string, string> = {};
  for (const name of carriedVariables) {
    const value = caller.environment[name];
    if (value !== undefined && value !== '') environment[name] = value;
  }
  const request: JobRequest = {
    workingDirectory: caller.folder,
    ...parsed.value.request,
    command: [...command],
    environment: { ...environment, ...parsed.value.request.environment },
    submitArgv: ['irisctl', ...maskValues(caller.argv)],
  };
  // The controller checks again; checking here names the wrong field without starting a host.
  const checked = parseJobRequest(request);
  return checked.ok ? ok({ request, options, ignored }) : checked;
}

/** The command line without the values of environment variables: they may be secrets, and the line is kept and shown. */
export function maskValues(argv: readonly string[]): string[] {
  const masked: string[] = [];
  let at = 0;
  while (at < argv.length) {
    const word = argv[at] ?? '';
    if (word === '--') break;
    const equals = word.indexOf('=');
    const flag = word.startsWith('-') ? findRunFlag(equals < 0 ? word : word.slice(0, equals)) : undefined;
    if (flag?.name !== '-e') {
      masked.push(word);
      at += 1;
      continue;
    }
    if (equals >= 0) {
      // --env=KEY=VALUE, or --env=KEY VALUE
      const [name = '', key = '', ...value] = word.split('=');
      masked.push(value.length > 0 ? `${name}=${key}=${mask}` : `${name}=${key}`);
      if (value.length === 0 && at + 1 < argv.length) masked.push(mask);
      at += value.length > 0 ? 1 : 2;
      continue;
    }
    const key = argv[at + 1] ?? '';
    masked.push(word);
    if (key.includes('=')) {
      masked.push(`${key.slice(0, key.indexOf('='))}=${mask}`);
      at += 2;
      continue;
    }
    masked.push(key);
    if (at + 2 < argv.length) masked.push(mask);
    at += 3;
  }
  return [...masked, ...argv.slice(at)];
}
