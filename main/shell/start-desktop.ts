/** Wires the desktop: each part made once, in order, with what undoes it. */
import { Notification, app, dialog, nativeTheme, session, shell } from 'electron';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { connectOrStart } from '../controller/host-link.js';
import type { Home } from '../home.js';
import { serveFramePorts } from '../ipc/frame-ports.js';
import { handleRequests } from '../ipc/handlers.js';
import { onPageListening } from '../ipc/listening.js';
import { builtModule } from '../modules.js';
import { appVersion, runtimeName } from '../version.js';
import { showAbout } from './about.js';
import { setAppMenu } from './app-menu.js';
import { serveApp } from './app-protocol.js';
import { parseArguments, type StartArguments } from './arguments.js';
import { isAppUrl } from './asset-path.js';
import { bridgeRequests } from './bridge-requests.js';
import { startClusterWatch, type ClusterState } from './cluster-watch.js';
import { startControllerLink } from './controller-link.js';
import { handleFaults, restartedFlag } from './crash-handling.js';
import { showNotification } from './desktop-notification.js';
import { handOver } from './hand-over.js';
import { askQuit, askTrayOrQuit } from './leaving-dialogs.js';
import { createLeaving } from './leaving.js';
import { createLifecycle } from './lifecycle.js';
import { createMainWindow } from './main-window.js';
import { startNotifications } from './notifications.js';
import { openExternal } from './open-external.js';
import type { RotatingLog } from './rotating-log.js';
import { runtimeKind, runtimeWords } from './runtime-words.js';
import { openSettings } from './settings.js';
import { createShellClient } from './shell-client.js';
import { electronTray } from './tray-electron.js';
import { hasTrayHost } from './tray-host.js';
import { renderTray, type TrayAction, type TrayInput } from './tray-model.js';
import { createTray } from './tray.js';
import { guardAllContents, guardSession } from './web-guards.js';

/** For everything to stop, the hand-over to a headless controller included. */
const stopDeadlineMs = 30_000;

/** The page's own background colours (its tokens), so that the window does not flash before the page is drawn. */
const background = { light: '#ffffff', dark: '#1b1c20' } as const;

export interface DesktopInput {
  readonly home: Home;
  readonly start: StartArguments;
  readonly log: RotatingLog;
  readonly settingsFile: string;
}

const secondStartSchema = z.object({ argv: z.array(z.string()) });

export function startDesktop({ home, start, log, settingsFile }: DesktopInput): void {
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
  let stopQueue = false;

  /** The one way out: hides the window at once, stops the parts backwards, ends the process. */
  const leave = (exitCode: number): void => {
    if (leavingWith !== null) return;
    leavingWith = exitCode;
    leaving.begin();
    window.hide();
    void lifecycle.stop(stopDeadlineMs).then(() => {
      log.write('info', `Left with exit code ${exitCode}.`);
      app.exit(exitCode);
    });
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
    settings: settings.get,
    keepChoice: (choice) => settings.change({ closeToTray: choice }),
    unfinishedJobs: () => watch?.unfinishedJobs() ?? null,
    runningJobs: () => watch?.state().counts?.running ?? 0,
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
    place: settings.window,
    rememberPlace: settings.rememberWindow,
    created: (contents) => ports?.watch(contents),
    closing: leaving.windowCloses,
    log: write,
    nowMs: Date.now,
  });
  const rule = { isKnownWindow: window.isOurs, isOurPage: isAppUrl };
  let ports: ReturnType<typeof serveFramePorts> | undefined;
  let watch: ReturnType<typeof startClusterWatch> | undefined;

  const openJob = (jobId: string): void => {
    window.command({ kind: 'open-job', jobId });
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

  app.on('second-instance', (_event, _argv, _folder, data) => {
    const parsed = secondStartSchema.safeParse(data);
    obey(parseArguments(parsed.success ? parsed.data.argv : []));
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
    log.write('error', `The start failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    process.stderr.write(`Iris Desktop cannot start: ${String(error)}\n`);
    leave(1);
  });

  async function run(): Promise<void> {
    await app.whenReady();
    log.write('info', `Iris Desktop ${appVersion} on ${runtime}, pid ${process.pid}, data folder ${home.root}.`);
    await lifecycle.step('theme', () => {
      const apply = () => {
        nativeTheme.themeSource = settings.get().theme;
      };
      apply();
      const leaveTheme = settings.onChange((changed) => {
        apply();
        window.command({ kind: 'settings-changed', settings: changed });
      });
      return { value: undefined, dispose: () => void leaveTheme() };
    });
    await lifecycle.step('page', () => {
      guardSession(session.defaultSession, warn, !app.isPackaged);
      const leaveContents = guardAllContents(app, {
        log: warn,
        openExternal: (url) => {
          openExternal(url, window.browserWindow(), warn).catch((error: unknown) => warn(String(error)));
        },
      });
      const leaveApp = serveApp(session.defaultSession, join(appFolder, 'out', 'renderer'), warn);
      return {
        value: undefined,
        dispose: () => {
          leaveApp();
          leaveContents();
        },
      };
    });
    const link = await lifecycle.step('controller', () => {
      const made = startControllerLink({
        connectOrStart: () =>
          connectOrStart({
            home,
            appVersion,
            runtime: runtimeName(),
            workerModule: pathToFileURL(builtModule('controller-worker')),
          }),
        appVersion,
        log: write,
        nowMs: Date.now,
      });
      return { value: made, dispose: () => stopController(made) };
    });
    const client = await lifecycle.step('client', () => {
      const made = createShellClient(link);
      return {
        value: made,
        dispose: async () => {
          if (stopQueue && link.kind() === 'attached') {
            await made.call('shutdown', { reason: 'the user stopped the queue' }).catch((error: unknown) => warn(String(error)));
          }
          made.close();
        },
      };
    });
    await lifecycle.step('requests', () => {
      const made = serveFramePorts({ rule, openClient: link.openClient, log: warn });
      ports = made;
      const leaveHandlers = handleRequests(
        bridgeRequests({ home, settings, client, leaving, window: window.browserWindow }),
        rule,
        warn,
      );
      const leaveListening = onPageListening(rule, warn, window.pageListens);
      return {
        value: undefined,
        dispose: () => {
          leaveListening();
          leaveHandlers();
          made.close();
        },
      };
    });
    setAppMenu(
      {
        newJob,
        palette: () => window.command({ kind: 'palette' }),
        about: () => {
          void showAbout(
            { appVersion, runtime, home: home.root, logFile: log.file, notificationsSupported: Notification.isSupported() },
            window.browserWindow(),
          );
        },
        showLogFolder: () => shell.showItemInFolder(log.file),
        retryController: link.retry,
        quit: leaving.quitChosen,
      },
      process.platform,
      !app.isPackaged,
    );
    await lifecycle.step('window', () => {
      obey(start);
      return { value: undefined, dispose: () => window.destroy() };
    });

    let shown: ClusterState | null = null;
    const tray = createTray(electronTray(icons, process.platform), act);
    const drawTray = () => {
      if (leavingWith === null) tray.show(renderTray(trayInput(shown, link.failure() !== null, settings.get().notificationsPaused)));
    };
    await lifecycle.step('tray', () => {
      drawTray();
      const leaveSettings = settings.onChange(drawTray);
      watch = startClusterWatch(
        client,
        (state) => {
          shown = state;
          drawTray();
        },
        timer,
      );
      const made = watch;
      return {
        value: undefined,
        dispose: () => {
          made.close();
          leaveSettings();
          tray.destroy();
        },
      };
    });
    await lifecycle.step('notifications', () => ({
      value: undefined,
      dispose: startNotifications({
        client,
        supported: () => Notification.isSupported(),
        paused: () => settings.get().notificationsPaused,
        show: (text, clicked) => showNotification(text, appIcon, clicked, warn),
        open: (jobId) => (jobId === null ? window.show() : openJob(jobId)),
        nowMs: Date.now,
        setTimer: timer,
        log: warn,
      }),
    }));
    if (start.example) await runExample();

    function act(action: TrayAction): void {
      switch (action.kind) {
        case 'show':
          window.show();
          return;
        case 'new-job':
          newJob();
          return;
        case 'open-job':
          openJob(action.jobId);
          return;
        case 'stop-job':
          void stopJob(action.jobId, action.name);
          return;
        case 'retry-controller':
          link.retry();
          return;
        case 'pause-notifications':
          settings.change({ notificationsPaused: action.paused });
          return;
        case 'quit':
          leaving.quitChosen();
          return;
      }
    }

    async function stopJob(jobId: string, name: string): Promise<void> {
      const { response } = await dialog.showMessageBox({
        type: 'question',
        message: `Stop ${name}?`,
        detail: 'Its log and results stay.',
        buttons: [`Stop ${name}`, 'Cancel'],
        defaultId: 1,
        cancelId: 1,
      });
      if (response !== 0) return;
      try {
        const { results } = await client.call('job.stop', { requestId: randomUUID(), jobIds: [jobId] });
        const refused = results[0]?.refusal ?? null;
        if (refused !== null) dialog.showErrorBox(`${name} was not stopped`, refused.message);
      } catch (error) {
        dialog.showErrorBox(`${name} was not stopped`, error instanceof Error ? error.message : String(error));
      }
    }

    async function runExample(): Promise<void> {
      // Read only when asked for: it brings the reader of YAML with it.
      const example = await import('./example.js');
      const options = {
        client,
        examplesFolder: join(appFolder, 'examples'),
        openJob,
        print: (line: string) => void process.stdout.write(`${line}\n`),
      };
      try {
        const jobId = await example.submitExample(options);
        if (!unattended) return;
        const exitCode = await example.reportExample(options, jobId);
        const contents = window.browserWindow()?.webContents;
        if (contents !== undefined) {
          const picture = join(home.root, 'example.png');
          await example.saveScreenshot(contents, picture);
          options.print(`Screenshot: ${picture}`);
        }
        leave(exitCode);
      } catch (error) {
        process.stderr.write(`The example failed: ${error instanceof Error ? error.message : String(error)}\n`);
        if (unattended) leave(1);
      }
    }
  }

  async function stopController(link: ReturnType<typeof startControllerLink>): Promise<void> {
    const kind = await link.stop('the desktop quits');
    // Not known counts as unfinished: a host too many ends nothing, a host too few leaves jobs waiting for ever.
    if (kind !== 'own' || stopQueue || watch?.unfinishedJobs() === 0) return;
    try {
      await handOver(home, process.execPath);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.write('error', `No headless controller took over: ${reason}`);
      if (!unattended) {
        dialog.showErrorBox(
          'Nothing watches the queue now',
          `Running jobs keep running, but waiting ones do not start until Iris Desktop or irisctl runs again: ${reason}`,
        );
      }
    }
  }
}

function timer(run: () => void, ms: number): () => void {
  const handle = setTimeout(run, ms);
  return () => clearTimeout(handle);
}

function trayInput(state: ClusterState | null, failed: boolean, notificationsPaused: boolean): TrayInput {
  const counts = state?.counts ?? null;
  return {
    state: failed ? 'failed' : state === null || !state.seen ? 'starting' : state.problem === null ? 'connected' : 'lost',
    running: counts?.running ?? 0,
    waiting: counts?.waiting ?? 0,
    failedUnseen: counts?.failedUnseen ?? 0,
    runningJobs: state?.runningJobs ?? [],
    notificationsPaused,
  };
}
