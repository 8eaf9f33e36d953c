/**
 * First look at the words of a command line: global flags are taken out wherever the original's users type them, before or
 * after the subcommand, but never out of a job's own command.
 */
import { refuse, ok, type Result } from '../../core/contract/errors.js';
import { findRunFlag } from '../../core/contract/job-flags.js';

export interface Globals {
  /** Data folder named by `--home`; undefined: the environment's or the platform's. */
  readonly home: string | undefined;
  readonly cluster: string | undefined;
  readonly json: boolean;
  readonly verbose: boolean;
  readonly traceback: boolean;
}

/** How lines of several tasks are told apart; null: a prefix only on a terminal. */
export type PrefixChoice = boolean | null;

export type SplitArguments =
  | {
      readonly kind: 'run';
      readonly globals: Globals;
      /** Flags and command of `job run`, without what was taken. */
      readonly words: readonly string[];
      readonly prefix: PrefixChoice;
      readonly help: boolean;
    }
  | { readonly kind: 'other'; readonly globals: Globals; readonly words: readonly string[] };

interface MutableGlobals {
  home: string | undefined;
  cluster: string | undefined;
  json: boolean;
  verbose: boolean;
  traceback: boolean;
}

const withValue = new Set(['--home', '--cluster', '--config', '--controller-url']);
const switches = new Set(['--json', '--verbose', '-v', '--traceback']);

export function splitArguments(argv: readonly string[]): Result<SplitArguments> {
  const globals: MutableGlobals = {
    home: undefined,
    cluster: undefined,
    json: false,
    verbose: false,
    traceback: false,
  };
  const words: string[] = [];
  let prefix: PrefixChoice = null;
  let help = false;
  let isRun = false;
  let at = 0;
  while (at < argv.length) {
    const word = argv[at] ?? '';
    if (word === '--') break;
    const taken = takeGlobal(argv, at, globals);
    if (!taken.ok) return taken;
    if (taken.value > at) {
      at = taken.value;
      continue;
    }
    if (!isRun) {
      words.push(word);
      at += 1;
      isRun = words.length === 2 && words[0] === 'job' && words[1] === 'run';
      if (isRun) words.length = 0;
      continue;
    }
    if (!word.startsWith('-') || word === '-') break;
    if (word === '--help' || word === '-h') help = true;
    else if (word === '--prefix') prefix = true;
    else if (word === '--no-prefix') prefix = false;
    else {
      const length = runFlagLength(argv, at);
      words.push(...argv.slice(at, at + length));
      at += length;
      continue;
    }
    at += 1;
  }
  words.push(...argv.slice(at));
  return ok(isRun ? { kind: 'run', globals, words, prefix, help } : { kind: 'other', globals, words });
}

/** Index after the global flag at `at`; `at` itself when there is none. */
function takeGlobal(argv: readonly string[], at: number, globals: MutableGlobals): Result<number> {
  const word = argv[at] ?? '';
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  const name = equals < 0 ? word : word.slice(0, equals);
  if (switches.has(name)) {
    if (equals >= 0) {
      const value = word.slice(equals + 1);
      return refuse(
        'INVALID_ARGUMENT',
        `${name} takes no value, but has ${value === '' ? 'an empty one' : value}.`,
        [{ field: name, value, expected: `${name} alone` }],
      );
    }
    if (name === '--json') globals.json = true;
    else if (name === '--traceback') globals.traceback = true;
    else globals.verbose = true;
    return ok(at + 1);
  }
  if (!withValue.has(name)) return ok(at);
  if (name === '--config' || name === '--controller-url') {
    return refuse(
      'INVALID_ARGUMENT',
      `${name} cannot be used: irisctl speaks to the host of a data folder on this machine. Leave it out, or name a folder with --home.`,
      [
        {
          field: name,
          value: equals < 0 ? (argv[at + 1] ?? 'nothing') : word.slice(equals + 1),
          expected: '--home FOLDER',
        },
      ],
    );
  }
  const value = equals < 0 ? argv[at + 1] : word.slice(equals + 1);
  if (value === undefined || value === '' || (equals < 0 && value.startsWith('-'))) {
    const got = value === undefined || value === '' ? 'nothing' : value;
    const wanted = name === '--home' ? 'FOLDER' : 'NAME';
    return refuse('INVALID_ARGUMENT', `${name} needs a value (${name} ${wanted}), but ${got} follows.`, [
      { field: name, value: got, expected: `${name} ${wanted}` },
    ]);
  }
  if (name === '--home') globals.home = value;
  else globals.cluster = value;
  return ok(equals < 0 ? at + 2 : at + 1);
}

/** Words of the flag at `at` with its value, so that a value is never taken for a global flag or for the command. */
function runFlagLength(argv: readonly string[], at: number): number {
  const word = argv[at] ?? '';
  const equals = word.indexOf('=');
  const flag = findRunFlag(equals < 0 ? word : word.slice(0, equals));
  if (flag === undefined || !flag.takesValue) return 1;
  if (flag.name !== '-e') return equals < 0 && isValue(argv[at + 1]) ? 2 : 1;
  const key = equals < 0 ? argv[at + 1] : word.slice(equals + 1);
  const afterKey = equals < 0 ? at + 2 : at + 1;
  if (key === undefined || key === '--') return 1;
  return key.includes('=') || !isValue(argv[afterKey]) ? afterKey - at : afterKey + 1 - at;
}

/** What the flag parser takes as a value; a missing value is its to refuse. */
function isValue(word: string | undefined): boolean {
  if (word === undefined || word === '--') return false;
  const equals = word.indexOf('=');
  return !word.startsWith('-') || findRunFlag(equals < 0 ? word : word.slice(0, equals)) === undefined;
}
