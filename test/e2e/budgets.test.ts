/** A budget set in the window: the page, the meter in the status bar and the controller agree, and follow what runs. */
import { expect, submit, test } from '../harness/electron.js';

test('a limit is set on the Budgets page, and the meters follow it and what runs', async ({ desktop }) => {
  const { page } = desktop;
  const client = await desktop.client();
  const { me } = await client.call('budget.list', {});
  const jobId = await submit(client, 'spends', 'while :; do sleep 1; done', { cpu: 1 });
  await client.until('job', { jobId }, (value) => stateOf(value) === 'RUNNING');
  const spent = async () => (await client.call('budget.get', { user: me })).spend.total;
  await expect.poll(spent).toBeGreaterThan(0);
  const total = await spent();

  await page.getByRole('link', { name: 'Budgets', exact: true }).click();
  const own = page.getByRole('region', { name: 'Your budget' });
  await expect(own).toContainText(`${total} of `);
  await page.getByRole('button', { name: `Change the budget of ${me}` }).click();
  await page.getByRole('combobox', { name: 'Kind of limit' }).click();
  await page.getByRole('option', { name: 'A number' }).click();
  await page.getByRole('textbox', { name: 'Limit', exact: true }).fill('40');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: `Change the budget of ${me}?` });
  await expect(dialog).toContainText('becomes 40.');
  await dialog.getByRole('button', { name: 'Change budget' }).click();

  await expect(own).toContainText(`${total} of 40`);
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: me }) });
  await expect(row.getByRole('meter')).toHaveAttribute('aria-valuetext', `${total} of 40`);
  const mine = page.getByRole('contentinfo').getByRole('meter', { name: 'Your budget' });
  await expect(mine).toHaveAttribute('aria-valuetext', `you: ${total} of 40`);
  await expect(mine).toHaveAttribute('aria-valuenow', String(Math.round((total / 40) * 100)));
  expect((await client.call('budget.get', { user: me })).limit).toBe(40);

  await client.call('job.stop', { requestId: 'stop-spending', jobIds: [jobId] });
  await expect(mine).toHaveAttribute('aria-valuetext', 'you: 0 of 40');
  await expect(own).toContainText('0 of 40');
  client.close();
});

function stateOf(value: unknown): string {
  return (value as { summary: { state: string } }).summary.state;
}
