/** Places the scripts work with. Plain Node only: these run before anything is installed. */
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** This checkout's own copy of a runtime, and the stamps of what was prepared. Never committed. */
export const localDir = join(root, '.runtime');

/** What is expensive to get and the same for every checkout of this user. */
export const cacheDir = join(
  process.env.IRIS_DESKTOP_CACHE ??
    join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'iris-desktop'),
);

export const nodeModules = join(root, 'node_modules');
