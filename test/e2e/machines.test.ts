/** The machine a controller runs on, as its pages show and change it; then what was done, and the settings. */
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, submit, test } from '../harness/electron.js';

const stateOf = (value: unknown): string => (value as { summary: { state: string } }).summary.state;

test('a machine is found, looked at, cordoned and opened again by keys, and what waits for it runs', async ({
  desktop,
}) => {
  const { page } = desktop;
  const client = await desktop.client();
  const { machines } = await client.call('machine.list', {});
  const id = machines[0]?.id ?? '';
  await expect(page.getByText('Healthy')).toBeVisible();

  // Typed as a person would: the second key does not wait until the first has been answered.
  await Promise.all([page.keyboard.press('g'), page.keyboard.press('m')]);
  await expect(page.getByRole('heading', { name: 'Machines', level: 1 })).toBeVisible();
  const card = page.getByRole('listitem', { name: id, exact: true });
  await expect(card.getByText('This machine')).toBeVisible();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('j');
  await expect(card.getByRole('link', { name: id, exact: true })).toBeFocused();
  await page.keyboard.press('c');
  await expect(card.getByText('Cordoned', { exact: true })).toBeVisible();
  const jobId = await submit(client, 'after-the-cordon', 'echo "let in"');

  await page.keyboard.press('v');
  await expect(page.getByRole('table', { name: 'Machines' })).toBeVisible();
  await page.keyboard.press('v');
  await page.keyboard.press('j');
  await expect(card.getByRole('link', { name: id, exact: true })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: id, level: 1 })).toBeVisible();
  await expect(page.getByRole('img', { name: /^Processors\./ })).toBeVisible();
  await expect(page.getByRole('img', { name: /^Processors\./ }).locator('canvas')).toBeVisible();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('2');
  await expect(page.getByRole('region', { name: 'Computer' })).toBeVisible();
  expect(await accessibilityFaults(page)).toEqual([]);

  await page.keyboard.press('c');
  await expect(page.getByRole('button', { name: 'Cordon', exact: true })).toBeVisible();
  await client.until('job', { jobId }, (value) => stateOf(value) === 'SUCCEEDED');
  client.close();

  await page.keyboard.press('4');
  await expect(page.getByRole('row').filter({ hasText: 'Machine changed' })).toHaveCount(2);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('heading', { name: 'Machines', level: 1 })).toBeVisible();

  await Promise.all([page.keyboard.press('g'), page.keyboard.press('a')]);
  await expect(page.getByRole('heading', { name: 'Activity', level: 1 })).toBeVisible();
  await page.keyboard.press('/');
  await page.keyboard.type(jobId);
  const submitted = page.getByRole('row').filter({ hasText: 'Job submitted' });
  await expect(submitted).toHaveCount(1);
  await expect(page.getByRole('row').filter({ hasText: 'Machine changed' })).toHaveCount(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await submitted.getByRole('link', { name: jobId }).click();
  await expect(page.getByRole('heading', { name: 'after-the-cordon', level: 1 })).toBeVisible();
});

test('a workstation that cannot be reached is not added, and what to do is said', async ({ desktop }) => {
  const { page } = desktop;
  await expect(page.getByText('Healthy')).toBeVisible();
  await page.getByRole('link', { name: 'Machines', exact: true }).click();
  await page.getByRole('button', { name: 'Add a workstation' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add a workstation' });
  await expect(dialog.getByRole('textbox', { name: 'Address' })).toBeFocused();
  // Nothing listens on that port.
  await page.keyboard.type('ssh://127.0.0.1:1');
  await page.keyboard.press('Enter');
  await expect(dialog.getByText(/^It cannot be added yet/)).toBeVisible({ timeout: 60_000 });
  const steps = dialog.getByRole('list', { name: 'What was looked at' });
  await expect(steps.getByRole('listitem').filter({ hasText: 'Failed' }).first()).toBeVisible();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
});

for (const theme of ['Light', 'Dark'] as const) {
  test(`the settings hold at once, and the pages stay readable (${theme})`, async ({ desktop }) => {
    const { page } = desktop;
    await expect(page.getByText('Healthy')).toBeVisible();
    await Promise.all([page.keyboard.press('g'), page.keyboard.press('s')]);
    await page.getByRole('radio', { name: theme, exact: true }).click();
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', theme.toLowerCase());
    await expect(page.getByText(desktop.home.root)).toBeVisible();
    expect(await accessibilityFaults(page)).toEqual([]);
    await Promise.all([page.keyboard.press('g'), page.keyboard.press('i')]);
    await expect(page.getByRole('heading', { name: 'Images', level: 1 })).toBeVisible();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('listitem').first()).toBeVisible();
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
