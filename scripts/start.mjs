/**
 * `npm start`: prepares what is not prepared and shows the window. `npm start -- --example` also submits the example job; without a
 * display the app then prints how it ended and leaves with its exit code. Other arguments go to the app.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startDisplay } from './lib/display.mjs';
import { root } from './lib/paths.mjs';
import { startSessionBus } from './lib/session-bus.mjs';
import { hasProgram, signalNumber } from './lib/run.mjs';
import { UserError, say } from './lib/step.mjs';
import { fail, prepare } from './prepare/index.mjs';
import { hasDisplay, resolveRuntime } from './runtime.mjs';

const appArgs = process.argv.slice(2);
await prepare({ window: true, bundles: ['main', 'preload', 'renderer'] });
if (!existsSync(join(root, 'out', 'main', 'desktop.cjs'))) fail('There is no out/main/desktop.cjs to start.');

try {
  const code = await start();
  // At once: nothing the app left behind may hold this process.
  setTimeout(() => process.exit(code), 50);
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
  const command = [runtime.executable, ...runtime.args, ...appArgs];
  // For notifications and the tray, where the login brought no bus.
  const bus =
    virtual && !env.DBUS_SESSION_BUS_ADDRESS && hasProgram('dbus-daemon') ? await startSessionBus() : null;
  Object.assign(env, bus?.env);
  try {
    return await runInFront(command, env, virtual);
  } finally {
    bus?.stop();
    display?.stop();
  }
}

/**
 * Runs the app in a group of its own, hands signals on to its main process once, which ends the others in order, and gives its
 * exit code.
 * @param {string[]} command @param {NodeJS.ProcessEnv} env @param {boolean} quiet
 */
function runInFront(command, env, quiet) {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd: process.cwd(),
    env,
    stdio: ['ignore', 'inherit', quiet ? 'pipe' : 'inherit'],
    detached: process.platform !== 'win32',
  });
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  let last = 0;
  const pass = (/** @type {NodeJS.Signals} */ signal) => {
    // npm sends a Ctrl-C on that the terminal has sent already; the app takes a second one as impatience.
    if (Date.now() - last < 300) return;
    last = Date.now();
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, pass);
  if (child.stderr !== null) dropNoise(child.stderr);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    // Not 'close': a host that goes on with unfinished jobs may hold the app's error stream.
    child.on('exit', (code, signal) => {
      for (const name of signals) process.off(name, pass);
      resolve(code ?? 128 + signalNumber(signal));
    });
  });
}

/**
 * On a virtual display there is no system bus and no desktop; what the session bus and Chromium say about that helps nobody.
 * @param {import('node:stream').Readable} stream
 */
function dropNoise(stream) {
  const noise =
    /^dbus-daemon\[|^X connection to|libnotify-WARNING|ERROR:(libnotify_notification|bus|object_proxy|viz_main_impl|gpu_process_host|command_buffer_proxy_impl)\.cc/;
  let pending = '';
  stream.on('data', (chunk) => {
    const lines = (pending + String(chunk)).split('\n');
    pending = lines.pop() ?? '';
    // GLib begins each warning with an empty line.
    for (const line of lines) if (line !== '' && !noise.test(line)) process.stderr.write(`${line}\n`);
  });
  stream.on('end', () => {
    if (pending !== '' && !noise.test(pending)) process.stderr.write(pending);
  });
}
