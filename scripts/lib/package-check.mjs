/**
 * The package as a user has it: made anew, its fuses read back, its window started as an ordinary user in Chromium's own sandbox, and a job run
 * by its command line, which finds the window as host and needs nothing of the checkout.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startDisplay } from './display.mjs';
import { testUser } from './ordinary-user.mjs';
import { root } from './paths.mjs';
import { run } from './run.mjs';
import { tellFailure } from './failures.mjs';

const wantedFuses = {
  RunAsNode: true,
  EnableCookieEncryption: true,
  EnableNodeOptionsEnvironmentVariable: false,
  EnableNodeCliInspectArguments: false,
  EnableEmbeddedAsarIntegrityValidation: true,
  OnlyLoadAppFromAsar: true,
  LoadBrowserProcessSpecificV8Snapshot: false,
  GrantFileProtocolExtraPrivileges: false,
};

/**
 * @param {NodeJS.ProcessEnv} env @param {number} timeoutMs
 * @returns {Promise<{passed: number, failed: number, skipped: number}>}
 */
export async function checkPackage(env, timeoutMs) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const check = (
    /** @type {string} */ what,
    /** @type {boolean} */ holds,
    /** @type {string} */ seen = '',
  ) => {
    counts[holds ? 'passed' : 'failed'] += 1;
    if (!holds) tellFailure(`${what}${seen === '' ? '' : `: ${seen}`}`);
  };
  const output = mkdtempSync(join(tmpdir(), 'iris-package-'));
  chmodSync(output, 0o755);
  const user = testUser();
  const display = await startDisplay(user.uid === undefined ? {} : { readableBy: user.uid });
  try {
    const made = await run(process.execPath, [join(root, 'scripts', 'package.mjs')], {
      cwd: root,
      env: { ...env, IRIS_PACKAGE_OUTPUT: output },
      timeoutMs: timeoutMs / 2,
    });
    const folder = join(output, 'linux-unpacked');
    check(
      'the package is made',
      made.code === 0 && existsSync(join(folder, 'iris-desktop')),
      made.output.slice(-2000),
    );
    if (counts.failed > 0) return counts;

    for (const [name, state] of Object.entries(await readFuses(join(folder, 'iris-desktop')))) {
      const wanted = wantedFuses[/** @type {keyof typeof wantedFuses} */ (name)];
      check(`the fuse ${name} is ${wanted ? 'on' : 'off'}`, state === wanted);
    }
    check(
      'no package but the native one is in it',
      readdirSync(join(folder, 'resources', 'app.asar.unpacked', 'node_modules')).join() === 'better-sqlite3',
    );

    const home = join(user.home, 'package-home');
    const inPackage = {
      ...env,
      ...display.env,
      ...user.env,
      IRIS_DESKTOP_HOME: home,
      IRIS_HEADLESS_DISPLAY: '1',
    };
    const irisctl = (/** @type {string[]} */ ...args) => {
      const [program = '', ...rest] = user.wrap([join(folder, 'resources', 'bin', 'irisctl'), ...args]);
      return run(program, rest, { cwd: user.home, env: inPackage, timeoutMs: 120_000 });
    };
    const [program = '', ...args] = user.wrap([
      'dbus-run-session',
      '--',
      join(folder, 'iris-desktop'),
      '--disable-gpu',
    ]);
    const window = spawn(program, args, { cwd: user.home, env: inPackage, stdio: 'ignore', detached: true });
    try {
      const host = await hostOf(irisctl);
      check('the window starts in the sandbox and is the host', host.includes('"desktop"'), host);
      const job = await irisctl(
        'job',
        'run',
        '--cpu',
        '1',
        '--',
        'sh',
        '-c',
        'echo from the package; exit 4',
      );
      check('a job runs and its exit code comes back', job.code === 4, `exit ${job.code} ${job.output}`);
      check('its output comes back', job.output.includes('from the package'), job.output);
    } finally {
      const ended = new Promise((resolve) => window.once('exit', resolve));
      if (window.pid !== undefined) process.kill(-window.pid, 'SIGTERM');
      await Promise.race([ended, delay(10_000, undefined, { ref: false })]);
      await irisctl('shutdown');
    }
    return counts;
  } finally {
    display.stop();
    user.remove();
    rmSync(output, { recursive: true, force: true });
  }
}

/** What `irisctl status` says of the host, once there is one. @param {(...args: string[]) => Promise<{code: number, output: string}>} irisctl */
async function hostOf(irisctl) {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const status = await irisctl('status', '--json');
    if (/"running":\s*true/.test(status.output) || Date.now() > deadline) return status.output;
    await delay(500);
  }
}

/** @param {string} executable @returns {Promise<Record<string, boolean>>} */
async function readFuses(executable) {
  const { FuseV1Options, getCurrentFuseWire } = createRequire(import.meta.url)('@electron/fuses');
  const wire = await getCurrentFuseWire(executable);
  return Object.fromEntries(
    Object.keys(wantedFuses).map((name) => [name, wire[FuseV1Options[name]] === '1'.charCodeAt(0)]),
  );
}
