/** The tray's own menu, read and clicked over the session bus as a desktop does it, and a click on a notification. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { listenForNotifications } from '../harness/desktop-services.js';
import { answerDialogs, askedDialogs } from '../harness/dialogs.js';
import {
  actInMain,
  ended,
  expect,
  inMain,
  launchDesktop,
  submit,
  test,
  type Desktop,
} from '../harness/electron.js';
import { openNotifierTray } from '../harness/notifier-tray.js';

test('the tray’s menu shows the window, makes and stops jobs, pauses notifications and quits', async ({
  root,
}) => {
  const tray = await openNotifierTray();
  try {
    const desktop = await launchDesktop(root);
    const { app, page } = desktop;
    await expect(page.getByText('0 running').first()).toBeVisible();
    const labels = async () =>
      (await tray.menu()).map((entry) => entry.label).filter((label) => label !== '');
    await expect
      .poll(labels)
      .toEqual([
        'Nothing running',
        'Show Iris Desktop',
        'New job',
        'Pause notifications',
        'Quit Iris Desktop',
      ]);

    await actInMain(app, ({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.hide());
    await expect.poll(() => isVisible(desktop)).toBe(false);
    await tray.click('Show Iris Desktop');
    await expect.poll(() => isVisible(desktop)).toBe(true);

    await tray.click('New job');
    await expect(page.getByRole('heading', { name: 'New job', level: 1 })).toBeVisible();

    const paused = async () =>
      (await tray.menu()).find((entry) => entry.label === 'Pause notifications')?.checked;
    await tray.click('Pause notifications');
    await expect.poll(paused).toBe(true);
    expect(await settingsOf(desktop)).toMatchObject({ notificationsPaused: true });
    await tray.click('Pause notifications');
    await expect.poll(paused).toBe(false);

    const client = await desktop.client();
    const jobId = await submit(client, 'endless', 'while :; do sleep 1; done');
    await tray.click('endless', 'Open');
    await expect(page.getByRole('heading', { name: 'endless', level: 1 })).toBeVisible();
    await answerDialogs(app, 'Cancel');
    await tray.click('endless', 'Stop endless');
    await expect.poll(() => askedDialogs(app)).toEqual(['Stop endless? Its log and results stay.']);
    expect((await client.call('job.get', { jobId })).summary.state).toBe('RUNNING');
    await answerDialogs(app, 'Stop');
    await tray.click('endless', 'Stop endless');
    await client.until('job', { jobId }, (value) => stateOf(value) === 'KILLED');
    client.close();
    await expect.poll(labels).toContain('Nothing running');

    const gone = ended(app);
    await tray.click('Quit Iris Desktop');
    await gone;
    expect(desktop.faults).toEqual([]);
  } finally {
    tray.close();
  }
});

test('the window is shut; the notification says the job is done; a click shows its log', async ({
  desktop,
}) => {
  const ear = await listenForNotifications();
  try {
    // The daemon serves all tests: what earlier ones left on the display must not be clicked.
    await dunstctl('close-all');
    await expect.poll(shownByDaemon).toBe(0);
    const { app, page } = desktop;
    await expect(page.getByText('0 running').first()).toBeVisible();
    await actInMain(app, ({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.hide());
    await expect.poll(() => isVisible(desktop)).toBe(false);
    const client = await desktop.client();
    await submit(client, 'overnight', 'echo all is done');
    client.close();
    await expect.poll(() => ear.heard().map((told) => told.title)).toEqual(['overnight succeeded']);
    // The daemon is given a notification a moment before it has drawn it and can be clicked.
    await expect.poll(shownByDaemon).toBe(1);
    await dunstctl('action', '0');
    await expect.poll(() => isVisible(desktop)).toBe(true);
    await expect(page.getByRole('heading', { name: 'overnight', level: 1 })).toBeVisible();
    await expect(page.getByText('all is done').first()).toBeVisible();
    await expect(page.getByText('Succeeded').first()).toBeVisible();
  } finally {
    await ear.stop();
  }
});

test('what a user wrote is no mark-up to a daemon that reads it', async ({ desktop }) => {
  const ear = await listenForNotifications();
  try {
    const client = await desktop.client();
    await submit(client, 'odd', '', { command: ['<b>none</b>&co'] });
    client.close();
    await expect.poll(() => ear.heard().map((told) => told.title)).toEqual(['odd failed']);
    expect(ear.heard()[0]?.body).toContain('&lt;b&gt;none&lt;/b&gt;&amp;co');
  } finally {
    await ear.stop();
  }
});

async function dunstctl(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('dunstctl', args);
  return stdout.trim();
}

/** How many notifications are on the display now. */
async function shownByDaemon(): Promise<number> {
  return Number(await dunstctl('count', 'displayed'));
}

async function isVisible(desktop: Desktop): Promise<boolean> {
  return inMain(desktop.app, ({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isVisible() ?? false);
}

async function settingsOf(desktop: Desktop): Promise<unknown> {
  return desktop.page.evaluate(() =>
    (window as unknown as { irisDesktop: { getSettings(): Promise<unknown> } }).irisDesktop.getSettings(),
  );
}

function stateOf(value: unknown): string {
  return (value as { summary: { state: string } }).summary.state;
}
