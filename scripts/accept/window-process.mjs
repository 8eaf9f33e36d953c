/** The window's main process, to quit it as its menu does and nothing beside it. */
import { readFileSync, readdirSync } from 'node:fs';

/** @param {string} home the data folder it was started with @returns {number | null} */
export function windowProcess(home) {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // Chromium joins its words by blanks and overwrites its environment, so its parent is asked for that.
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (!/^\S*(electron|iris-desktop) /.test(line) || / --type=|\.js /.test(line)) continue;
      const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1] ?? '';
      const environment = readFileSync(`/proc/${parent}/environ`, 'utf8').split('\0');
      if (environment.includes(`IRIS_DESKTOP_HOME=${home}`)) return Number(name);
    } catch {
      // It has ended in the meantime, or is somebody else's.
    }
  }
  return null;
}
