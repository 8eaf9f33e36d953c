/** The desktop host's entry: what must be settled before Electron is ready, then the start-up in order. */
import { app, Menu } from 'electron';
import { join } from 'node:path';
import { makeFolder, resolveHome, unusableMessage } from './home.js';
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
  makeFolder(profile);
} catch (error) {
  leave(unusableMessage(home.folder, error));
}
app.setName('Iris Desktop');
app.setPath('userData', profile);
registerAppScheme();
// The app's own menu comes after its window; without this word Electron would first make one of its own.
Menu.setApplicationMenu(null);

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
