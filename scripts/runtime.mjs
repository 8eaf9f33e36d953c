/** The Electron runtime of this checkout, for scripts and tests. `prepare` has chosen it; see prepare/electron.mjs. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { root } from './lib/paths.mjs';
import { UserError } from './lib/step.mjs';
import { chosenRuntime } from './prepare/electron.mjs';

/**
 * @typedef {object} Runtime
 * @property {string} executable
 * @property {string} folder What electron-builder calls electronDist.
 * @property {string} version
 * @property {'official' | 'fallback'} kind
 * @property {string[]} args Arguments before the app's own: switches this machine needs and, where the runtime does not find it itself, the app.
 * @property {Record<string, string>} env To be added to the environment; the app reads IRIS_RUNTIME_KIND.
 */

/**
 * @param {{root?: boolean, display?: 'real' | 'virtual'}} [options] Whether the app runs as root, and what it shows on; by default as this process.
 * @returns {Runtime}
 */
export function resolveRuntime(options = {}) {
  const choice = chosenRuntime();
  if (choice === null)
    throw new UserError('There is no Electron runtime yet. Type `npm start` once; it prepares one.');
  const asRoot = options.root ?? process.getuid?.() === 0;
  const virtual = (options.display ?? process.env.IRIS_HEADLESS_DISPLAY) ? true : !hasDisplay();
  const args = [];
  // Chromium refuses to start its sandbox as root.
  if (asRoot) args.push('--no-sandbox');
  if (process.platform === 'linux' && (virtual || !existsSync('/dev/dri'))) args.push('--disable-gpu');
  // The fallback has the app in its resources folder and takes no path.
  if (choice.kind === 'official') args.push(root);
  return {
    executable: choice.executable,
    folder: dirname(choice.executable),
    version: choice.version,
    kind: choice.kind,
    args,
    env: { IRIS_RUNTIME_KIND: choice.kind },
  };
}

/** False on a Linux session without X or Wayland. */
export function hasDisplay() {
  return process.platform !== 'linux' || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
}
