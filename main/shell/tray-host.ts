/**
 * Whether a tray icon would be seen. macOS and Windows always have a place for it; on Linux somebody must own the notifier watcher's name on
 * the session bus, or the X tray's selection. Not known counts as no: a window must never vanish where nothing can bring it back.
 */
import { askSessionBus, type BusEnvironment } from './session-bus.js';
import { hasSelectionOwner, parseDisplay } from './x11-selection.js';

const watcherName = 'org.kde.StatusNotifierWatcher';
/** Rather late than no: without a tray the window that is closed takes the application with it. */
const timeoutMs = 5000;

export async function hasTrayHost(
  platform: NodeJS.Platform = process.platform,
  env: BusEnvironment = process.env,
): Promise<boolean> {
  if (platform !== 'linux') return true;
  const [bus, selection] = await Promise.all([watcherOnBus(env), traySelection(env)]);
  return bus || selection;
}

async function traySelection(env: BusEnvironment): Promise<boolean> {
  const screen = parseDisplay(env['DISPLAY'] ?? '')?.screen ?? 0;
  return (await hasSelectionOwner(`_NET_SYSTEM_TRAY_S${screen}`, env, timeoutMs)) === true;
}

async function watcherOnBus(env: BusEnvironment): Promise<boolean> {
  const printed = await askSessionBus(
    {
      name: 'org.freedesktop.DBus',
      path: '/org/freedesktop/DBus',
      interface: 'org.freedesktop.DBus',
      method: 'NameHasOwner',
      text: watcherName,
    },
    env,
    timeoutMs,
  );
  return printed !== null && /\btrue\b/.test(printed);
}
