/** Entry of irisctl. */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { RefusalError, refusal, type Result } from '../../core/contract/errors.js';
import { resolveHome } from '../home.js';
import { builtModule } from '../modules.js';
import { splitArguments, type Globals, type SplitArguments } from './arguments.js';
import { runCommand } from './commands/run.js';
import type { Context } from './context.js';
import { exitCodes } from './exit-codes.js';
import { runHelp } from './help.js';
import { HostLink } from './host-link.js';
import { createInterrupts } from './interrupts.js';
import { createOutput, type Output } from './output.js';
import { runProgram } from './program.js';
import { refuseLostBytes } from './raw-arguments.js';
import { standardStream } from './standard-streams.js';
import { openTerminal } from './terminal.js';

const noGlobals: Globals = {
  home: undefined,
  cluster: undefined,
  json: false,
  verbose: false,
  traceback: false,
};

async function main(argv: readonly string[]): Promise<number> {
  const split = splitArguments(argv);
  const globals = split.ok ? split.value.globals : { ...noGlobals, json: argv.includes('--json') };
  const output = createOutput(
    { out: standardStream(process.stdout), err: standardStream(process.stderr) },
    { json: globals.json, colour: (process.env['NO_COLOR'] ?? '') === '' },
  );
  const code = await attempt(split, output, argv).catch((error: unknown) => explain(output, globals, error));
  const isOurs = code === exitCodes.ok || code === exitCodes.brokenPipe;
  return (await output.whole()) || !isOurs ? code : exitCodes.refused;
}

async function attempt(
  split: Result<SplitArguments>,
  output: Output,
  argv: readonly string[],
): Promise<number> {
  if (!split.ok) throw new RefusalError(split.refusal);
  const read = refuseLostBytes(argv);
  if (!read.ok) throw new RefusalError(read.refusal);
  return await dispatch(split.value, output, argv);
}

async function dispatch(split: SplitArguments, output: Output, argv: readonly string[]): Promise<number> {
  if (split.kind === 'run' && split.help) {
    await output.text(runHelp());
    return exitCodes.ok;
  }
  const context = createContext(split.globals, output, argv);
  try {
    return split.kind === 'run'
      ? await runCommand(context, split.words, split.prefix)
      : await runProgram(context, split.words);
  } finally {
    context.link.close();
  }
}

function createContext(globals: Globals, output: Output, argv: readonly string[]): Context {
  const home = resolveHome({ flag: globals.home });
  const program = { executable: process.execPath, script: builtModule('headless') };
  const link = new HostLink({
    home,
    program,
    environment: process.env,
    cluster: globals.cluster,
    note: (sentence) => void output.note(sentence),
    connected: (host) => {
      if (globals.verbose)
        void output.note(
          `the ${host.host} host of ${host.home} answers (process ${host.pid}, ${host.runtime}).`,
        );
    },
  });
  return {
    globals,
    output,
    link,
    home,
    interrupts: createInterrupts(process),
    argv,
    folder: callersFolder(),
    environment: process.env,
    nowMs: () => Date.now(),
    terminal: openTerminal(process.stdin, process.stderr),
    readLines,
  };
}

/** The folder a job runs in. It may have been removed under the caller's feet. */
function callersFolder(): string {
  try {
    return realpathSync(process.cwd());
  } catch {
    const named = process.env['PWD'];
    return named !== undefined && path.isAbsolute(named) ? named : path.parse(process.execPath).root;
  }
}

async function readLines(): Promise<readonly string[]> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(Buffer.from(part as Uint8Array));
  return Buffer.concat(parts)
    .toString('utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

async function explain(output: Output, globals: Globals, error: unknown): Promise<number> {
  if (error instanceof RefusalError) {
    await output.refusal(error.refusal);
    if (globals.traceback && error.stack !== undefined) process.stderr.write(`${error.stack}\n`);
    return exitCodes.refused;
  }
  const message = error instanceof Error ? error.message : String(error);
  await output.refusal(
    refusal('INTERNAL', `something that must not happen: ${message} (--traceback shows where).`),
  );
  if (globals.traceback && error instanceof Error) process.stderr.write(`${error.stack ?? ''}\n`);
  return exitCodes.refused;
}

process.exitCode = await main(process.argv.slice(2));
// What was not awaited (a second Ctrl-C leaves at once) must not keep us; all output was awaited.
process.exit();
