/** The packages of the lock file. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, textDigest } from '../lib/inputs.mjs';
import { nodeModules, root } from '../lib/paths.mjs';
import { run } from '../lib/run.mjs';
import { UserError } from '../lib/step.mjs';

// In node_modules itself, so that it goes when the folder goes.
const stamp = join(nodeModules, '.iris-lock-digest');

export function dependenciesDue() {
  return !existsSync(stamp) || readFileSync(stamp, 'utf8') !== textDigest('package-lock.json');
}

/**
 * No package's own scripts: npm would have node-gyp compile the database driver for minutes, with headers from nodejs.org that may be out
 * of reach, and the steps after this one prepare driver and runtime themselves.
 */
const ciArguments = [
  'ci',
  '--ignore-scripts',
  '--include=dev',
  '--no-audit',
  '--no-fund',
  '--prefer-offline',
];

/** @param {(text: string) => void} note */
export async function prepareDependencies(note) {
  const digest = textDigest('package-lock.json');
  if (!installedAsLocked()) {
    const args = [...ciArguments, '--loglevel=http'];
    const all = lockedCount();
    let fetched = 0;
    const onLine = (/** @type {string} */ line) => {
      if (/^npm http \w+ .*\.tgz/.test(line)) fetched += 1;
      note(`${fetched} of at most ${all} packages fetched`);
    };
    const npmScript = process.env.npm_execpath;
    const [program, first] = npmScript?.endsWith('.js') ? [process.execPath, [npmScript]] : ['npm', []];
    const result = await run(program, [...first, ...args], {
      cwd: root,
      onLine,
      timeoutMs: 20 * 60_000,
    });
    if (result.code !== 0) {
      throw new UserError(
        `npm ci failed (exit ${result.code}); is the npm registry reachable?\n${result.output.slice(-3000)}`,
      );
    }
  }
  writeFileSync(stamp, digest);
}

/** Packages in the lock file. */
function lockedCount() {
  return Object.keys(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages).length - 1;
}

/** True when npm's own record of what it installed agrees with the lock file, as after an `npm install` by hand. */
function installedAsLocked() {
  const installed = readJson(join(nodeModules, '.package-lock.json'))?.packages;
  if (typeof installed !== 'object' || installed === null) return false;
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  for (const [path, entry] of Object.entries(installed)) {
    if (locked[path]?.integrity !== entry.integrity || locked[path]?.version !== entry.version) return false;
  }
  return Object.entries(locked).every(
    ([path, entry]) => path === '' || entry.optional || entry.devOptional || entry.peer || path in installed,
  );
}
