/** The window: made once, hidden and shown again, its place remembered, its page loaded again after a crash. */
import { BrowserWindow, nativeTheme, screen, type WebContents } from 'electron';
import type { DesktopCommand } from '../../core/contract/desktop-bridge.js';
import { channels } from '../ipc/channels.js';
import { crashPageUrl, startPage } from './app-protocol.js';
import { isAppUrl } from './asset-path.js';
import { minimumSize, validPlace, type WindowPlace } from './window-place.js';

const crashWindowMs = 60_000;
const mostReloads = 2;
const keepPlaceAfterMs = 500;

export interface MainWindowOptions {
  readonly preload: string;
  readonly icon: string;
  readonly devTools: boolean;
  /** The page's background, so that nothing flashes before it is drawn. */
  readonly background: { readonly light: string; readonly dark: string };
  readonly place: () => WindowPlace | null;
  readonly rememberPlace: (place: WindowPlace) => void;
  readonly created: (contents: WebContents) => void;
  /** The user closes the window. True: let it close. */
  readonly closing: () => boolean;
  readonly log: (level: 'info' | 'warn' | 'error', line: string) => void;
  readonly nowMs: () => number;
}

export interface MainWindow {
  /** Opens it if need be, shows it and gives it the focus. */
  show(): void;
  hide(): void;
  /** To the page; kept until it listens. */
  command(command: DesktopCommand): void;
  isOurs(contents: WebContents): boolean;
  /** The page says that it listens for commands. */
  pageListens(): void;
  /** Whether the page can be asked something now. */
  pageReady(): boolean;
  /** Resolves once the page has all of its files, or nothing more is to be waited for. */
  pageLoaded(atMostMs: number): Promise<void>;
  browserWindow(): BrowserWindow | null;
  destroy(): void;
}

export function createMainWindow(options: MainWindowOptions): MainWindow {
  let window: BrowserWindow | null = null;
  let listening = false;
  let kept: DesktopCommand[] = [];
  let crashes: number[] = [];
  let over = false;
  /** Keeps the place at once: a window that is destroyed is not closed, and tells nobody. */
  let keepPlaceNow = (): void => undefined;

  function open(show: boolean): BrowserWindow {
    const place = validPlace(
      options.place(),
      [screen.getPrimaryDisplay(), ...screen.getAllDisplays()].map((display) => display.workArea),
    );
    const made = new BrowserWindow({
      width: place.width,
      height: place.height,
      ...(place.x === undefined || place.y === undefined ? {} : { x: place.x, y: place.y }),
      minWidth: minimumSize.width,
      minHeight: minimumSize.height,
      // At once, in the page's own background: waiting for the page would put the work of showing after all the rest of the start.
      show,
      title: 'Iris Desktop',
      icon: options.icon,
      autoHideMenuBar: true,
      backgroundColor: background(),
      webPreferences: {
        preload: options.preload,
        contextIsolation: true,
        sandbox: true,
        nodeIntegration: false,
        nodeIntegrationInWorker: false,
        nodeIntegrationInSubFrames: false,
        webSecurity: true,
        allowRunningInsecureContent: false,
        experimentalFeatures: false,
        webviewTag: false,
        navigateOnDragDrop: false,
        safeDialogs: true,
        spellcheck: false,
        devTools: options.devTools,
      },
    });
    window = made;
    listening = false;
    if (place.maximized) made.maximize();
    watch(made);
    options.created(made.webContents);
    loadStartPage(made);
    return made;
  }

  function loadStartPage(made: BrowserWindow): void {
    made.loadURL(startPage).catch((error: unknown) => {
      options.log('error', `The window's page cannot be loaded: ${String(error)}`);
    });
  }

  function watch(made: BrowserWindow): void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const keepPlace = () => {
      clearTimeout(timer);
      if (made.isDestroyed() || made.isMinimized()) return;
      // The normal bounds: leaving the maximised state should give the size from before it.
      options.rememberPlace({ ...made.getNormalBounds(), maximized: made.isMaximized() });
    };
    keepPlaceNow = keepPlace;
    const keepPlaceSoon = () => {
      clearTimeout(timer);
      timer = setTimeout(keepPlace, keepPlaceAfterMs);
    };
    made.on('resize', keepPlaceSoon);
    made.on('move', keepPlaceSoon);
    made.on('maximize', keepPlaceSoon);
    made.on('unmaximize', keepPlaceSoon);
    made.on('close', (event) => {
      keepPlace();
      if (!options.closing()) event.preventDefault();
    });
    made.on('closed', () => {
      clearTimeout(timer);
      if (window === made) window = null;
      listening = false;
    });
    made.on('page-title-updated', (event) => event.preventDefault());
    made.webContents.on('did-start-navigation', (details) => {
      if (details.isMainFrame && !details.isSameDocument) listening = false;
    });
    made.webContents.on('did-navigate', (_event, url) => {
      // An empty document can be reached without the event that would prevent it; nothing may stay there.
      if (isAppUrl(url)) return;
      options.log('warn', `Left ${url}, where the page had gone.`);
      loadStartPage(made);
    });
    made.webContents.on('render-process-gone', (_event, details) => {
      listening = false;
      if (details.reason === 'clean-exit') return;
      afterCrash(made, `${details.reason}, exit code ${details.exitCode}`);
    });
    made.webContents.on('unresponsive', () => options.log('warn', 'The window does not respond.'));
    made.webContents.on('preload-error', (_event, path, error) =>
      options.log('error', `The preload ${path} failed: ${error.stack ?? error.message}`),
    );
    made.webContents.on('did-fail-load', (_event, code, description, url, isMainFrame) => {
      // -3: the load was replaced by another one.
      if (isMainFrame && code !== -3) options.log('error', `${url} failed to load: ${description} (${code})`);
    });
  }

  function afterCrash(made: BrowserWindow, reason: string): void {
    const now = options.nowMs();
    crashes = [...crashes.filter((at) => now - at < crashWindowMs), now];
    const again = crashes.length <= mostReloads;
    options.log(
      'error',
      `The window's page ended (${reason}); ${again ? 'loading it again' : 'showing the plain page'}.`,
    );
    // Not inside the event: the renderer is being taken down.
    setImmediate(() => {
      if (made.isDestroyed()) return;
      made.loadURL(again ? startPage : crashPageUrl).catch((error: unknown) => {
        options.log('error', `The page cannot be loaded after the crash: ${String(error)}`);
      });
    });
  }

  function background(): string {
    return nativeTheme.shouldUseDarkColors ? options.background.dark : options.background.light;
  }
  const onTheme = () => window?.setBackgroundColor(background());
  nativeTheme.on('updated', onTheme);

  return {
    show() {
      // A tray or a notification may be clicked while the app leaves.
      if (over) return;
      if (window === null) {
        open(true);
        return;
      }
      if (window.isMinimized()) window.restore();
      window.show();
      window.focus();
    },
    hide: () => window?.hide(),
    command(command) {
      if (window !== null && listening) window.webContents.send(channels.command, command);
      else kept = [...kept, command].slice(-20);
    },
    isOurs: (contents) => window !== null && !window.isDestroyed() && contents === window.webContents,
    pageListens() {
      listening = true;
      for (const command of kept) window?.webContents.send(channels.command, command);
      kept = [];
    },
    pageLoaded(atMostMs) {
      const made = window;
      if (made === null || !made.webContents.isLoading()) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, atMostMs);
        const over = () => {
          clearTimeout(timer);
          resolve();
        };
        made.webContents.once('did-stop-loading', over);
        made.once('closed', over);
      });
    },
    pageReady: () => window !== null && listening && window.isVisible(),
    browserWindow: () => window,
    destroy() {
      over = true;
      nativeTheme.off('updated', onTheme);
      keepPlaceNow();
      window?.destroy();
      window = null;
    },
  };
}
