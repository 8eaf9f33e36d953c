/** A job held back and let go by its owner, in the window. */
import { expect, submit, test } from '../harness/electron.js';

const stateOf = (value: unknown): string => (value as { summary: { state: string } }).summary.state;

test('a job is held, seen held in the queue, released there, and runs', async ({ desktop }) => {
  const { page } = desktop;
  const client = await desktop.client();
  const jobId = await submit(client, 'later', 'echo "at last"', { held: true });
  await expect(page.getByText('Healthy')).toBeVisible();

  await page.keyboard.press('g');
  await page.keyboard.press('q');
  await expect(page.getByRole('heading', { name: 'Queue' })).toBeVisible();
  const row = page
    .getByRole('grid', { name: /^Waiting jobs by band/ })
    .getByRole('row')
    .filter({ hasText: 'later' });
  await expect(row.getByText('Held', { exact: true })).toBeVisible();
  await expect(page.getByRole('application')).toBeVisible();

  await row.click();
  await page
    .getByRole('toolbar', { name: 'Actions on the chosen jobs' })
    .getByRole('button', { name: 'Release' })
    .click();
  await client.until('job', { jobId }, (value) => stateOf(value) === 'SUCCEEDED');
  await expect(page.getByRole('heading', { name: 'Nothing waits' })).toBeVisible();

  await page.getByRole('radiogroup', { name: 'How it is shown' }).getByText('Table').click();
  const ran = page
    .getByRole('table', { name: 'What runs where' })
    .getByRole('row')
    .filter({ hasText: 'later' });
  await expect(ran.getByText('Succeeded')).toBeVisible();
  client.close();
});
