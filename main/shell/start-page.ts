/** What the window's page stands on: guards, the app's scheme, the theme. Each returns the function that undoes it. */
import { app, nativeTheme, session } from 'electron';
import { serveApp } from './app-protocol.js';
import type { MainWindow } from './main-window.js';
import { openExternal } from './open-external.js';
import type { SettingsStore } from './settings.js';
import { guardAllContents, guardSession } from './web-guards.js';

export function startTheme(settings: SettingsStore, window: Pick<MainWindow, 'command'>): () => void {
  const apply = () => {
    nativeTheme.themeSource = settings.get().theme;
  };
  apply();
  return settings.onChange((changed) => {
    apply();
    window.command({ kind: 'settings-changed', settings: changed });
  });
}

export function startPage(
  rendererFolder: string,
  window: Pick<MainWindow, 'browserWindow'>,
  log: (line: string) => void,
): () => void {
  guardSession(session.defaultSession, log, !app.isPackaged);
  const leaveContents = guardAllContents(app, {
    log,
    openExternal: (url) => {
      openExternal(url, window.browserWindow(), log).catch((error: unknown) => log(String(error)));
    },
  });
  const leaveApp = serveApp(session.defaultSession, rendererFolder, log);
  return () => {
    leaveApp();
    leaveContents();
  };
}
