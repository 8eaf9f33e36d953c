/**
 * The backend's side of its launcher: runs one at the first need, keeps it alive, and sends again what a dead one had not
 * confirmed. Of several kinds the first that works here serves.
 */
import { attemptFolder, silentStart, type Refusal } from './attempt-start.js';
import { fence } from './claim.js';
import { messageOf } from './error-code.js';
import { openForkServer } from './fork-server.js';
import { HangingStarts } from './hanging-starts.js';
import type { LauncherChannel, LauncherCommand } from './launcher-channel.js';
import type { LauncherEvent, LauncherSetup, StartItem } from './launcher-protocol.js';
import { openNodeLauncher } from './node-launcher.js';
import { StartLooks } from './start-looks.js';

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
  /** A launcher that was asked to start something and says nothing for so long is replaced. */
  readonly silenceMs?: number | undefined;
  /** The table of mounts, which tells where a start may hang. */
  readonly mountInfo?: (() => string) | undefined;
  readonly onEvents: (events: readonly LauncherEvent[]) => void;
  /** A launcher died: what it watched has to be watched otherwise. */
  readonly onLost: () => void;
}

const firstRetryMs = 20;
const longestRetryMs = 5000;
const usualSilenceMs = 30_000;
const looksInSilence = 6;
/** One of several that is not ready by then does not work here. */
const readyLooks = 2;

export function createLauncherLink(options: LinkOptions): LauncherLink {
  const { log, monotonicMs, setup } = options;
  const silenceMs = options.silenceMs ?? usualSilenceMs;
  const hanging = new HangingStarts(setup);
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
  /** It is replaced because it hangs at what it was asked to start. */
  let hangs = false;

  function open(): void {
    retryTimer = null;
    const launcher = launchers[0];
    if (closed || launcher === undefined) return;
    quietLooks = 0;
    hanging.opened();
    const openOne = launcher.kind === 'node' ? openNodeLauncher : openForkServer;
    channel = openOne({
      launcher,
      setup,
      nowMs: options.nowMs,
      monotonicMs,
      onReady: () => {
        ready = true;
        proved = true;
        quietLooks = 0;
        retryMs = firstRetryMs;
        if (unconfirmed.size > 0) send([...unconfirmed.values()]);
      },
      onEvents: (events) => {
        quietLooks = 0;
        for (const { uid } of events) {
          unconfirmed.delete(uid);
          hanging.heard(uid);
        }
        options.onEvents(events);
      },
      onLost: lost,
    });
  }

  function send(items: readonly StartItem[]): void {
    hanging.sent(items);
    channel?.start(items);
  }

  /**
   * All others come first with the next launcher. What is to run in the same folder is looked at by a child; where that is not known
   * to be needed it comes last, and is given up when that launcher hangs as well.
   */
  function passOver(): void {
    const at = hanging.at();
    // Nobody may want it any more.
    if (at === null || !unconfirmed.has(at.uid)) return;
    const alike = [...unconfirmed.values()].filter(({ folder }) => folder === at.folder);
    const isOver = hanging.again(at.uid);
    for (const item of alike) {
      unconfirmed.delete(item.uid);
      looks.doubt(item);
    }
    const rest = isOver ? giveUp(alike) : looks.pass(alike);
    for (const item of rest) unconfirmed.set(item.uid, item);
  }

  /** Those that cannot be given up, since somebody runs them by now. */
  function giveUp(items: readonly StartItem[]): readonly StartItem[] {
    const over = new Set(items.filter(({ uid }) => isFenced(uid)));
    const refused = [...over].map(({ uid, folder }): Refusal => {
      const cause = silentStart(folder, (2 * silenceMs) / 1000, null);
      return { kind: 'refused', uid, cause, exitCode: null, fault: false };
    });
    if (refused.length > 0) options.onEvents(refused);
    return items.filter((item) => !over.has(item));
  }

  function ask(items: readonly StartItem[]): void {
    if (closed || items.length === 0) return;
    if (unconfirmed.size === 0) quietLooks = 0;
    for (const item of items) unconfirmed.set(item.uid, item);
    if (ready) send(items);
  }

  const looks = new StartLooks({
    monotonicMs,
    patienceMs: 2 * silenceMs,
    searchPath: setup.loginEnvironment['PATH'],
    mountInfo: options.mountInfo,
    onAnswer: ask,
    onSilence: (item) => ask(giveUp([item])),
  });

  /** Then no launcher that comes to it late can run it. */
  function isFenced(uid: string): boolean {
    try {
      return fence(attemptFolder(setup, uid));
    } catch (error) {
      log.warn('A start that hangs cannot be given up', { uid, error: messageOf(error) });
      return false;
    }
  }

  function lost(why: string): void {
    const wasReady = ready;
    channel = null;
    ready = false;
    if (closed) return;
    if (hangs) passOver();
    hangs = false;
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
  const silence = setInterval(() => setImmediate(look), silenceMs / looksInSilence);
  silence.unref();

  function look(): void {
    if (channel === null) return;
    quietLooks += 1;
    const patience = proved || launchers.length === 1 ? looksInSilence : readyLooks;
    if ((ready && unconfirmed.size === 0) || quietLooks < patience) return;
    log.error('The launcher does not answer and is replaced', { pid: channel.pid });
    hangs = ready;
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
      ask(looks.pass(items));
    },
    forget: (uid) => {
      looks.forget(uid);
      unconfirmed.delete(uid);
      hanging.forget(uid);
    },
    pid: () => channel?.pid ?? null,
    close: () => {
      closed = true;
      looks.close();
      clearInterval(silence);
      if (retryTimer !== null) clearTimeout(retryTimer);
      if (first !== null) clearTimeout(first);
      const last = channel;
      channel = null;
      return last === null ? Promise.resolve() : last.close();
    },
  };
}
