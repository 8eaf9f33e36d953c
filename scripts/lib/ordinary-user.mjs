/**
 * Running the window's tests as an ordinary user when the caller is root, as on a build machine: Chromium's sandbox refuses root, and
 * the tests are there to see the application as its users do.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './paths.mjs';
import { UserError } from './step.mjs';

/** The user `nobody`: there on every Linux, owning nothing. */
const nobody = 65534;

/**
 * @typedef {object} TestUser
 * @property {string} home A fresh home, removed at the end.
 * @property {string} root The checkout, or a copy of it the user can read.
 * @property {number | undefined} uid Of the other user, when it is another one.
 * @property {(command: string[]) => string[]} wrap Makes a command run as that user.
 * @property {Record<string, string>} env
 * @property {() => void} remove
 */

/** @returns {TestUser} */
export function testUser() {
  const folder = mkdtempSync(join(tmpdir(), 'iris-e2e-'));
  chmodSync(folder, 0o755);
  const home = join(folder, 'home');
  // What a host of that user has left running for a moment may still make files.
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  const env = {
    HOME: home,
    XDG_RUNTIME_DIR: join(home, 'run'),
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    TMPDIR: join(home, 'tmp'),
    IRIS_E2E_OUTPUT: join(home, 'test-results'),
    IRIS_E2E_REPORT: join(home, 'report.json'),
  };
  const other = process.getuid?.() === 0;
  for (const place of [home, env.XDG_RUNTIME_DIR, env.TMPDIR]) {
    mkdirSync(place, { mode: 0o700 });
    if (other) chownSync(place, nobody, nobody);
  }
  if (!other) return { home, root, uid: undefined, wrap: (command) => command, env, remove };
  const wrap = (/** @type {string[]} */ command) => [
    'setpriv',
    `--reuid=${nobody}`,
    `--regid=${nobody}`,
    '--clear-groups',
    ...command,
  ];
  return { home, root: canRead(wrap) ? root : readableCopy(folder), uid: nobody, wrap, env, remove };
}

/** @param {(command: string[]) => string[]} wrap */
function canRead(wrap) {
  const [program = '', ...args] = wrap([
    'cat',
    join(root, 'package.json'),
    join(root, '.runtime', 'runtime.json'),
  ]);
  return spawnSync(program, args, { stdio: 'ignore', cwd: '/' }).status === 0;
}

/** Below root's own home nobody else may read: what the tests need is copied. @param {string} folder */
function readableCopy(folder) {
  const copy = join(folder, 'checkout');
  mkdirSync(copy);
  const parts = readdirSync(root).filter(
    (name) => !['.git', 'dist', 'test-results', '.runtime'].includes(name),
  );
  copyInto(copy, parts);
  mkdirSync(join(copy, '.runtime'));
  const made = ['runtime.json', 'electron', 'stamps'].filter((name) =>
    existsSync(join(root, '.runtime', name)),
  );
  copyInto(
    join(copy, '.runtime'),
    made.map((name) => join('.runtime', name)),
  );
  spawnSync('chmod', ['-R', 'a+rX', copy]);
  return copy;
}

/** @param {string} target @param {readonly string[]} parts Relative to the checkout. */
function copyInto(target, parts) {
  const from = parts.map((part) => join(root, part));
  const copied = spawnSync('cp', ['-a', '--reflink=auto', ...from, target], { encoding: 'utf8' });
  if (copied.status !== 0)
    throw new UserError(`The checkout could not be copied to ${target}: ${copied.stderr}`);
}
