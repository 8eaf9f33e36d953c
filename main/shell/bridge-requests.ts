/** What the page asks of main, answered. */
import { Notification, app, dialog, type BrowserWindow } from 'electron';
import { join } from 'node:path';
import type { AppInfo } from '../../core/contract/desktop-bridge.js';
import type { Home } from '../home.js';
import { channels } from '../ipc/channels.js';
import type { RequestHandlers } from '../ipc/handlers.js';
import { appVersion, runtimeName } from '../version.js';
import type { Leaving } from './leaving.js';
import { runtimeKind } from './runtime-words.js';
import { safeFileName, saveLog } from './save-log.js';
import type { SettingsStore } from './settings.js';
import type { ShellClient } from './shell-client.js';

export interface BridgeRequestsOptions {
  readonly home: Home;
  readonly settings: SettingsStore;
  readonly client: Pick<ShellClient, 'call'>;
  readonly leaving: Pick<Leaving, 'answered'>;
  readonly window: () => BrowserWindow | null;
}

export function bridgeRequests(options: BridgeRequestsOptions): RequestHandlers {
  return {
    [channels.pickFolder]: async (current) => {
      const picked = await ask(options.window(), {
        title: 'Working folder',
        buttonLabel: 'Use this folder',
        properties: ['openDirectory', 'createDirectory', 'dontAddToRecent'],
        ...(current === null ? {} : { defaultPath: current }),
      });
      return picked;
    },
    [channels.saveText]: async (suggestedName, attemptUid, stream) => {
      const window = options.window();
      const question = {
        title: 'Save log',
        defaultPath: join(app.getPath('downloads'), safeFileName(suggestedName)),
        filters: [
          { name: 'Text', extensions: ['txt', 'log'] },
          { name: 'All files', extensions: ['*'] },
        ],
      };
      const { canceled, filePath } = await (window === null
        ? dialog.showSaveDialog(question)
        : dialog.showSaveDialog(window, question));
      if (canceled || filePath === '') return null;
      await saveLog(options.client, attemptUid, stream, filePath);
      return { path: filePath };
    },
    [channels.info]: () => appInfo(options.home),
    [channels.answerClosing]: (answer) => options.leaving.answered(answer),
    [channels.getSettings]: () => options.settings.get(),
    [channels.setSettings]: (change) => options.settings.change(change),
  };
}

async function ask(
  window: BrowserWindow | null,
  question: Electron.OpenDialogOptions,
): Promise<string | null> {
  const { canceled, filePaths } = await (window === null
    ? dialog.showOpenDialog(question)
    : dialog.showOpenDialog(window, question));
  return canceled ? null : (filePaths[0] ?? null);
}

function appInfo(home: Home): AppInfo {
  return {
    appVersion,
    runtime: runtimeName(),
    runtimeKind: runtimeKind(app.isPackaged, process.env),
    platform: process.platform,
    homeFolder: home.root,
    shortcutModifier: process.platform === 'darwin' ? 'Cmd' : 'Ctrl',
    notificationsSupported: Notification.isSupported(),
  };
}
