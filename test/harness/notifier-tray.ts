/** A tray as today's desktops have it: it owns the notifier watcher's name, is told of icons, and reads and clicks their menus over the bus. */
import { expect } from '@playwright/test';
import { variant, type DbusValue } from './dbus-wire.js';
import { connectSessionBus, type SessionBus } from './dbus.js';

export interface MenuEntry {
  readonly id: number;
  readonly label: string;
  readonly checked: boolean;
  readonly entries: readonly MenuEntry[];
}

export interface NotifierTray {
  /** The menu of the one icon there is, as it stands; empty before there is one. */
  menu(): Promise<readonly MenuEntry[]>;
  /** Clicks the entry under these labels, once it is there. */
  click(...labels: readonly string[]): Promise<void>;
  close(): void;
}

const watcher = 'org.kde.StatusNotifierWatcher';
const item = 'org.kde.StatusNotifierItem';
const dbusMenu = 'com.canonical.dbusmenu';
const properties = 'org.freedesktop.DBus.Properties';

export async function openNotifierTray(): Promise<NotifierTray> {
  const bus = await connectSessionBus();
  const icons: { readonly service: string; readonly path: string }[] = [];
  await bus.own(watcher, (call) => {
    if (call.member === 'RegisterStatusNotifierItem') {
      // An icon names itself or the path of its item at the caller.
      const name = String(call.args[0]);
      icons.push(
        name.startsWith('/')
          ? { service: call.sender, path: name }
          : { service: name, path: '/StatusNotifierItem' },
      );
      return { signature: '', values: [] };
    }
    if (call.interface === properties && call.member === 'Get') {
      const value = call.args[1] === 'ProtocolVersion' ? variant('i', 0) : variant('b', true);
      return { signature: 'v', values: [value] };
    }
    return null;
  });

  const menu = async (): Promise<readonly MenuEntry[]> => {
    const icon = icons.at(-1);
    if (icon === undefined) return [];
    const path = await menuPath(bus, icon);
    const [, root] = await bus.call(icon.service, path, `${dbusMenu}.GetLayout`, 'iias', [0, -1, []]);
    return entryOf(root).entries;
  };
  return {
    menu,
    async click(...labels) {
      const found: MenuEntry[] = [];
      const look = async () => {
        const entry = find(await menu(), labels);
        if (entry !== undefined) found.push(entry);
        return found.length;
      };
      await expect.poll(look, { message: `the tray's menu has ${labels.join(', ')}` }).toBeGreaterThan(0);
      const [entry] = found;
      const icon = icons.at(-1);
      if (entry === undefined || icon === undefined) throw new Error('not reached');
      const path = await menuPath(bus, icon);
      const event = [entry.id, 'clicked', variant('i', 0), 0];
      await bus.call(icon.service, path, `${dbusMenu}.Event`, 'isvu', event);
    },
    close: () => bus.close(),
  };
}

async function menuPath(bus: SessionBus, icon: { service: string; path: string }): Promise<string> {
  const [path] = await bus.call(icon.service, icon.path, `${properties}.Get`, 'ss', [item, 'Menu']);
  return String(path);
}

/** `(ia{sv}av)`: number, properties, entries below it. */
function entryOf(value: DbusValue): MenuEntry {
  const [id, list, below] = value as [number, [string, DbusValue][], DbusValue[]];
  const known = new Map(list);
  const label = known.get('label');
  return {
    id,
    // An underscore marks the access key.
    label: (typeof label === 'string' ? label : '').replace(/_(.)/g, '$1'),
    checked: known.get('toggle-state') === 1,
    entries: below.map(entryOf),
  };
}

function find(entries: readonly MenuEntry[], labels: readonly string[]): MenuEntry | undefined {
  const [first, ...rest] = labels;
  const entry = entries.find((candidate) => candidate.label === first);
  return rest.length === 0 || entry === undefined ? entry : find(entry.entries, rest);
}
