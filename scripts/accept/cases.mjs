/** Runs acceptance lines one after the other on one data folder of their own, long ones beside them on another, and counts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';
import { windowProcess } from './window-process.mjs';
import { endAllCommands, runCommand } from './commands.mjs';

/** @typedef {import('./commands.mjs').Ran} Ran */
/**
 * @typedef {{
 *   home: string,
 *   env: NodeJS.ProcessEnv,
 *   run: (line: string, options?: import('./commands.mjs').CommandOptions) => Promise<Ran>,
 *   irisctl: (line: string, options?: import('./commands.mjs').CommandOptions) => Promise<Ran>,
 *   say: (line: string) => void,
 *   ok: (what: string, holds: boolean, seen?: unknown) => void,
 * }} Stage What a line is given: commands to type, and `ok` for each thing that stands behind them.
 */
/** @typedef {{name: string, apart?: boolean, run: (stage: Stage) => Promise<void>}} Case `apart`: it waits most of its time, on a folder of its own. */
/** @typedef {{passed: number, failed: number, failures: string[]}} Counts */

/** @param {readonly Case[]} cases @returns {Promise<number>} the exit code */
export async function runCases(cases) {
  /** @type {Counts} */
  const counts = { passed: 0, failed: 0, failures: [] };
  const places = [makePlace()];
  const [place] = places;
  const cutShort = () => {
    endAllCommands();
    void Promise.all(places.map(tidy)).then(() => process.exit(1));
  };
  process.once('SIGINT', cutShort);
  process.once('SIGTERM', cutShort);
  try {
    const apart = cases.filter((one) => one.apart).map((one) => runApart(one, counts, places));
    for (const one of cases)
      if (!one.apart) await runOne(one, place, counts, (line) => console.log(line), {});
    for (const lines of apart) for (const line of await lines) console.log(line);
  } finally {
    await Promise.all(places.map(tidy));
  }
  console.log('');
  for (const failure of counts.failures) console.log(`FAILED  ${failure}`);
  console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
  return counts.failed > 0 ? 1 : 0;
}

/** What it says is kept until it is over: two lines' output would mix. @param {Case} one @param {Counts} counts @param {Place[]} places */
async function runApart(one, counts, places) {
  const place = makePlace();
  places.push(place);
  /** @type {string[]} */
  const lines = [];
  await runOne(one, place, counts, (line) => lines.push(line), { quiet: true });
  return lines;
}

/** @typedef {{home: string, env: NodeJS.ProcessEnv}} Place */

/** @returns {Place} */
function makePlace() {
  // Short, so that a socket path in it is never too long.
  const home = mkdtempSync(join(tmpdir(), 'iris-accept-'));
  return { home, env: cleanEnv(home) };
}

/** @param {Case} one @param {Place | undefined} place @param {Counts} counts @param {(line: string) => void} say @param {{quiet?: boolean}} usual */
async function runOne(one, place, counts, say, usual) {
  if (place === undefined) throw new Error('no folder was made');
  say(`\n# ${one.name}`);
  const stage = createStage(one.name, place, counts, say, usual);
  try {
    await one.run(stage);
  } catch (error) {
    stage.ok('ran to its end', false, error instanceof Error ? error.stack : error);
  }
}

/** @param {string} name @param {Place} place @param {Counts} counts @param {(line: string) => void} say @param {{quiet?: boolean}} usual @returns {Stage} */
function createStage(name, { home, env }, counts, say, usual) {
  /** @param {string} line @param {import('./commands.mjs').CommandOptions} [options] */
  const run = (line, options = {}) => {
    if (usual.quiet === true && options.quiet !== true) say(`$ ${options.shownAs ?? line}`);
    return runCommand(line, { cwd: root, env, ...options, ...usual });
  };
  return {
    home,
    env,
    run,
    say: (line) => say(`  ${line}`),
    irisctl: (line, options) =>
      run(`npm run -s irisctl -- ${line}`, { shownAs: `irisctl ${line}`, ...options }),
    ok(what, holds, seen) {
      if (holds) counts.passed += 1;
      else counts.failed += 1;
      say(`  ${holds ? 'ok' : 'FAILED'}  ${what}`);
      if (holds) return;
      if (seen !== undefined)
        say(`          seen: ${typeof seen === 'string' ? seen : JSON.stringify(seen)}`);
      counts.failures.push(`${name}: ${what}`);
    },
  };
}

/** The caller's own settings must not reach what is tested. @param {string} home */
function cleanEnv(home) {
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, NO_COLOR: '1', IRIS_DESKTOP_HOME: home };
  for (const key of Object.keys(env)) {
    if (
      /^(IRIS_|npm_|ELECTRON_|INIT_CWD$|PYTHONUNBUFFERED$|NODE_OPTIONS$|HF_TOKEN$|WANDB_API_KEY$)/.test(
        key,
      ) &&
      key !== 'IRIS_DESKTOP_HOME'
    )
      delete env[key];
  }
  if (process.env.IRIS_DESKTOP_CACHE !== undefined) env.IRIS_DESKTOP_CACHE = process.env.IRIS_DESKTOP_CACHE;
  return env;
}

/** Stops what still runs and the host, then removes the folder. @param {Place} place */
async function tidy({ home, env }) {
  const quiet = { cwd: root, env, quiet: true, timeoutMs: 120_000 };
  const list = await runCommand('npm run -s irisctl -- job list --json --state pending,running', quiet);
  try {
    const ids = /** @type {{id: string}[]} */ (JSON.parse(list.out)).map((job) => job.id);
    if (ids.length > 0) await runCommand(`npm run -s irisctl -- job stop --wait ${ids.join(' ')}`, quiet);
  } catch {
    console.log(`The jobs of ${home} could not be listed: ${list.err.trim()}`);
  }
  const window = windowProcess(home);
  if (window !== null) process.kill(window, 'SIGTERM');
  await runCommand('npm run -s irisctl -- shutdown', quiet);
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
}
