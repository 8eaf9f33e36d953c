/** `npm run simulate`: see scripts/simulate.mjs. Seeds are run by two processes of this same file, which know nothing of the time of day. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compareRuns, listOf, tableOf } from './compare.js';
import { figuresOf, type Figures } from './figures.js';
import { budgets, gpusPerMachine, machineCount, machines } from './machines.js';
import { simulate, type Policy } from './simulation.js';
import { makeTrace } from './trace.js';

/**
 * GPU hours asked for, of those there are, unless `--load` says otherwise. Two days of the week bring half as much: on the other five
 * this is 0.875 of what there is, and their afternoons bring more than there is. From 0.86 on they would bring it all day, and
 * what waits would grow from Monday to Friday: then no order helps all, it only says whom it hurts.
 */
const usualLoad = 0.75;
const gpus = machineCount * gpusPerMachine;
const processes = 2;

interface Order {
  readonly policy: Policy;
  readonly seed: number;
  readonly days: number;
  readonly load: number;
}

interface Done extends Order {
  readonly figures: Figures;
  readonly jobs: number;
  readonly decisions: number;
  readonly processorMs: number;
}

function runOne(order: Order): Done {
  const before = process.cpuUsage();
  const trace = makeTrace({ seed: order.seed, days: order.days, gpus, load: order.load });
  const course = simulate({ policy: order.policy, machines: machines(), budgets: budgets(), trace });
  const used = process.cpuUsage(before);
  return {
    ...order,
    figures: figuresOf(course, { days: order.days, gpus }),
    jobs: trace.length,
    decisions: course.decisions,
    processorMs: (used.user + used.system) / 1000,
  };
}

interface Options {
  readonly seeds: number;
  readonly days: number;
  readonly load: number;
  readonly policies: readonly Policy[];
  readonly compare: boolean;
  readonly json: boolean;
}

const usage = 'simulate [--compare] [--policy original|ours] [--seeds N] [--days D] [--load L] [--json]';

function optionsOf(words: readonly string[]): Options {
  let [seeds, days, load, compare, json] = [20, 7, usualLoad, false, false];
  let policies: readonly Policy[] = ['original', 'ours'];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--compare') compare = true;
    else if (word === '--json') json = true;
    else if (word === '--seeds' || word === '--days') {
      at += 1;
      const value = Number(words[at]);
      if (!Number.isInteger(value) || value < 1)
        throw new Error(`${word} ${words[at] ?? ''}: a whole number from 1 on is wanted. Usage: ${usage}`);
      if (word === '--seeds') seeds = value;
      else days = value;
    } else if (word === '--load') {
      at += 1;
      load = Number(words[at]);
      if (!(load > 0 && load <= 2))
        throw new Error(`--load ${words[at] ?? ''}: a number above 0 and up to 2 is wanted. Usage: ${usage}`);
    } else if (word === '--policy') {
      at += 1;
      const value = words[at];
      if (value !== 'original' && value !== 'ours')
        throw new Error(`--policy ${value ?? ''}: original or ours is wanted. Usage: ${usage}`);
      policies = [value];
    } else throw new Error(`${word}: unknown. Usage: ${usage}`);
  }
  if (compare && policies.length === 1)
    throw new Error('--compare needs both rule sets: leave --policy out.');
  return { seeds, days, load, policies, compare, json };
}

/** Both rule sets of a seed one after the other, so that the processes end at about the same time. */
function ordersOf({ seeds, days, load, policies }: Options): Order[] {
  const numbers = Array.from({ length: seeds }, (_, at) => at + 1);
  return numbers.flatMap((seed) => policies.map((policy) => ({ policy, seed, days, load })));
}

async function runAll(orders: readonly Order[], progress: (done: Done) => void): Promise<Done[]> {
  const waiting = [...orders];
  const finished: Done[] = [];
  const worker = () =>
    new Promise<void>((resolve, reject) => {
      const child = fork(fileURLToPath(import.meta.url), ['--worker']);
      const give = () => {
        const order = waiting.shift();
        if (order === undefined) child.disconnect();
        else child.send(order);
      };
      child.on('message', (done: Done) => {
        finished.push(done);
        progress(done);
        give();
      });
      child.on('exit', (code, signal) => {
        if (code === 0) resolve();
        else
          reject(new Error(`A process of the simulator ended with ${signal ?? `exit code ${code ?? ''}`}.`));
      });
      give();
    });
  await Promise.all(Array.from({ length: Math.min(processes, orders.length) }, worker));
  return finished.sort((left, right) => left.seed - right.seed);
}

function report({ compare, json, policies, seeds, days, load }: Options, runs: readonly Done[]): boolean {
  const of = (policy: Policy) => runs.filter((run) => run.policy === policy).map((run) => run.figures);
  const rows = policies.length === 2 ? compareRuns(of('original'), of('ours')) : [];
  const holds = rows.every((row) => row.holds);
  if (json) {
    for (const run of runs) console.log(JSON.stringify(run));
    for (const row of rows) console.log(JSON.stringify({ row }));
    return holds || !compare;
  }
  const jobs = Math.round(runs.reduce((sum, run) => sum + run.jobs, 0) / runs.length);
  console.log(
    `${seeds} ${seeds === 1 ? 'seed' : 'seeds'} of ${days} days, ${jobs} jobs each; ${machineCount} machines of ${gpusPerMachine} GPUs; ` +
      `offered load ${load}; mean of the seeds ± 95 % interval`,
  );
  for (const line of policies.length === 2 ? tableOf(rows) : listOf(runs.map((run) => run.figures)))
    console.log(line);
  for (const policy of policies) {
    const own = runs.filter((run) => run.policy === policy);
    const processorMs = own.reduce((sum, run) => sum + run.processorMs, 0);
    const decisions = own.reduce((sum, run) => sum + run.decisions, 0);
    console.log(
      `${policy}: ${decisions} decisions, ${(processorMs / 1000).toFixed(0)} s of processor time in all`,
    );
  }
  if (compare) {
    const missed = rows.filter((row) => !row.holds).map((row) => row.name);
    console.log(
      holds ? 'Everything that is wanted holds.' : `${missed.length} do not hold: ${missed.join('; ')}.`,
    );
  }
  return holds || !compare;
}

if (process.argv[2] === '--worker') {
  process.on('message', (order: Order) => process.send?.(runOne(order)));
} else {
  try {
    const options = optionsOf(process.argv.slice(2));
    const runs = await runAll(ordersOf(options), ({ policy, seed, processorMs }) =>
      process.stderr.write(`seed ${seed} ${policy}: ${(processorMs / 1000).toFixed(1)} s\n`),
    );
    process.exitCode = report(options, runs) ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  }
}
