/** The tray at work: kept as the cluster is, its actions carried out. */
import { dialog } from 'electron';
import { randomUUID } from 'node:crypto';
import { startClusterWatch, type ClusterState, type ClusterWatch } from './cluster-watch.js';
import { createPaced } from './paced.js';
import type { SettingsStore } from './settings.js';
import type { ShellClient } from './shell-client.js';
import { renderTray, stopQuestion, type TrayAction, type TrayIcon, type TrayInput } from './tray-model.js';
import { createTray, type TrayLike } from './tray.js';

/** A new menu costs the main thread several milliseconds and closes the one being read; counts come ten times a second. */
const drawGapMs = 1000;

export interface TrayOptions {
  readonly makeTray: (icon: TrayIcon) => TrayLike;
  readonly client: ShellClient;
  readonly settings: SettingsStore;
  /** There is no controller and none will be tried. */
  readonly controllerFailed: () => boolean;
  readonly actions: {
    readonly show: () => void;
    readonly newJob: () => void;
    readonly openJob: (jobId: string) => void;
    readonly retryController: () => void;
    readonly quit: () => void;
  };
  readonly setTimer: (run: () => void, ms: number) => () => void;
  readonly log: (line: string) => void;
}

export function startTray(options: TrayOptions): { readonly watch: ClusterWatch; stop(): void } {
  const { client, settings, actions } = options;
  let known: ClusterState | null = null;
  let stopped = false;
  const tray = createTray(options.makeTray, act, (error) => {
    const reason = error instanceof Error ? error.message : String(error);
    options.log(`A choice in the tray failed: ${reason}`);
    dialog.showErrorBox('That was not done', reason);
  });

  function draw(): void {
    if (stopped) return;
    const { notificationsPaused } = settings.get();
    tray.show(renderTray(trayInput(known, options.controllerFailed(), notificationsPaused)));
  }

  function act(action: TrayAction): void {
    switch (action.kind) {
      case 'show':
        actions.show();
        return;
      case 'new-job':
        actions.newJob();
        return;
      case 'open-job':
        actions.openJob(action.jobId);
        return;
      case 'stop-job':
        void stopJob(client, action.jobId, action.name);
        return;
      case 'retry-controller':
        actions.retryController();
        return;
      case 'pause-notifications':
        settings.change({ notificationsPaused: action.paused });
        return;
      case 'quit':
        actions.quit();
        return;
    }
  }

  draw();
  const leaveSettings = settings.onChange(draw);
  const drawing = createPaced(draw, drawGapMs, options.setTimer);
  const watch = startClusterWatch(
    client,
    (state) => {
      known = state;
      drawing.run();
    },
    options.setTimer,
  );
  return {
    watch,
    stop() {
      stopped = true;
      watch.close();
      drawing.stop();
      leaveSettings();
      tray.destroy();
    },
  };
}

async function stopJob(client: Pick<ShellClient, 'call'>, jobId: string, name: string): Promise<void> {
  const words = stopQuestion(name);
  const { response } = await dialog.showMessageBox({
    type: 'question',
    message: words.title,
    detail: words.detail,
    buttons: [words.stop, 'Cancel'],
    defaultId: 1,
    cancelId: 1,
  });
  if (response !== 0) return;
  try {
    const { results } = await client.call('job.stop', { requestId: randomUUID(), jobIds: [jobId] });
    const refused = results[0]?.refusal ?? null;
    if (refused !== null) dialog.showErrorBox(words.failed, refused.message);
  } catch (error) {
    dialog.showErrorBox(words.failed, error instanceof Error ? error.message : String(error));
  }
}

function trayInput(state: ClusterState | null, failed: boolean, notificationsPaused: boolean): TrayInput {
  return {
    state: failed ? 'failed' : connectionOf(state),
    running: state?.counts?.running ?? 0,
    waiting: state?.counts?.waiting ?? 0,
    failedUnseen: state?.counts?.failedUnseen ?? 0,
    runningJobs: state?.runningJobs ?? [],
    notificationsPaused,
  };
}

function connectionOf(state: ClusterState | null): 'starting' | 'connected' | 'lost' {
  if (state === null || !state.seen) return 'starting';
  return state.problem === null ? 'connected' : 'lost';
}
