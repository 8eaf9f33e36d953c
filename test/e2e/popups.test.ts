/** What opens over a page answers its keys alone: nothing of them reaches the page, and the focus comes back. */
import { expect, submit, test } from '../harness/electron.js';

for (const reducedMotion of ['no-preference', 'reduce'] as const) {
  test(`Esc closes what is open over a page and stays on it (motion: ${reducedMotion})`, async ({
    desktop,
  }) => {
    const { page } = desktop;
    await page.emulateMedia({ reducedMotion });
    const client = await desktop.client();
    const jobId = await submit(client, 'stays', 'sleep 120');
    client.close();
    await page.evaluate((id) => {
      window.location.hash = `#/job/${encodeURIComponent(id)}`;
    }, jobId);
    const heading = page.getByRole('heading', { name: 'stays', level: 1 });
    await expect(heading).toBeVisible();

    const more = page.getByRole('button', { name: 'More actions' }).first();
    await more.click();
    await expect(page.getByRole('menuitem', { name: 'Hold' })).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('menu')).toHaveCount(0);
    await expect(more).toBeFocused();
    await expect(heading).toBeVisible();

    const bell = page.getByRole('button', { name: /otifications$/ });
    await bell.click();
    await expect(page.getByRole('dialog', { name: 'Notifications' })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(bell).toBeFocused();
    await expect(heading).toBeVisible();

    const stop = page.getByRole('button', { name: 'Stop', exact: true });
    await stop.click();
    await expect(page.getByRole('dialog', { name: /^Stop/ })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(stop).toBeFocused();
    await expect(heading).toBeVisible();

    // With nothing open it goes up.
    await page.keyboard.press('Escape');
    await expect(page.getByRole('heading', { name: 'Jobs', level: 1 })).toBeVisible();
  });
}

test('a key beside an item of a menu chooses it, and a dialog from a menu gives the focus back to its button', async ({
  desktop,
}) => {
  const { page } = desktop;
  const client = await desktop.client();
  await submit(client, 'stays', 'sleep 120');
  const { machines } = await client.call('machine.list', {});
  client.close();
  await expect(page.getByRole('row', { name: /stays/ })).toBeVisible();
  await page.keyboard.press('j');
  await page.keyboard.press('Shift+F10');
  await expect(page.getByRole('menuitem', { name: /^Stop/ })).toBeVisible();
  await page.keyboard.press('x');
  await expect(page.getByRole('dialog', { name: /^Stop stays/ })).toBeVisible();
  await expect(page.getByRole('menu')).toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('treegrid', { name: 'Jobs' })).toBeFocused();

  await page.getByRole('link', { name: 'Machines', exact: true }).click();
  const actions = page.getByRole('button', { name: `Actions on ${machines[0]?.id ?? ''}` });
  await actions.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Drain' }).press('Enter');
  await expect(page.getByRole('dialog', { name: /^Drain/ })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(actions).toBeFocused();
});
