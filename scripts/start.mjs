/**
 * `npm start`: prepares what is not prepared and shows the window. `npm start -- --example` also submits the example job; without a
 * display the app then prints how it ended and leaves with its exit code. Other arguments go to the app.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startDisplay } from './lib/display.mjs';
import { root } from './lib/paths.mjs';
import { hasProgram, signalNumber } from './lib/run.mjs';
import { UserError, say } from './lib/step.mjs';
import { fail, prepare } from './prepare/index.mjs';
import { hasDisplay, resolveRuntime } from './runtime.mjs';

const appArgs = process.argv.slice(2);
await prepare({ window: true, bundles: ['main', 'preload', 'renderer'] });
if (!existsSync(join(root, 'out', 'main', 'desktop.js'))) fail('There is no out/main/desktop.js to start.');

try {
  process.exitCode = await start();
} catch (error) {
  if (error instanceof UserError) fail(error.message);
  throw error;
}

async function start() {
  const virtual = !hasDisplay();
  const env = { ...process.env };
  let display = null;
  if (virtual) {
    say('There is no display here: the window is shown on a virtual one (Xvfb).');
    display = await startDisplay();
    Object.assign(env, display.env, { IRIS_HEADLESS_DISPLAY: '1' });
  }
  const runtime = resolveRuntime({ display: virtual ? 'virtual' : 'real' });
  Object.assign(env, runtime.env);
  if (appArgs.includes('--example')) env.IRIS_EXAMPLE = '1';
  if (runtime.args.includes('--no-sandbox')) {
    say(
      'Started by root from a checkout: Chromium runs without its sandbox. Use an ordinary user for daily work.',
    );
  }
  const command = [runtime.executable, ...runtime.args, ...appArgs];
  // A session bus for notifications and the tray, where the login brought none.
  if (virtual && !env.DBUS_SESSION_BUS_ADDRESS && hasProgram('dbus-run-session'))
    command.unshift('dbus-run-session', '--');
  try {
    return await runInFront(command, env);
  } finally {
    display?.stop();
  }
}

/** Runs the app in a group of its own, hands signals on to all of it once, and gives its exit code. @param {string[]} command @param {NodeJS.ProcessEnv} env */
function runInFront(command, env) {
  const [program = '', ...args] = command;
  const grouped = process.platform !== 'win32';
  const child = spawn(program, args, {
    cwd: process.cwd(),
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: grouped,
  });
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  let last = 0;
  const pass = (/** @type {NodeJS.Signals} */ signal) => {
    // npm sends a Ctrl-C on that the terminal has sent already; the app takes a second one as impatience.
    if (Date.now() - last < 300) return;
    last = Date.now();
    try {
      if (grouped && child.pid !== undefined) process.kill(-child.pid, signal);
      else child.kill(signal);
    } catch {
      // It has ended in the meantime.
    }
  };
  for (const signal of signals) process.on(signal, pass);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      for (const name of signals) process.off(name, pass);
      resolve(code ?? 128 + signalNumber(signal));
    });
  });
}
