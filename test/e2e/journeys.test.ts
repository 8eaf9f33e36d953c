/** The ways through the window that must be effortless (first of them: a job launched and watched), each timed. */
import os from 'node:os';
import { actInMain, expect, launchDesktop, test } from '../harness/electron.js';

test('first start, nothing configured: the first job’s log is on the screen within 60 s', async ({
  root,
}) => {
  const startedAt = Date.now();
  const desktop = await launchDesktop(root);
  const { page } = desktop;
  await page
    .getByRole('button', { name: 'New job' })
    .or(page.getByRole('link', { name: 'New job' }))
    .first()
    .click();
  await page
    .getByRole('textbox', { name: 'Command', exact: true })
    .fill(`sh -c 'echo "six times seven is $((6*7))"'`);
  await page.getByRole('textbox', { name: 'Working folder', exact: true }).fill(os.tmpdir());
  await page.keyboard.press('Control+Enter');
  await expect.poll(() => page.url()).toContain('#/job/');
  await expect(page.getByText('six times seven is 42').first()).toBeVisible();
  const seconds = (Date.now() - startedAt) / 1000;
  await expect(page.getByText('Succeeded').first()).toBeVisible();
  test.info().annotations.push({ type: 'to the first log line', description: `${seconds.toFixed(1)} s` });
  expect(seconds).toBeLessThan(60);
  await desktop.quit();
  expect(desktop.faults).toEqual([]);
});

test('the menu’s New job leads to the form', async ({ desktop }) => {
  const { app, page } = desktop;
  await expect(page.getByText('Healthy')).toBeVisible();
  await actInMain(app, ({ Menu }) => {
    const items = Menu.getApplicationMenu()?.items.flatMap((menu) => menu.submenu?.items ?? []) ?? [];
    items.find((item) => item.label === 'New job')?.click();
  });
  await expect.poll(() => page.url()).toContain('#/new');
});
