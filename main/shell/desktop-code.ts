/** The desktop's code: what must be settled before Electron is ready, then the start-up in order. */
import { app, Menu } from 'electron';
import { join } from 'node:path';
import type { ControllerThread } from '../controller/controller-thread.js';
import { youngSpaceFlag } from '../engine.js';
import { makeFolder, unusableMessage, type Home } from '../home.js';
import { registerAppScheme } from './app-protocol.js';
import type { StartArguments } from './arguments.js';
import { chooseSandbox } from './sandbox.js';
import { openRotatingLog } from './rotating-log.js';
import { startDesktop } from './start-desktop.js';

/**
 * Without a GPU Chromium draws a page in squares of 256 pixels, 25 of them in a list that is scrolled. In strips as wide as the window, as
 * it has them with a GPU, the same page costs its compositor half as much. With a GPU this says nothing.
 */
const softwareTile = { width: 2048, height: 256 };

export interface DesktopCode {
  /**
   * `thread` waits for the word to be the controller's; null where there may be one already. `keepCode` keeps the compiled form of all
   * this for the next start; to be called when the start is over.
   */
  runDesktop(start: StartArguments, home: Home, thread: ControllerThread | null, keepCode: () => void): void;
}

export const runDesktop: DesktopCode['runDesktop'] = (start, home, thread, keepCode) => {
  const profile = join(home.folder, 'window');
  const log = openRotatingLog(join(home.logs, 'desktop.log'));

  /** A thread that is still reading its code when the process ends can take it down with it. */
  async function leave(exit: () => void): Promise<void> {
    await thread?.worker.terminate();
    exit();
  }

  function refuse(message: string): void {
    process.stderr.write(`${message}\n`);
    log.write('error', message);
    void leave(() => process.exit(125));
  }

  const sandbox = chooseSandbox(start.noSandbox, app.isPackaged, process.getuid?.());
  if (sandbox.kind === 'refused') {
    refuse(sandbox.message);
    return;
  }
  if (sandbox.kind === 'off') {
    process.stderr.write(`${sandbox.warning}\n`);
    log.write('warn', sandbox.warning);
  } else app.enableSandbox();

  try {
    makeFolder(profile);
  } catch (error) {
    refuse(unusableMessage(home.folder, error));
    return;
  }
  app.commandLine.appendSwitch('js-flags', youngSpaceFlag);
  app.commandLine.appendSwitch('default-tile-width', String(softwareTile.width));
  app.commandLine.appendSwitch('default-tile-height', String(softwareTile.height));
  app.setName('Iris Desktop');
  app.setPath('userData', profile);
  registerAppScheme();
  // The app's own menu comes after its window; without this word Electron would first make one of its own.
  Menu.setApplicationMenu(null);

  // One instance a profile: the first one is told what the second was asked for.
  if (app.requestSingleInstanceLock({ argv: process.argv.slice(1) })) {
    startDesktop({ home, start, log, settingsFile: join(profile, 'settings.json'), thread, keepCode });
  } else {
    process.stdout.write('Iris Desktop runs already with this data folder; its window is shown.\n');
    void leave(() => app.exit(0));
  }
};
