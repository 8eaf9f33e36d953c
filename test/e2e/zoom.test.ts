/** Everything twice as large in the window's usual size, much in little room, the system's own colours: what a page is for stays in sight. */
import type { Locator, Page } from '@playwright/test';
import { expect, inMain, submit, test, type Desktop } from '../harness/electron.js';

async function twiceAsLarge(desktop: Desktop): Promise<void> {
  await inMain(desktop.app, ({ BrowserWindow }) => {
    const [window] = BrowserWindow.getAllWindows();
    window?.setContentSize(1280, 800);
    window?.webContents.setZoomFactor(2);
  });
  await expect.poll(() => desktop.page.evaluate(() => window.innerWidth)).toBeLessThan(700);
}

async function open(page: Page, hash: string): Promise<void> {
  await page.evaluate((target) => {
    window.location.hash = target;
  }, hash);
}

test('twice as large, the heads of the list stand above their cells and a failed job shows its log', async ({
  desktop,
}) => {
  const { page } = desktop;
  const client = await desktop.client();
  const script = 'for i in 1 2 3 4 5 6 7 8 9; do echo "line $i" >&2; done; exit 3';
  const jobId = await submit(client, 'fails', script);
  await client.until(
    'job',
    { jobId },
    (value) => (value as { summary: { state: string } }).summary.state === 'FAILED',
  );
  await submit(client, 'too-late', 'true', { held: true });
  client.close();
  await twiceAsLarge(desktop);

  const head = page.getByRole('columnheader', { name: 'Tasks', exact: true });
  const cell = page.getByRole('row', { name: /fails/ }).getByText('1 task', { exact: true });
  const left = async (of: typeof head) => Math.round((await of.boundingBox())?.x ?? -1);
  await expect.poll(async () => (await left(head)) - (await left(cell))).toBe(0);

  await open(page, `#/job/${encodeURIComponent(jobId)}`);
  await expect(page.getByRole('heading', { name: 'fails', level: 1 })).toBeVisible();
  const log = page.getByRole('tabpanel', { name: 'Log' });
  await log.scrollIntoViewIfNeeded();
  await expect.poll(async () => (await log.boundingBox())?.height ?? 0).toBeGreaterThan(200);

  await open(page, '#/budgets');
  await expect(page.getByText(/^\d+ of 1,000$/).first()).toBeInViewport({ ratio: 1 });

  await open(page, '#/machines');
  const whole = (of: Locator) => of.evaluate((element) => element.scrollWidth <= element.clientWidth);
  const heading = page.getByRole('heading', { name: 'Machines', level: 1 });
  await expect(heading).toBeInViewport({ ratio: 1 });
  expect(await whole(heading)).toBe(true);
  await expect(page.getByRole('button', { name: 'Add a workstation' }).first()).toBeInViewport({ ratio: 1 });

  await open(page, '#/queue');
  const waits = page
    .getByRole('grid')
    .getByRole('row', { name: /too-late/ })
    .getByRole('gridcell')
    .last();
  await expect.poll(async () => (await waits.boundingBox())?.width ?? 0).toBeGreaterThan(200);
  await expect(waits).toBeInViewport({ ratio: 1 });

  await open(page, '#/new');
  await page.getByRole('textbox', { name: 'Command' }).fill('cat a | wc');
  const offer = page.getByRole('button', { name: 'Run it through sh' }).getByText('Run it through sh');
  await offer.scrollIntoViewIfNeeded();
  expect(await offer.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
});

test('in the system’s own colours the page, the filter, the tab and the view that are chosen stand out, and a switch', async ({
  desktop,
}) => {
  const { page } = desktop;
  await page.emulateMedia({ forcedColors: 'active' });
  const client = await desktop.client();
  const jobId = await submit(client, 'chosen', 'true');
  client.close();
  const ground = (of: Locator) => of.evaluate((element) => getComputedStyle(element).backgroundColor);
  const link = (name: string) => page.getByRole('link', { name, exact: true });
  const chip = (name: string) => page.getByRole('button', { name, exact: true });
  await expect.poll(async () => (await ground(link('Jobs'))) === (await ground(link('Queue')))).toBe(false);
  expect(await ground(chip('All'))).not.toBe(await ground(chip('Ended')));
  await open(page, `#/job/${encodeURIComponent(jobId)}`);
  const tab = (name: string) => page.getByRole('tab', { name, exact: true });
  await expect(tab('Log')).toBeVisible();
  expect(await ground(tab('Log'))).not.toBe(await ground(tab('Tasks')));
  await open(page, '#/new');
  const view = (name: string) => page.locator('label').filter({ hasText: new RegExp(`^${name}$`) });
  await expect(view('Form')).toBeVisible();
  expect(await ground(view('Form'))).not.toBe(await ground(view('YAML')));
  await open(page, '#/settings');
  const track = page.locator('.mantine-Switch-track').first();
  await expect(track).toBeVisible();
  expect(await ground(track)).not.toBe(await ground(page.locator('body')));
});

test('a machine with many tasks side by side keeps its name in sight in the queue', async ({ desktop }) => {
  const { page } = desktop;
  const client = await desktop.client();
  const { machines } = await client.call('machine.list', {});
  await submit(client, 'many', 'sleep 120', { replicas: 150, cpu: 0.01, memory: '1M' });
  await client.until('jobs', {}, (value) => (value as { counts: { running: number } }).counts.running === 1);
  client.close();
  await open(page, '#/queue');
  const lanes = page.getByRole('region', { name: 'What runs where' });
  const name = lanes.getByText(machines[0]?.id ?? '', { exact: true }).first();
  await expect(name).toBeInViewport({ ratio: 1 });
});
