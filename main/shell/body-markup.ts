/** Linux' notification daemons may read a notification's body as mark-up, and say so when asked. Its title is plain text everywhere. */
import { askSessionBus, type BusEnvironment } from './session-bus.js';

const timeoutMs = 1500;

/** Whether the daemon's list of what it can do, as some tool prints it, has mark-up in it. */
export function listsMarkup(printed: string): boolean {
  return /['"]body-markup['"]/.test(printed);
}

export function escapeMarkup(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** Null: cannot be told now. */
export async function readsMarkup(
  platform: NodeJS.Platform = process.platform,
  env: BusEnvironment = process.env,
): Promise<boolean | null> {
  if (platform !== 'linux') return false;
  const printed = await askSessionBus(
    {
      name: 'org.freedesktop.Notifications',
      path: '/org/freedesktop/Notifications',
      interface: 'org.freedesktop.Notifications',
      method: 'GetCapabilities',
    },
    env,
    timeoutMs,
  );
  return printed === null ? null : listsMarkup(printed);
}

/**
 * Bodies as the daemon takes them, in the order they are asked for. It is asked once it answers; where it does not, nearly all of them
 * read mark-up, and a name that is taken for it would be lost or become a link.
 */
export function createBodies(ask: () => Promise<boolean | null>): (body: string) => Promise<string> {
  let known: Promise<boolean | null> | null = null;
  return async (body) => {
    known ??= ask();
    const reads = await known;
    if (reads === null) known = null;
    return reads === false ? body : escapeMarkup(body);
  };
}
