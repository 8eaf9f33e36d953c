/** Writing a job by hand in the real window: what is below a field that is left, and what is said of a field. */
import { expect, test } from '../harness/electron.js';
test('a click on what lies below a field that was being written arrives, and a folder that is not there is told of', async ({
  desktop,
}) => {
  const { page } = desktop;
  await expect(page.getByText('Healthy')).toBeVisible();
  await page.evaluate(() => {
    window.location.hash = '#/new';
  });
  await page.getByRole('textbox', { name: 'Command' }).click();
  await page.keyboard.type('A=1 python train.py');
  const head = page.getByText('Retries and limits', { exact: true });
  const box = await head.boundingBox();
  if (box === null) throw new Error('not there');
  await page.mouse.click(box.x + 20, box.y + 5);
  await expect(page.locator('details[open]').filter({ hasText: 'Environment' })).toHaveCount(1);
  await expect(page.locator('details[open]').filter({ hasText: 'Retries and limits' })).toHaveCount(1);
  await page.getByRole('textbox', { name: 'Working folder' }).click();
  await page.keyboard.type('/nowhere/at/all');
  await page.getByRole('textbox', { name: 'CPU cores' }).click();
  await expect(
    page.getByText(/^\/nowhere\/at\/all: expected a folder that exists on .* and may be entered\.$/),
  ).toBeVisible();
  await expect(page.getByText('Starts now', { exact: true })).toBeVisible();
});
