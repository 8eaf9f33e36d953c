/** Notifications as a real daemon is given them, and the tray as a real one draws it. */
import { readFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { listenForNotifications, startTray } from '../harness/desktop-services.js';
import { expect, submit, test } from '../harness/electron.js';

test('each root job that ends is told once, above three in ten seconds together, paused not at all', async ({
  desktop,
}) => {
  const ear = await listenForNotifications();
  try {
    const client = await desktop.client();
    await expect(desktop.page.getByText('0 running').first()).toBeVisible();
    await submit(client, 'good', 'echo fine');
    await expect.poll(() => ear.heard().map((told) => told.title)).toEqual(['good succeeded']);
    const bad = await submit(client, 'bad', 'exit 3');
    await expect.poll(() => ear.heard().map((told) => told.title)).toEqual(['good succeeded', 'bad failed']);
    expect(ear.heard()[1]?.body).toContain('3');
    await submit(client, 'third', 'true');
    for (const name of ['fourth', 'fifth']) await submit(client, name, 'true');
    await expect
      .poll(() => ear.heard().map((told) => told.title), { timeout: 15_000 })
      .toEqual([
        'good succeeded',
        'bad failed',
        expect.stringMatching(/succeeded$/),
        '2 jobs ended: 2 succeeded',
      ]);

    await desktop.page.evaluate(() =>
      (
        window as unknown as { irisDesktop: { setSettings(change: object): Promise<unknown> } }
      ).irisDesktop.setSettings({ notificationsPaused: true }),
    );
    const before = ear.heard().length;
    const quiet = await submit(client, 'quiet', 'true');
    await client.until('job', { jobId: quiet }, (value) => stateOf(value) === 'SUCCEEDED');
    const { items } = await client.call('inbox.list', { limit: 20 });
    expect(items).toHaveLength(6);
    expect(items[0]).toMatchObject({ jobId: quiet, read: false });
    expect(items.find((item) => item.jobId === bad)).toMatchObject({ state: 'FAILED' });
    client.close();
    // What is not told cannot be waited for; what comes after it can.
    await desktop.page.evaluate(() =>
      (
        window as unknown as { irisDesktop: { setSettings(change: object): Promise<unknown> } }
      ).irisDesktop.setSettings({ notificationsPaused: false }),
    );
    expect(ear.heard()).toHaveLength(before);
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

/** Names of all windows on the display. */
async function trayWindows(): Promise<string> {
  const { stdout } = await promisify(execFile)('xwininfo', ['-root', '-tree']);
  return stdout.toLowerCase();
}

function stateOf(value: unknown): string {
  return (value as { summary: { state: string } }).summary.state;
}
