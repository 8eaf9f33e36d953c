/** Where the other built entries of this build are, seen from whichever file this ended up in. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export type BuiltModule = 'controller-worker' | 'headless' | 'launcher' | 'reader-worker' | 'askpass' | 'cli';

/**
 * The file of a built entry. Bundled code lies in the folder of the entries or in one below it (shared chunks); in a checkout whose
 * sources run unbundled (tests) the build's output folder is used.
 */
export function builtModule(name: BuiltModule): string {
  const here = path.dirname(fileURLToPath(import.meta.url));
  for (const folder of [here, path.dirname(here), path.join(path.dirname(here), 'out', 'main')]) {
    for (const file of [path.join(folder, `${name}.js`), path.join(folder, `${name}.cjs`)]) {
      if (existsSync(file)) return file;
    }
  }
  throw new Error(`The built module ${name} is missing beside ${here}; run npm run build.`);
}
