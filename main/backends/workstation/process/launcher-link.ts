/** The backend's side of the launcher: keeps one alive, sends starts, and sends again what a dead one had not confirmed. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { FromLauncher, LauncherEvent, LauncherSetup, StartItem } from './launcher-protocol.js';
import { messageOf } from './error-code.js';

export interface LauncherCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

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
  readonly launcher: LauncherCommand;
  readonly setup: LauncherSetup;
  readonly log: LinkLog;
  readonly monotonicMs: () => number;
  readonly onEvents: (events: readonly LauncherEvent[]) => void;
  /** A launcher died: what it watched has to be watched otherwise. */
  readonly onLost: () => void;
}

const firstRetryMs = 20;
const longestRetryMs = 5000;
/** A launcher that was asked to start something and says nothing for so long is replaced. */
const silenceMs = 30_000;

export function createLauncherLink(options: LinkOptions): LauncherLink {
  const { log, monotonicMs } = options;
  const unconfirmed = new Map<string, StartItem>();
  let child: ChildProcess | null = null;
  let ready = false;
  let closed = false;
  let retryMs = firstRetryMs;
  let retryTimer: NodeJS.Timeout | null = null;
  let heardAtMs = monotonicMs();

  function open(): void {
    retryTimer = null;
    if (closed) return;
    heardAtMs = monotonicMs();
    // A session of its own: what a terminal sends to the program in front of it is not meant for it.
    const next = spawn(options.launcher.command, options.launcher.args, {
      env: { ...options.launcher.env },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      detached: true,
    });
    child = next;
    next.on('message', (message: FromLauncher) => {
      if (child !== next) return;
      heardAtMs = monotonicMs();
      receive(message);
    });
    next.on('error', (error) => {
      if (child === next) lost(`the launcher could not be used: ${messageOf(error)}`);
    });
    next.on('exit', (code, signal) => {
      if (child === next) lost(`the launcher ended (${signal ?? `exit code ${code ?? 'unknown'}`})`);
    });
    post(options.setup);
  }

  function receive(message: FromLauncher): void {
    if (message.kind === 'ready') {
      ready = true;
      retryMs = firstRetryMs;
      if (unconfirmed.size > 0) post({ kind: 'start', items: [...unconfirmed.values()] });
      return;
    }
    for (const event of message.events) unconfirmed.delete(event.uid);
    options.onEvents(message.events);
  }

  function post(message: LauncherSetup | { kind: 'start'; items: readonly StartItem[] }): void {
    // A failure to send is followed by the end of the channel, which is handled there.
    child?.send(message, () => undefined);
  }

  function lost(why: string): void {
    const wasReady = ready;
    child = null;
    ready = false;
    if (closed) return;
    log.warn('The launcher is started again; attempts go on', { why, unconfirmed: unconfirmed.size });
    retryTimer = setTimeout(open, retryMs);
    retryMs = Math.min(longestRetryMs, retryMs * 2);
    if (wasReady) options.onLost();
  }

  const silence = setInterval(() => {
    if (child === null || unconfirmed.size === 0 || monotonicMs() - heardAtMs < silenceMs) return;
    log.error('The launcher does not answer and is replaced', { pid: child.pid });
    child.kill('SIGKILL');
  }, 5000);
  silence.unref();

  open();
  return {
    start: (items) => {
      if (unconfirmed.size === 0) heardAtMs = monotonicMs();
      for (const item of items) unconfirmed.set(item.uid, item);
      if (ready) post({ kind: 'start', items });
    },
    forget: (uid) => {
      unconfirmed.delete(uid);
    },
    pid: () => child?.pid ?? null,
    close: () => {
      closed = true;
      clearInterval(silence);
      if (retryTimer !== null) clearTimeout(retryTimer);
      const last = child;
      child = null;
      if (last === null || last.exitCode !== null || last.signalCode !== null) return Promise.resolve();
      return new Promise((resolve) => {
        const force = setTimeout(() => last.kill('SIGKILL'), 2000);
        last.once('exit', () => {
          clearTimeout(force);
          resolve();
        });
        if (last.connected) last.disconnect();
        else last.kill('SIGKILL');
      });
    },
  };
}
