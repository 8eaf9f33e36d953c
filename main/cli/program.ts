/** The subcommands other than `job run`, as commander reads them. */
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import { appVersion } from '../version.js';
import { addBudgetCommands } from './commands/budget.js';
import { addChangeCommands } from './commands/change.js';
import { addDebugCommands } from './commands/debug.js';
import { addDockerCommands } from './commands/docker.js';
import { explainCommand } from './commands/explain.js';
import { queueCommand } from './commands/queue.js';
import { listCommand, type ListOptions } from './commands/list.js';
import { shutdownCommand, statusCommand } from './commands/host.js';
import { logsCommand, type LogsOptions } from './commands/logs.js';
import { addMachineCommands } from './commands/machine.js';
import { retryCommand, stopCommand, type TargetOptions } from './commands/stop-retry.js';
import { serveCommand } from './commands/serve.js';
import { showCommand } from './commands/show.js';
import { waitCommand, type WaitOptions } from './commands/wait.js';
import type { Context } from './context.js';
import { exitCodes } from './exit-codes.js';
import { runHelp } from './help.js';

const description = `Runs jobs on this machine through Iris Desktop.

Global flags, before or after the subcommand:
  --home FOLDER    data folder (default: IRIS_DESKTOP_HOME, else the platform's)
  --cluster NAME   local, or the cluster's own name
  --json           results as JSON on standard output; a refusal as {"error": {code, message, fields}}
  -v, --verbose    say which host answers
  --traceback      print the stack of an unexpected error`;

/** Runs the subcommand. Resolves with the exit code. */
export async function runProgram(context: Context, words: readonly string[]): Promise<number> {
  let code: number = exitCodes.ok;
  const act = (work: () => Promise<number>) => async (): Promise<void> => {
    code = await work();
  };
  const printed: string[] = [];
  const program = createProgram(context, act, (text) => printed.push(text));
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw new RefusalError(usageRefusal(error, printed, words));
  }
  for (const text of printed) await context.output.text(text);
  return code;
}

function usageRefusal(error: CommanderError, printed: readonly string[], words: readonly string[]) {
  // Called without a subcommand: the help is the message.
  if (error.code === 'commander.help') {
    return refusal(
      'INVALID_ARGUMENT',
      `a subcommand is missing; ${['irisctl', ...words, '--help'].join(' ')} lists them.`,
    );
  }
  const message = error.message
    .replace(/^error: /, '')
    .replace(/\n/g, ' ')
    .trim();
  return refusal('INVALID_ARGUMENT', message === '' ? printed.join(' ').trim() : sentence(message));
}

function sentence(message: string): string {
  return /[.?)]$/.test(message) ? message : `${message}.`;
}

type Act = (work: () => Promise<number>) => () => Promise<void>;

function createProgram(context: Context, act: Act, print: (text: string) => void): Command {
  const program = new Command('irisctl');
  program
    .description(description)
    .version(appVersion, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: () => undefined })
    .showSuggestionAfterError();
  const job = program.command('job').description('run and watch jobs');
  const run = job
    .command('run')
    .description('run a command as a job (job run --help for its flags)')
    .action(() => print(runHelp()));
  // Its flags are not commander's: `job help run` would show none.
  run.helpInformation = runHelp;
  addJobCommands(job, context, act);
  addMachineCommands(program, context, act);
  addDockerCommands(program, context, act);
  program
    .command('queue')
    .description('list what waits, band by band, in the order it would start')
    .action(act(() => queueCommand(context)));
  addDebugCommands(program, context, act);
  addBudgetCommands(program, context, act);
  // As the original's users type it.
  addBudgetCommands(program.command('user', { hidden: true }), context, act);
  program
    .command('status')
    .description('tell which host is live and how it is; exit code 1 when there is none')
    .action(act(() => statusCommand(context)));
  program
    .command('serve')
    .description('be the host, without a window, in the foreground')
    .action(act(() => serveCommand(context)));
  program
    .command('shutdown')
    .description('end a host without a window; running jobs go on')
    .action(act(() => shutdownCommand(context)));
  return program;
}

function addJobCommands(job: Command, context: Context, act: Act): void {
  const collect = (value: string, before: readonly string[] | undefined) => [...(before ?? []), value];
  job
    .command('list')
    .alias('ls')
    .description('list jobs, newest first')
    .option('--state <STATES>', 'only these states, with commas or repeated', collect)
    .option('--prefix <PREFIX>', 'only ids that begin with this')
    .option('--search <WORDS>', 'only jobs whose id or command holds all these words')
    .option('--limit <N>', 'at most this many; 0 is all (default: 100 in a table, all in JSON)', wholeNumber)
    .option('--all', 'child jobs too (default in JSON)')
    .option('--roots', 'root jobs only (default in a table)')
    .action((options: ListOptions) => act(() => listCommand(context, options))());
  job
    .command('show <ID>')
    .alias('summary')
    .description('show a job, its tasks and attempts')
    .action((id: string) => act(() => showCommand(context, id))());
  job
    .command('explain <ID>')
    .description('tell why a job waits, what would make it start, and when it may')
    .action((id: string) => act(() => explainCommand(context, id))());
  job
    .command('logs <ID>')
    .description(
      'print what a job, a task (ID/INDEX) or an attempt (ID/INDEX:NUMBER) printed, standard error on standard error',
    )
    .option('-f, --follow', 'go on until the job has ended')
    .option('--tail <N>', 'only the last lines of each log', wholeNumber)
    .option('--stream <STREAM>', 'only this stream: out or err', stream)
    .option('--task <INDEX>', 'only this task', wholeNumber)
    .option('--attempt <NUMBER>', 'this attempt instead of the last', wholeNumber)
    .option('--prefix', 'each line after the number of its task')
    .option('--no-prefix', 'no numbers, on a terminal either')
    .option(
      '--since-seconds <N>',
      'only what was written in the last N seconds, exact to about a second: older lines may come first, none is missing',
      wholeNumber,
    )
    .option('--since-ms <TIME>', 'likewise since a time, in milliseconds since 1970', wholeNumber)
    .action((id: string, options: LogsOptions) => act(() => logsCommand(context, id, options))());
  job
    .command('stop [IDS...]')
    .alias('kill')
    .description('stop jobs and their child jobs')
    .option('--stdin', 'read ids from standard input, one a line')
    .option('--wait', 'return when their last process is gone')
    .option('--include-children', 'accepted; child jobs are always stopped')
    .action((ids: string[], options: TargetOptions) => act(() => stopCommand(context, ids, options))());
  job
    .command('retry [IDS...]')
    .description('run finished jobs again, under a new name; prints the new ids')
    .option('--stdin', 'read ids from standard input, one a line')
    .action((ids: string[], options: TargetOptions) => act(() => retryCommand(context, ids, options))());
  addChangeCommands(job, context, act);
  job
    .command('wait [IDS...]')
    .description('wait until jobs have ended; exit code of the first that failed')
    .option('--timeout <TIME>', 'longest wait: seconds, or 90s, 15m, 2h; then exit code 124')
    .option('--stdin', 'read ids from standard input, one a line')
    .action((ids: string[], options: WaitOptions) => act(() => waitCommand(context, ids, options))());
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError('expected a whole number, 0 or more.');
}

function stream(text: string): 'out' | 'err' {
  const name = text.replace(/^std/, '');
  if (name === 'out' || name === 'err') return name;
  throw new InvalidArgumentError('expected out or err.');
}
