/** The desktop's services as real programs on the display and bus of the tests: a tray, a notification daemon, an ear on the bus. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from '@playwright/test';
import { hasSelectionOwner } from '../../main/shell/x11-selection.js';

export interface Service {
  stop(): Promise<void>;
}

function stopper(child: ChildProcess): Service {
  return {
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export async function startTray(): Promise<Service> {
  const child = spawn('trayer', ['--edge', 'bottom', '--align', 'right', '--widthtype', 'request'], {
    stdio: 'ignore',
  });
  const failed = once(child, 'error').then(([error]) => {
    throw error;
  });
  const ready = expect
    .poll(() => hasSelectionOwner('_NET_SYSTEM_TRAY_S0', process.env, 1000), {
      message: 'trayer owns the tray',
    })
    .toBe(true);
  await Promise.race([ready, failed]);
  const service = stopper(child);
  return {
    async stop() {
      await service.stop();
      await expect.poll(() => hasSelectionOwner('_NET_SYSTEM_TRAY_S0', process.env, 1000)).toBe(false);
    },
  };
}

export interface NotificationEar extends Service {
  /** Title and body of each notification shown since, in order. */
  heard(): readonly { readonly title: string; readonly body: string }[];
}

/** Listens to what is shown. The daemon (dunst) is started by the bus itself when it is first asked. */
export async function listenForNotifications(): Promise<NotificationEar> {
  const child = spawn(
    'dbus-monitor',
    ['--session', "type='method_call',interface='org.freedesktop.Notifications',member='Notify'"],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const calls: string[][] = [];
  let connected: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    connected = resolve;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    // The monitor's own connection is announced first.
    connected();
    if (line.includes('member=Notify')) calls.push([]);
    const text = /^ {3}string "(.*)"$/.exec(line);
    if (text?.[1] !== undefined) calls.at(-1)?.push(text[1]);
  });
  await ready;
  return {
    ...stopper(child),
    // The strings of a call in order: application, icon, title, body.
    heard: () =>
      calls
        .filter((strings) => strings.length >= 4)
        .map((strings) => ({ title: strings[2] ?? '', body: strings[3] ?? '' })),
  };
}
