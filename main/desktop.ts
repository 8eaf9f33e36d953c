/** The desktop host's entry: what must be settled before Electron is ready, then the start-up in order. */
import { app } from 'electron';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { resolveHome } from './home.js';
import { registerAppScheme } from './shell/app-protocol.js';
import { parseArguments } from './shell/arguments.js';
import { chooseSandbox } from './shell/sandbox.js';
import { openRotatingLog } from './shell/rotating-log.js';
import { startDesktop } from './shell/start-desktop.js';

const start = parseArguments(process.argv.slice(1), process.env);
const home = resolveHome({ flag: start.home });
const profile = join(home.folder, 'window');
const log = openRotatingLog(join(home.logs, 'desktop.log'));

const sandbox = chooseSandbox(start.noSandbox, app.isPackaged, process.getuid?.());
if (sandbox.kind === 'refused') leave(sandbox.message);
if (sandbox.kind === 'off') {
  process.stderr.write(`${sandbox.warning}\n`);
  log.write('warn', sandbox.warning);
} else app.enableSandbox();

try {
  mkdirSync(profile, { recursive: true, mode: 0o700 });
} catch (error) {
  leave(
    `The data folder ${home.folder} cannot be used: ${error instanceof Error ? error.message : String(error)}. Name another one with --home or IRIS_DESKTOP_HOME.`,
  );
}
app.setName('Iris Desktop');
app.setPath('userData', profile);
registerAppScheme();

// One instance a profile: the first one is told what the second was asked for.
if (app.requestSingleInstanceLock({ argv: process.argv.slice(1) })) {
  startDesktop({ home, start, log, settingsFile: join(profile, 'settings.json') });
} else {
  process.stdout.write('Iris Desktop runs already with this data folder; its window is shown.\n');
  app.exit(0);
}

function leave(message: string): never {
  process.stderr.write(`${message}\n`);
  log.write('error', message);
  process.exit(125);
}
