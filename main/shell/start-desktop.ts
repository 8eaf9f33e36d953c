/** Wires the desktop: each part made once, in order, with what undoes it. */
import { Notification, app, dialog, shell } from 'electron';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { ControllerThread } from '../controller/controller-thread.js';
import { connectOrStart } from '../controller/host-link.js';
import type { Home } from '../home.js';
import type { FramePorts } from '../ipc/frame-ports.js';
import { builtModule } from '../modules.js';
import { appVersion, runtimeName } from '../version.js';
import { showAbout } from './about.js';
import { setAppMenu } from './app-menu.js';
import { parseArguments, type StartArguments } from './arguments.js';
import { bridgeRequests } from './bridge-requests.js';
import { startControllerLink, type ControllerLink } from './controller-link.js';
import { handleFaults, restartedFlag } from './crash-handling.js';
import { showNotification } from './desktop-notification.js';
import { handOverOrSay } from './hand-over.js';
import { askQuit, askTrayOrQuit } from './leaving-dialogs.js';
import { driverAttached } from './driver.js';
import { createLeaving } from './leaving.js';
import { createLifecycle } from './lifecycle.js';
import { createMainWindow } from './main-window.js';
import { startNotifications } from './notifications.js';
import type { RotatingLog } from './rotating-log.js';
import { runtimeKind, runtimeWords } from './runtime-words.js';
import { openSettings } from './settings.js';
import { createShellClient, type ShellClient } from './shell-client.js';
import { startBridge } from './start-bridge.js';
import { startPage, startTheme } from './start-page.js';
import type { ClusterWatch } from './cluster-watch.js';
import { startTray } from './start-tray.js';
import { electronTray } from './tray-electron.js';
import { hasTrayHost } from './tray-host.js';

/** For everything to stop, the hand-over to a headless controller included. */
const stopDeadlineMs = 30_000;

/** Menu, tray and notifications come at the latest then, even where the page has not come up. */
const pagePatienceMs = 3000;

/** And so much after the page: its first answers come through the thread that makes them. */
const afterPageMs = 300;

/** The page's own background colours (its tokens), so that the window does not flash before the page is drawn. */
const background = { light: '#ffffff', dark: '#1b1c20' } as const;

export interface DesktopInput {
  readonly home: Home;
  readonly start: StartArguments;
  readonly log: RotatingLog;
  readonly settingsFile: string;
  /** For the first controller of this desktop, where nobody else's can be there. */
  readonly thread: ControllerThread | null;
  /** Keeps the compiled form of the desktop's code; called once the start is over. */
  readonly keepCode: () => void;
}

/**
 * Everything is stopped and on disk, but Chromium takes a destroyed window apart later. Where a desktop was the guest of another host,
 * its end followed at once, and Electron's own tear-down then ended in a fault of memory now and then (1 of 30 starts with an example).
 */
const afterWindowMs = 300;

const secondStartSchema = z.object({ argv: z.array(z.string()) });

export function startDesktop({ home, start, log, settingsFile, thread, keepCode }: DesktopInput): void {
  const write = (level: 'info' | 'warn' | 'error', line: string) => log.write(level, line);
  const warn = (line: string) => log.write('warn', line);
  const unattended = process.env['IRIS_HEADLESS_DISPLAY'] === '1';
  const appFolder = app.getAppPath();
  const icons = join(appFolder, 'resources', 'icons');
  const appIcon = join(icons, 'icon-256.png');
  const runtime = runtimeWords(runtimeName(), runtimeKind(app.isPackaged, process.env));
  const lifecycle = createLifecycle(warn);
  const settings = openSettings(settingsFile, warn);
  let leavingWith: number | null = null;
  /** What a second start asked for that came while this one was leaving already. */
  let startedMeanwhile: { readonly argv: readonly string[]; readonly folder: string } | null = null;
  let stopQueue = false;
  /** Running and waiting jobs when the desktop let go of the controller; null: not known. */
  let unfinishedAtEnd: number | null = null;

  /** The one way out: hides the window at once, stops the parts backwards, ends the process. */
  const leave = (exitCode: number): void => {
    if (leavingWith !== null) return;
    leavingWith = exitCode;
    leaving.begin();
    window.hide();
    void lifecycle.stop(stopDeadlineMs).then(() => {
      keepCode();
      log.write('info', `Left with exit code ${exitCode}.`);
      setTimeout(() => {
        if (startedMeanwhile !== null) startAgain(startedMeanwhile.argv, startedMeanwhile.folder);
        app.exit(exitCode);
      }, afterWindowMs);
    });
  };

  /** Where that start was made: a data folder may be named from there. */
  const startAgain = (argv: readonly string[], folder: string): void => {
    try {
      process.chdir(folder);
    } catch (error) {
      warn(`Cannot start again in ${folder}: ${String(error)}`);
    }
    app.relaunch({ args: [...argv] });
  };

  handleFaults({
    app,
    appVersion,
    runtime,
    restartedAlready: process.argv.includes(restartedFlag),
    log: write,
    leave,
    tell: (title, text) => {
      if (unattended) process.stderr.write(`${title}. ${text}\n`);
      else dialog.showErrorBox(title, text);
    },
  });

  const leaving = createLeaving({
    hasTrayHost: () => hasTrayHost(),
    settings: () => settings.get(),
    keepChoice: (choice) => settings.change({ closeToTray: choice }),
    jobsNow: () => watch?.countsNow() ?? Promise.resolve(null),
    askPage: (runningJobs) => {
      if (!window.pageReady()) return false;
      window.command({ kind: 'closing-asks', trayAvailable: true, runningJobs });
      return true;
    },
    askTrayOrQuit: (unfinished) => askTrayOrQuit(window.browserWindow(), unfinished),
    askQuit: (unfinished) => askQuit(window.browserWindow(), unfinished),
    hideWindow: () => window.hide(),
    quit: (stop) => {
      stopQueue = stop;
      leave(0);
    },
    log: warn,
  });

  const window = createMainWindow({
    preload: join(appFolder, 'out', 'preload', 'preload.cjs'),
    icon: appIcon,
    devTools: !app.isPackaged,
    background,
    place: () => settings.window(),
    rememberPlace: (place) => settings.rememberWindow(place),
    created: (contents) => ports?.watch(contents),
    closing: () => leaving.windowCloses(),
    log: write,
    nowMs: Date.now,
  });
  let ports: FramePorts | undefined;
  let watch: ClusterWatch | undefined;

  const openJob = (jobId: string): void => {
    window.command({ kind: 'open-job', jobId });
    window.show();
  };
  const openEnded = (): void => {
    window.command({ kind: 'ended-jobs' });
    window.show();
  };
  const newJob = (): void => {
    window.command({ kind: 'new-job' });
    window.show();
  };
  const obey = (what: StartArguments): void => {
    if (what.openJob !== undefined) openJob(what.openJob);
    else if (what.newJob) newJob();
    else if (!what.hidden) window.show();
  };

  app.on('second-instance', (_event, _argv, folder, data) => {
    const parsed = secondStartSchema.safeParse(data);
    const argv = parsed.success ? parsed.data.argv : [];
    // Handing over takes a second or more: whoever starts the app again in it is not to be left without one.
    if (leavingWith === null) obey(parseArguments(argv));
    else startedMeanwhile = { argv, folder };
  });
  app.on('activate', () => window.show());
  // Closing the last window does not quit: what that means is decided in leaving.ts.
  app.on('window-all-closed', () => undefined);
  app.on('before-quit', (event) => {
    if (leavingWith !== null) return;
    event.preventDefault();
    leave(0);
  });

  void run().catch((error: unknown) => {
    log.write(
      'error',
      `The start failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    process.stderr.write(`Iris Desktop cannot start: ${String(error)}\n`);
    leave(1);
  });

  async function run(): Promise<void> {
    log.write(
      'info',
      `Iris Desktop ${appVersion} on ${runtime}, pid ${process.pid}, data folder ${home.root}.`,
    );
    // Before Electron is ready: the controller's thread reads its code on another processor meanwhile.
    const link = await lifecycle.step('controller', () => {
      let waiting = thread;
      const made = startControllerLink({
        connectOrStart: () => {
          const first = waiting;
          waiting = null;
          return connectOrStart({
            home,
            appVersion,
            runtime: runtimeName(),
            workerModule: pathToFileURL(builtModule('controller-worker')),
            thread: first,
          });
        },
        appVersion,
        log: write,
        nowMs: Date.now,
      });
      return { value: made, dispose: () => stopController(made) };
    });
    await app.whenReady();
    await driverAttached();
    await lifecycle.step('theme', () => ({ value: undefined, dispose: startTheme(settings, window) }));
    await lifecycle.step('page', () => ({
      value: undefined,
      dispose: startPage(join(appFolder, 'out', 'renderer'), window, warn),
    }));
    /** The page was refused for good; it greets the new controller when it is loaded again. */
    const retry = (): void => {
      if (link.failure() === null) return;
      link.retry();
      window.browserWindow()?.webContents.reload();
    };
    const client = await lifecycle.step('client', () => {
      const made = createShellClient(link);
      return { value: made, dispose: () => lastWords(made, link) };
    });
    await lifecycle.step('bridge', () => {
      const made = startBridge({
        window,
        link,
        requests: bridgeRequests({ home, settings, client, leaving, window: () => window.browserWindow() }),
        log: warn,
      });
      ports = made.ports;
      return { value: undefined, dispose: () => made.stop() };
    });
    await lifecycle.step('window', () => {
      obey(start);
      return { value: undefined, dispose: () => window.destroy() };
    });
    // The page asks for its first file at once. What it need not wait for comes after it.
    await window.pageLoaded(pagePatienceMs);
    await new Promise((resolve) => setTimeout(resolve, afterPageMs));
    if (leavingWith !== null) return;
    setAppMenu(
      {
        newJob,
        palette: () => window.command({ kind: 'palette' }),
        about: () => {
          void showAbout(
            {
              appVersion,
              runtime,
              home: home.root,
              logFile: log.file,
              notificationsSupported: Notification.isSupported(),
            },
            window.browserWindow(),
          );
        },
        showLogFolder: () => shell.showItemInFolder(log.file),
        retryController: retry,
        quit: () => leaving.quitChosen(),
      },
      process.platform,
      !app.isPackaged,
    );

    await lifecycle.step('tray', () => {
      const made = startTray({
        makeTray: electronTray(icons, process.platform),
        client,
        settings,
        controllerFailed: () => link.failure() !== null,
        actions: {
          show: () => window.show(),
          newJob,
          openJob,
          retryController: retry,
          quit: () => leaving.quitChosen(),
        },
        setTimer: timer,
        log: warn,
      });
      watch = made.watch;
      return { value: undefined, dispose: () => made.stop() };
    });
    await lifecycle.step('notifications', () => ({
      value: undefined,
      dispose: startNotifications({
        client,
        supported: () => Notification.isSupported(),
        paused: () => settings.get().notificationsPaused,
        show: (text, clicked) => showNotification(text, appIcon, clicked, warn),
        open: (jobId) => (jobId === null ? openEnded() : openJob(jobId)),
        nowMs: Date.now,
        setTimer: timer,
        log: warn,
      }),
    }));
    keepCode();
    if (start.example) {
      // Read only when asked for: it brings the reader of YAML with it.
      const { runExample } = await import('./example.js');
      const exitCode = await runExample({
        client,
        // A command's folder must be a real one, not a path inside the archive.
        examplesFolder: join(app.isPackaged ? process.resourcesPath : appFolder, 'examples'),
        openJob,
        unattended,
        contents: () => window.browserWindow()?.webContents,
        picture: join(home.root, 'example.png'),
      });
      if (exitCode !== null) leave(exitCode);
    }
  }

  /** Before the connection ends: how much is unfinished now, since a job may have been submitted a moment ago. */
  async function lastWords(client: ShellClient, link: ControllerLink): Promise<void> {
    try {
      if (stopQueue && link.kind() === 'attached') {
        await client.call('shutdown', { reason: 'the user stopped the queue' });
      } else {
        const { counts } = await client.call('status', {});
        unfinishedAtEnd = counts.running + counts.waiting;
      }
    } catch (error) {
      warn(`The controller did not answer before the end: ${String(error)}`);
    }
    client.close();
  }

  async function stopController(link: ControllerLink): Promise<void> {
    const kind = await link.stop('the desktop quits');
    // Not known counts as unfinished: a host too many ends nothing, a host too few leaves jobs waiting for ever.
    if (kind !== 'own' || stopQueue || unfinishedAtEnd === 0) return;
    await handOverOrSay(home, write, unattended);
  }
}

function timer(run: () => void, ms: number): () => void {
  const handle = setTimeout(run, ms);
  return () => clearTimeout(handle);
}
