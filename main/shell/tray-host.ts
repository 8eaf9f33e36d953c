/**
 * Whether a tray icon would be seen. macOS and Windows always have a place for it; on Linux somebody must own the notifier watcher's name on
 * the session bus, or the X tray's selection. Not known counts as no: a window must never vanish where nothing can bring it back.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { hasSelectionOwner, parseDisplay } from './x11-selection.js';

const watcherName = 'org.kde.StatusNotifierWatcher';
const timeoutMs = 1500;

/** Tools that can ask the bus, by absolute path: which of them is there differs between systems. */
const busTools: readonly { readonly file: string; readonly args: readonly string[] }[] = [
  {
    file: '/usr/bin/gdbus',
    args: [
      'call',
      '--session',
      '--dest',
      'org.freedesktop.DBus',
      '--object-path',
      '/org/freedesktop/DBus',
      '--method',
      'org.freedesktop.DBus.NameHasOwner',
      watcherName,
    ],
  },
  {
    file: '/usr/bin/busctl',
    args: [
      '--user',
      'call',
      'org.freedesktop.DBus',
      '/org/freedesktop/DBus',
      'org.freedesktop.DBus',
      'NameHasOwner',
      's',
      watcherName,
    ],
  },
  {
    file: '/usr/bin/dbus-send',
    args: [
      '--session',
      '--print-reply',
      '--dest=org.freedesktop.DBus',
      '/org/freedesktop/DBus',
      'org.freedesktop.DBus.NameHasOwner',
      `string:${watcherName}`,
    ],
  },
];

export async function hasTrayHost(
  platform: NodeJS.Platform = process.platform,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<boolean> {
  if (platform !== 'linux') return true;
  const [bus, selection] = await Promise.all([watcherOnBus(env), traySelection(env)]);
  return bus || selection;
}

async function traySelection(env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  const screen = parseDisplay(env['DISPLAY'] ?? '')?.screen ?? 0;
  return (await hasSelectionOwner(`_NET_SYSTEM_TRAY_S${screen}`, env, timeoutMs)) === true;
}

async function watcherOnBus(env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  // Without an address the tools might start a bus of their own, on which nobody ever is.
  if ((env['DBUS_SESSION_BUS_ADDRESS'] ?? '') === '' && (env['XDG_RUNTIME_DIR'] ?? '') === '') return false;
  for (const tool of busTools) {
    if (!existsSync(tool.file)) continue;
    const text = await output(tool.file, tool.args, env);
    if (text !== null) return /\btrue\b/.test(text);
  }
  return false;
}

function output(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(file, [...args], { timeout: timeoutMs, env, encoding: 'utf8' }, (error, stdout) => {
      resolve(error === null ? stdout : null);
    });
  });
}
