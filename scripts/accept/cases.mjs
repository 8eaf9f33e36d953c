/** Runs acceptance lines one after the other on one data folder of their own, and counts. */
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
 *   ok: (what: string, holds: boolean, seen?: unknown) => void,
 * }} Stage What a line is given: commands to type, and `ok` for each thing that stands behind them.
 */
/** @typedef {{name: string, run: (stage: Stage) => Promise<void>}} Case */

/** @param {readonly Case[]} cases @returns {Promise<number>} the exit code */
export async function runCases(cases) {
  const counts = { passed: 0, failed: 0 };
  // Short, so that a socket path in it is never too long.
  const home = mkdtempSync(join(tmpdir(), 'iris-accept-'));
  const env = cleanEnv(home);
  /** @type {string[]} */
  const failures = [];
  const cutShort = () => {
    endAllCommands();
    void tidy(home, env).then(() => process.exit(1));
  };
  process.once('SIGINT', cutShort);
  process.once('SIGTERM', cutShort);
  try {
    for (const one of cases) {
      console.log(`\n# ${one.name}`);
      const stage = createStage(one.name, home, env, counts, failures);
      try {
        await one.run(stage);
      } catch (error) {
        stage.ok('ran to its end', false, error instanceof Error ? error.stack : error);
      }
    }
  } finally {
    await tidy(home, env);
  }
  console.log('');
  for (const failure of failures) console.log(`FAILED  ${failure}`);
  console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
  return counts.failed > 0 ? 1 : 0;
}

/** @param {string} name @param {string} home @param {NodeJS.ProcessEnv} env @param {{passed: number, failed: number}} counts @param {string[]} failures @returns {Stage} */
function createStage(name, home, env, counts, failures) {
  const run = (/** @type {string} */ line, options = {}) => runCommand(line, { cwd: root, env, ...options });
  return {
    home,
    env,
    run,
    irisctl: (line, options) =>
      run(`npm run -s irisctl -- ${line}`, { shownAs: `irisctl ${line}`, ...options }),
    ok(what, holds, seen) {
      if (holds) counts.passed += 1;
      else counts.failed += 1;
      console.log(`  ${holds ? 'ok' : 'FAILED'}  ${what}`);
      if (holds) return;
      if (seen !== undefined)
        console.log(`          seen: ${typeof seen === 'string' ? seen : JSON.stringify(seen)}`);
      failures.push(`${name}: ${what}`);
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

/** Stops what still runs and the host, then removes the folder. @param {string} home @param {NodeJS.ProcessEnv} env */
async function tidy(home, env) {
  const quiet = { cwd: root, env, quiet: true, timeoutMs: 60_000 };
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
