/** The window as a person meets it: first start, keys, themes, accessibility. */
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, inMain, launchDesktop, submit, test } from '../harness/electron.js';

test('the first start shows the jobs page, connected, on an empty profile', async ({ root }) => {
  const startedAt = Date.now();
  const desktop = await launchDesktop(root);
  await expect(desktop.page.getByRole('heading', { name: 'Jobs', level: 1 })).toBeVisible();
  await expect(desktop.page.getByText('Healthy')).toBeVisible();
  const ms = Date.now() - startedAt;
  test.info().annotations.push({ type: 'first start to a connected page', description: `${ms} ms` });
  expect(ms).toBeLessThan(20_000);
  expect(await desktop.page.title()).toContain('Iris Desktop');
  await desktop.quit();
  expect(desktop.faults).toEqual([]);
});

test('everything on the way is reached by keys', async ({ desktop }) => {
  const { page } = desktop;
  await expect(page.getByText('Healthy')).toBeVisible();
  await page.keyboard.press('n');
  // The first Esc leaves the field, so the field must have the focus by then.
  await expect(page.getByRole('textbox', { name: 'Command' })).toBeFocused();
  expect(page.url()).toContain('#/new');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.url()).toContain('#/jobs');
  // Typed as a person would: the second key does not wait until the first has been answered.
  await Promise.all([page.keyboard.press('g'), page.keyboard.press('o')]);
  await expect.poll(() => page.url()).toContain('#/overview');
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
  await page.keyboard.press('Control+k');
  await expect(page.getByPlaceholder('Type an action, a page, a machine or a job')).toBeFocused();
  await page.keyboard.press('Escape');
  // A dialog owns the keys while it is there.
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
});

test('the size and place of the window are remembered', async ({ root }) => {
  const first = await launchDesktop(root);
  await inMain(first.app, ({ BrowserWindow }) => {
    BrowserWindow.getAllWindows()[0]?.setBounds({ x: 40, y: 30, width: 1000, height: 700 });
  });
  await expect.poll(() => boundsOf(first)).toMatchObject({ width: 1000, height: 700 });
  await first.quit();
  const second = await launchDesktop(root);
  await expect.poll(() => boundsOf(second)).toMatchObject({ x: 40, y: 30, width: 1000, height: 700 });
  await second.quit();
});

test('a long name leaves the buttons beside it whole in the smallest window', async ({ desktop }) => {
  const { page } = desktop;
  const client = await desktop.client();
  const jobId = await submit(client, 'long', 'sleep 60', { name: 'name-'.repeat(40) });
  client.close();
  await inMain(desktop.app, ({ BrowserWindow }) => {
    BrowserWindow.getAllWindows()[0]?.setBounds({ width: 900, height: 600 });
  });
  await page.evaluate((id) => {
    window.location.hash = `#/job/${encodeURIComponent(id)}`;
  }, jobId);
  for (const name of ['Stop', 'Edit and run']) {
    const label = page.getByRole('button', { name, exact: true }).getByText(name, { exact: true });
    await expect(label).toBeVisible();
    expect(await label.evaluate((element) => element.scrollWidth - element.clientWidth), name).toBe(0);
  }
});

for (const theme of ['light', 'dark'] as const) {
  test(`no page breaks a rule of accessibility (${theme})`, async ({ desktop }) => {
    const { page } = desktop;
    const client = await desktop.client();
    const jobId = await submit(client, 'to-look-at', 'echo hello; echo oops >&2; exit 2');
    await client.until('job', { jobId }, (value) => stateOf(value) === 'FAILED');
    client.close();
    await page.evaluate(
      (wanted) =>
        (
          window as unknown as { irisDesktop: { setSettings(change: object): Promise<unknown> } }
        ).irisDesktop.setSettings({ theme: wanted }),
      theme,
    );
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', theme);
    const heading = (name: string) => page.getByRole('heading', { name, level: 1 });
    for (const [hash, ready] of [
      ['#/jobs', page.getByRole('row', { name: /to-look-at/ })],
      ['#/overview', page.getByRole('heading', { name: 'Overview', level: 1 })],
      ['#/new', page.getByRole('heading', { name: 'New job', level: 1 })],
      [`#/job/${encodeURIComponent(jobId)}`, heading('to-look-at')],
      [
        `#/job/${encodeURIComponent(jobId)}?tab=tasks`,
        page.getByRole('cell', { name: /exit code 2/ }).first(),
      ],
      [`#/job/${encodeURIComponent(jobId)}?tab=details`, page.getByText('As YAML')],
      ['#/queue', heading('Queue')],
      ['#/budgets', heading('Budgets')],
      ['#/activity', page.getByRole('row', { name: /Job submitted/ })],
      ['#/machines', heading('Machines')],
    ] as const) {
      await page.evaluate((target) => {
        window.location.hash = target;
      }, hash);
      await expect(ready).toBeVisible();
      expect(await accessibilityFaults(page), hash).toEqual([]);
    }
    // What is faint stays readable under the pointer and in a row that is selected.
    await page.evaluate(() => {
      window.location.hash = '#/jobs';
    });
    const row = page.getByRole('row', { name: /to-look-at/ });
    await row.hover();
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.click({ modifiers: ['Control'] });
    await expect(page.getByText('1 selected')).toBeVisible();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
}

async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  // Legacy mode stays in this page: there is no second window to be had.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
  return violations.map(
    (found) =>
      `${found.id}: ${found.help}: ${found.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`,
  );
}

async function boundsOf(
  desktop: Awaited<ReturnType<typeof launchDesktop>>,
): Promise<Electron.Rectangle | undefined> {
  return inMain(desktop.app, ({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getBounds());
}

function stateOf(value: unknown): string {
  return (value as { summary: { state: string } }).summary.state;
}
