/**
 * The desktop host's entry: runs the desktop's code with the compiled form kept from an earlier start. Electron is not ready before this
 * file is through, and reading and compiling that code, and the loader of modules with it, was a fifth of a start.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { runCached } from './cached-code.js';
import { makeControllerThread, mayListen } from './controller/controller-thread.js';
import { compileForBursts } from './engine.js';
import { resolveHome } from './home.js';
import { builtModule } from './modules.js';
import { parseArguments } from './shell/arguments.js';
import type { DesktopCode } from './shell/desktop-code.js';
import { appVersion, runtimeName } from './version.js';

// For all threads of the process: a form made under other settings would be refused.
compileForBursts({ atOnce: false });
const start = parseArguments(process.argv.slice(1), process.env);
const home = resolveHome({ flag: start.home });
// Beside the reading of the desktop's own code. A host that may be there is tried first.
const thread = mayListen(home.socket)
  ? null
  : makeControllerThread(pathToFileURL(builtModule('controller-worker')), {
      home,
      appVersion,
      runtime: runtimeName(),
    });
const code = runCached(
  path.join(import.meta.dirname, 'desktop-code.cjs'),
  path.join(home.folder, 'code', 'desktop.bin'),
);
// Built from shell/desktop-code.ts.
(code.exported as DesktopCode).runDesktop(start, home, thread, () => code.keep());
