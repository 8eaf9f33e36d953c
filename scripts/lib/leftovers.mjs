/** What commands that were cut off have left where they work: a download of 200 MB, say, that nobody would ever look at again. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, localDir, root } from './paths.mjs';

/** Each name ends in the id of a process, perhaps on another machine that has the same home: so nothing young is touched. */
const kinds = [
  { folder: join(cacheDir, 'electron'), names: /^(fetch-|electron-.*-r\d+\.)\d+$/ },
  { folder: join(cacheDir, 'native'), names: /\.node\.\d+$/ },
  { folder: localDir, names: /^(native-|package-electron-|simulate-|electron\.)\d+$/ },
  { folder: join(root, 'out'), names: /^\.(next|old)-\w+-\d+$/ },
];
const untouchedForMs = 24 * 3_600_000;

export function removeLeftovers() {
  for (const { folder, names } of kinds) {
    for (const name of namesIn(folder).filter((one) => names.test(one))) {
      const path = join(folder, name);
      try {
        const stat = statSync(path, { throwIfNoEntry: false });
        if (stat === undefined || Date.now() - stat.mtimeMs < untouchedForMs) continue;
        rmSync(path, { recursive: true, force: true });
      } catch {
        // Somebody else's: it costs room and nothing more.
      }
    }
  }
}

/** @param {string} folder */
function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return []; // nothing was ever made there
  }
}
