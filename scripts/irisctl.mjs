/** `npm run -s irisctl -- ARGS`: prepares what is not prepared, then is the command line itself, in this very process. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './lib/paths.mjs';
import { fail, prepare } from './prepare/index.mjs';

await prepare({ window: false, bundles: ['main'] });
const cli = join(root, 'out', 'main', 'cli.js');
if (!existsSync(cli)) fail('There is no out/main/cli.js to run.');

// npm sends a Ctrl-C on that the terminal has sent to this process already; irisctl takes a second one as impatience.
if (process.env.npm_lifecycle_event !== undefined) {
  const emit = process.emit.bind(process);
  let last = 0;
  process.emit = (/** @type {string} */ name, /** @type {unknown[]} */ ...rest) => {
    if (name === 'SIGINT') {
      if (Date.now() - last < 300) return true;
      last = Date.now();
    }
    return Reflect.apply(emit, process, [name, ...rest]);
  };
  // npm runs scripts in the checkout; the caller's folder is where the job runs and relative paths are meant.
  if (process.env.INIT_CWD !== undefined && existsSync(process.env.INIT_CWD))
    process.chdir(process.env.INIT_CWD);
}

process.argv[1] = cli;
await import(pathToFileURL(cli).href);
