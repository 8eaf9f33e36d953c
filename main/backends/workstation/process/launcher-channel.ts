/** One launcher process as the backend's side sees it: either kind, from its start to its end. */
import type { ChildProcess } from 'node:child_process';
import type { LauncherEvent, LauncherSetup, StartItem } from './launcher-protocol.js';

/** What a fork server is written in; the quicker one first. */
export const forkServerKinds = ['python', 'perl'] as const;
export type ForkServerKind = (typeof forkServerKinds)[number];

/** How a launcher is run: a fork server, or the launcher of Node. */
export interface LauncherCommand {
  readonly kind: ForkServerKind | 'node';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ChannelOptions {
  readonly launcher: LauncherCommand;
  readonly setup: LauncherSetup;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** It can start attempts. */
  readonly onReady: () => void;
  readonly onEvents: (events: readonly LauncherEvent[]) => void;
  /** It lives no more, or cannot be talked to. Told once, and nothing after it. */
  readonly onLost: (why: string) => void;
}

export interface LauncherChannel {
  readonly pid: number | undefined;
  /** Not before it is ready. */
  start(items: readonly StartItem[]): void;
  kill(): void;
  /** Lets it go; nothing is told any more. Resolves when it has ended. */
  close(): Promise<void>;
}

const leaveMs = 2000;

/** `letGo` asks it to end by itself. */
export function endLauncher(child: ChildProcess, letGo: () => void): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null)
    return Promise.resolve();
  return new Promise((resolve) => {
    const force = setTimeout(() => child.kill('SIGKILL'), leaveMs);
    child.once('exit', () => {
      clearTimeout(force);
      resolve();
    });
    letGo();
  });
}
