/**
 * The backend's side of its launcher: runs one at the first need, keeps it alive, and sends again what a dead one had not
 * confirmed. Of several kinds the first that works here serves.
 */
import { openForkServer } from './fork-server.js';
import type { LauncherChannel, LauncherCommand } from './launcher-channel.js';
import type { LauncherEvent, LauncherSetup, StartItem } from './launcher-protocol.js';
import { openNodeLauncher } from './node-launcher.js';

export interface LinkLog {
  info(message: string, detail?: Readonly<Record<string, unknown>>): void;
  warn(message: string, detail?: Readonly<Record<string, unknown>>): void;
  error(message: string, detail?: Readonly<Record<string, unknown>>): void;
}

export interface LauncherLink {
  start(items: readonly StartItem[]): void;
  /** Takes back a start that was not confirmed. It may have happened all the same. */
  forget(uid: string): void;
  /** Pid of the live launcher; null between two. */
  pid(): number | null;
  close(): Promise<void>;
}

export interface LinkOptions {
  /** In the order they are tried. */
  readonly launchers: readonly LauncherCommand[];
  readonly setup: LauncherSetup;
  readonly log: LinkLog;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** With nothing to start before, the launcher is run so much later. */
  readonly firstAfterMs: number;
  readonly onEvents: (events: readonly LauncherEvent[]) => void;
  /** A launcher died: what it watched has to be watched otherwise. */
  readonly onLost: () => void;
}

const firstRetryMs = 20;
const longestRetryMs = 5000;
/** A launcher that was asked to start something and says nothing for so long is replaced. */
const silenceMs = 30_000;
const lookEveryMs = 5000;
/** One of several that is not ready by then does not work here. */
const readyMs = 10_000;

export function createLauncherLink(options: LinkOptions): LauncherLink {
  const { log, monotonicMs } = options;
  const unconfirmed = new Map<string, StartItem>();
  const launchers = [...options.launchers];
  let channel: LauncherChannel | null = null;
  let ready = false;
  /** The first of the launchers has been ready before: then it works here, whatever happens to it. */
  let proved = false;
  let closed = false;
  let retryMs = firstRetryMs;
  let retryTimer: NodeJS.Timeout | null = null;
  /** Looks since something was heard. A thread that was kept busy has not looked, and so has missed nothing. */
  let quietLooks = 0;

  function open(): void {
    retryTimer = null;
    const launcher = launchers[0];
    if (closed || launcher === undefined) return;
    quietLooks = 0;
    const openOne = launcher.kind === 'node' ? openNodeLauncher : openForkServer;
    channel = openOne({
      launcher,
      setup: options.setup,
      nowMs: options.nowMs,
      monotonicMs,
      onReady: () => {
        ready = true;
        proved = true;
        quietLooks = 0;
        retryMs = firstRetryMs;
        if (unconfirmed.size > 0) channel?.start([...unconfirmed.values()]);
      },
      onEvents: (events) => {
        quietLooks = 0;
        for (const event of events) unconfirmed.delete(event.uid);
        options.onEvents(events);
      },
      onLost: lost,
    });
  }

  function lost(why: string): void {
    const wasReady = ready;
    channel = null;
    ready = false;
    if (closed) return;
    if (!proved && launchers.length > 1) {
      const launcher = launchers.shift();
      log.warn('A launcher does not work here; the next kind serves, which is slower', {
        command: launcher?.command,
        why,
      });
      open();
      return;
    }
    log.warn('The launcher is started again; attempts go on', { why, unconfirmed: unconfirmed.size });
    retryTimer = setTimeout(open, retryMs);
    retryMs = Math.min(longestRetryMs, retryMs * 2);
    if (wasReady) options.onLost();
  }

  // What has arrived is read first.
  const silence = setInterval(() => setImmediate(look), lookEveryMs);
  silence.unref();

  function look(): void {
    if (channel === null) return;
    quietLooks += 1;
    const patienceMs = proved || launchers.length === 1 ? silenceMs : readyMs;
    if ((ready && unconfirmed.size === 0) || quietLooks * lookEveryMs < patienceMs) return;
    log.error('The launcher does not answer and is replaced', { pid: channel.pid });
    channel.kill();
  }

  let first: NodeJS.Timeout | null = setTimeout(openFirst, options.firstAfterMs);
  function openFirst(): void {
    if (first === null) return;
    clearTimeout(first);
    first = null;
    open();
  }

  return {
    start: (items) => {
      openFirst();
      if (unconfirmed.size === 0) quietLooks = 0;
      for (const item of items) unconfirmed.set(item.uid, item);
      if (ready) channel?.start(items);
    },
    forget: (uid) => {
      unconfirmed.delete(uid);
    },
    pid: () => channel?.pid ?? null,
    close: () => {
      closed = true;
      clearInterval(silence);
      if (retryTimer !== null) clearTimeout(retryTimer);
      if (first !== null) clearTimeout(first);
      const last = channel;
      channel = null;
      return last === null ? Promise.resolve() : last.close();
    },
  };
}
