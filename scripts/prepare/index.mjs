/** Everything a command needs, each part prepared only when it is due. Works without node_modules. */
import { removeLeftovers } from '../lib/leftovers.mjs';
import { withPrepareLock } from '../lib/lock.mjs';
import { root } from '../lib/paths.mjs';
import { UserError, runSteps, say } from '../lib/step.mjs';
import { buildBundles, dueBundles } from './bundle.mjs';
import { debianDue, prepareDebian } from './debian.mjs';
import { dependenciesDue, prepareDependencies } from './dependencies.mjs';
import { chosenRuntime, electronDue, prepareElectron } from './electron.mjs';
import { compilerDue, nativeDue, prepareNative } from './native.mjs';
import { hasDisplay } from '../runtime.mjs';

/** What the build and the tests are made with takes modules that only these Nodes let be required. */
const nodes = [
  { major: 20, minor: 19 },
  { major: 22, minor: 12 },
];

/**
 * @param {{window: boolean, tests?: boolean, bench?: boolean, bundles: readonly string[]}} wants `window`: an Electron runtime and what it links to.
 */
export async function prepare(wants) {
  checkNode();
  const steps = stepsFor(wants);
  const due = () => steps.some((step) => step.due());
  try {
    if (!due()) return;
    await withPrepareLock(() => {
      removeLeftovers();
      return runSteps(steps);
    });
  } catch (error) {
    if (error instanceof UserError) fail(error.message);
    if (isSystemError(error))
      fail(`This checkout cannot be prepared: ${error.message}.${adviceOf(error.code)}`);
    throw error;
  }
}

/** @param {unknown} error @returns {error is Error & {code: string}} */
function isSystemError(error) {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}

/** @param {string} code */
function adviceOf(code) {
  if (code === 'ENOSPC' || code === 'EDQUOT') return ' Free some space there and start again.';
  if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) return '';
  return ` Type the command once as the user whom ${root} belongs to.`;
}

/** @param {{window: boolean, tests?: boolean, bench?: boolean, bundles: readonly string[]}} wants */
function stepsFor(wants) {
  const runtimeLevel = () => (wants.window ? (chosenRuntime()?.napi ?? 10) : 10);
  /** @type {() => import('./debian.mjs').Purpose[]} */
  const purposes = () => [
    ...(wants.window ? /** @type {const} */ (['window']) : []),
    ...(wants.tests || (wants.window && !hasDisplay()) ? /** @type {const} */ (['display']) : []),
    ...(wants.tests ? /** @type {const} */ (['tests']) : []),
    // Only root can start one.
    ...((wants.tests || wants.bench) && process.getuid?.() === 0 ? /** @type {const} */ (['engine']) : []),
    ...(wants.bench ? /** @type {const} */ (['bench']) : []),
    // Tests compile a small library that counts what is synced.
    ...(wants.tests || compilerDue(wants.window) ? /** @type {const} */ (['compiler']) : []),
  ];
  const steps = [
    { title: 'Packages of package-lock.json (npm ci)', due: dependenciesDue, run: prepareDependencies },
    {
      title: 'Packages of the system',
      due: () => purposes().length > 0 && debianDue(purposes()),
      run: (/** @type {(text: string) => void} */ note) => prepareDebian(purposes(), note),
    },
    { title: 'Electron runtime', due: () => wants.window && electronDue(), run: prepareElectron },
    { title: 'better-sqlite3 for this runtime', due: () => nativeDue(runtimeLevel()), run: prepareNative },
    {
      title: `Building ${wants.bundles.join(', ')}`,
      due: () => dueBundles(wants.bundles).length > 0,
      run: (/** @type {(text: string) => void} */ note) => buildBundles(dueBundles(wants.bundles), note),
    },
  ];
  return steps;
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const last = nodes[nodes.length - 1];
  if (last === undefined || major > last.major) return;
  if (nodes.some((one) => major === one.major && minor >= one.minor)) return;
  const names = nodes.map((one) => `${one.major}.${one.minor}`).join(' or ');
  fail(`Node ${names}, or newer than these, is needed; this is ${process.versions.node}.`);
}

/** @param {string} message @returns {never} */
export function fail(message) {
  say(message);
  process.exit(125);
}
