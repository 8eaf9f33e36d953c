/** Notifications as a real daemon is given them, and the tray as a real one draws it. */
import { readFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { listenForNotifications, startTray } from '../harness/desktop-services.js';
import { expect, submit, test } from '../harness/electron.js';

test('each root job that ends is told once, alone or, when many end together, with others', async ({
  desktop,
}) => {
  const ear = await listenForNotifications();
  const titles = () => ear.heard().map((told) => told.title);
  try {
    const client = await desktop.client();
    await expect(desktop.page.getByText('0 running').first()).toBeVisible();
    await submit(client, 'good', 'echo fine');
    await expect.poll(titles).toEqual(['good succeeded']);
    const bad = await submit(client, 'bad', 'exit 3');
    await expect.poll(titles).toEqual(['good succeeded', 'bad failed']);
    expect(ear.heard()[1]?.body).toContain('3');

    const names = Array.from({ length: 8 }, (_, index) => `many-${index}`);
    await Promise.all(names.map((name) => submit(client, name, 'true')));
    const many = () => titles().slice(2);
    // How many are told alone depends on how fast this machine is; that each is told once does not.
    await expect
      .poll(() => many().reduce((sum, title) => sum + toldBy(title), 0), { timeout: 45_000 })
      .toBe(8);
    expect(many().some((title) => toldBy(title) > 1)).toBe(true);
    const alone = many().filter((title) => toldBy(title) === 1);
    expect(new Set(alone).size).toBe(alone.length);
    for (const title of alone) expect(title).toMatch(/^many-\d succeeded$/);

    const { items } = await client.call('inbox.list', { limit: 20 });
    expect(items).toHaveLength(10);
    expect(items.find((item) => item.jobId === bad)).toMatchObject({ state: 'FAILED', read: false });
    client.close();
  } finally {
    await ear.stop();
  }
});

test('paused notifications are kept in the list and never shown', async ({ desktop }) => {
  const ear = await listenForNotifications();
  try {
    const { page } = desktop;
    const client = await desktop.client();
    await expect(page.getByText('0 running').first()).toBeVisible();
    await pauseNotifications(page, true);
    const quiet = await submit(client, 'quiet', 'true');
    await expect(page.getByRole('button', { name: '1 unread notification', exact: true })).toBeVisible();
    const { items } = await client.call('inbox.list', { limit: 20 });
    expect(items.map((item) => item.jobId)).toEqual([quiet]);
    await pauseNotifications(page, false);
    // What is not told cannot be waited for; what comes after it can.
    await submit(client, 'loud', 'true');
    await expect.poll(() => ear.heard().map((told) => told.title)).toEqual(['loud succeeded']);
    client.close();
  } finally {
    await ear.stop();
  }
});

test('the tray draws the icon', async ({ desktop }) => {
  const tray = await startTray();
  try {
    await expect(desktop.page.getByText('0 running').first()).toBeVisible();
    // A window of the application's in a slot of the tray's panel.
    await expect.poll(trayWindows).toMatch(/"panel" "trayer"[^]*24x24[^]*"electron"\) +24x24/);
  } finally {
    await tray.stop();
  }
});

test('About and the settings say what runs and whether notifications are shown', async ({ desktop }) => {
  const info = await desktop.page.evaluate(() =>
    (window as unknown as { irisDesktop: { info(): Promise<Record<string, unknown>> } }).irisDesktop.info(),
  );
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(info).toMatchObject({
    appVersion: version,
    platform: 'linux',
    shortcutModifier: 'Ctrl',
    notificationsSupported: true,
  });
  expect(String(info['runtime'])).toMatch(/^Electron \d+\.\d+\.\d+$/);
  expect(['npm', 'fallback']).toContain(info['runtimeKind']);
});

/** How many ends one notification tells of. */
function toldBy(title: string): number {
  const several = /^(\d+) jobs ended: /.exec(title);
  return several === null ? 1 : Number(several[1]);
}

async function pauseNotifications(page: Page, paused: boolean): Promise<void> {
  await page.evaluate(
    (wanted) =>
      (
        window as unknown as { irisDesktop: { setSettings(change: object): Promise<unknown> } }
      ).irisDesktop.setSettings({ notificationsPaused: wanted }),
    paused,
  );
}

/** Names of all windows on the display. */
async function trayWindows(): Promise<string> {
  const { stdout } = await promisify(execFile)('xwininfo', ['-root', '-tree']);
  return stdout.toLowerCase();
}
