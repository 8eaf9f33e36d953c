/** An Electron runtime: the electron package's own, else its download, else the fallback. The choice is kept in .runtime/runtime.json. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { spawnSync } from 'node:child_process';
import { readJson } from '../lib/inputs.mjs';
import { cacheDir, localDir, nodeModules, root } from '../lib/paths.mjs';
import { run } from '../lib/run.mjs';
import { UserError, say } from '../lib/step.mjs';
import { fallbackVersion } from './fallback-version.mjs';

const choiceFile = join(localDir, 'runtime.json');
const packageDir = join(nodeModules, 'electron');
/** After this time an unreachable download is tried again. */
const retryAfterMs = 7 * 24 * 3_600_000;

/** @typedef {{kind: 'official' | 'fallback', executable: string, version: string, napi: number}} Choice */

/** The runtime chosen before, when it is still there and still the right one. @returns {Choice | null} */
export function chosenRuntime() {
  /** @type {Choice | null} */
  const kept = readJson(choiceFile);
  if (typeof kept?.executable !== 'string') return null;
  const choice = { ...kept, executable: join(root, kept.executable) };
  if (!existsSync(choice.executable)) return null;
  const official = officialExecutable();
  if (official !== null)
    return choice.executable === official && choice.version === packageVersion() ? choice : null;
  return choice.kind === 'fallback' && choice.version === fallbackVersion ? choice : null;
}

export const electronDue = () => chosenRuntime() === null;

/** @param {(text: string) => void} note */
export async function prepareElectron(note) {
  let executable = officialExecutable();
  if (executable === null && worthTrying()) executable = await download(note);
  if (executable !== null) return choose('official', executable, packageVersion());
  // Loaded when needed: irisctl comes through here at each start.
  const { fallbackDir, fallbackPossible, prepareFallback } = await import('./fallback-runtime.mjs');
  if (!fallbackPossible()) {
    throw new UserError(
      `Electron ${packageVersion()} could not be downloaded, and there is no other source of it for ${process.platform} ${process.arch}. ` +
        'Make github.com reachable, or set ELECTRON_MIRROR to a mirror of Electron, and start again.',
    );
  }
  await prepareFallback(note);
  choose('fallback', join(fallbackDir, 'electron'), fallbackVersion);
}

/** @param {Choice['kind']} kind @param {string} executable @param {string} version */
function choose(kind, executable, version) {
  const asked = spawnSync(executable, ['-p', 'process.versions.napi'], {
    encoding: 'utf8',
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_OPTIONS: '' },
  });
  const napi = Number(asked.stdout);
  if (asked.status !== 0 || !(napi > 0)) {
    throw new UserError(
      `The Electron runtime ${executable} does not start: ${asked.stderr || String(asked.error)}`,
    );
  }
  mkdirSync(dirname(choiceFile), { recursive: true });
  // Relative, so that it holds in a copy of the checkout too.
  writeFileSync(
    choiceFile,
    JSON.stringify({ kind, executable: relative(root, executable), version, napi }, null, 2),
  );
}

function packageVersion() {
  return JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8')).version;
}

/** The executable the electron package has downloaded, or null. */
function officialExecutable() {
  const read = (/** @type {string} */ name) => {
    const file = join(packageDir, name);
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
  };
  const path = read('path.txt');
  if (path === null || read('dist/version')?.replace(/^v/, '') !== packageVersion()) return null;
  const executable = join(packageDir, 'dist', path);
  return existsSync(executable) ? executable : null;
}

const unreachableFile = () => join(cacheDir, 'electron', `download-of-${packageVersion()}-failed`);

function worthTrying() {
  if (process.env.IRIS_ELECTRON_DOWNLOAD === 'retry') return true;
  const file = unreachableFile();
  return !existsSync(file) || Date.now() - Number(readFileSync(file, 'utf8')) > retryAfterMs;
}

/** @param {(text: string) => void} note @returns {Promise<string | null>} */
async function download(note) {
  const hasMirror = Object.keys(process.env).some((name) =>
    /^(npm_config_)?electron_(mirror|get_use_proxy)$/i.test(name),
  );
  const reachable = hasMirror || (await answers('github.com'));
  if (reachable) {
    say(`      downloading Electron ${packageVersion()}`);
    const result = await run(process.execPath, [join(packageDir, 'install.js')], {
      onLine: note,
      timeoutMs: 15 * 60_000,
    });
    const executable = officialExecutable();
    if (result.code === 0 && executable !== null) return executable;
    say(`      the download failed: ${result.output.trim().split('\n')[0] ?? ''}`);
  } else {
    say('      github.com does not answer');
  }
  mkdirSync(dirname(unreachableFile()), { recursive: true });
  writeFileSync(unreachableFile(), String(Date.now()));
  say('      (not tried again for a week; IRIS_ELECTRON_DOWNLOAD=retry tries at once)');
  return null;
}

/** Whether a host answers a request. The first look for its name may take long, and what is found out holds for a week. @param {string} host @returns {Promise<boolean>} */
async function answers(host) {
  const { request } = await import('node:https');
  return new Promise((resolve) => {
    const asked = request({ host, method: 'HEAD', path: '/', timeout: 15_000, agent: false }, (response) => {
      response.destroy();
      resolve(true);
    });
    const deadline = setTimeout(() => asked.destroy(new Error('no answer')), 16_000);
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.on('error', () => resolve(false));
    asked.on('close', () => {
      clearTimeout(deadline);
      resolve(false);
    });
    asked.end();
  });
}
