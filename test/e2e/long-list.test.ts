/** Ten thousand jobs: the list opens, is walked by keys, searched, filtered, and acted on in bulk. */
import os from 'node:os';
import { resolveHome } from '../../main/home.js';
import { expect, launchDesktop, test } from '../harness/electron.js';
import { fillWithEndedJobs } from '../harness/many-jobs.js';

const count = 10_000;

test('among 10,000 jobs one is found by a word of its command, and several are run again', async ({
  root,
}) => {
  fillWithEndedJobs(resolveHome({ flag: root }), os.userInfo().username, count, Date.now());
  const desktop = await launchDesktop(root);
  const { page } = desktop;
  const list = page.getByRole('treegrid', { name: 'Jobs' });
  const row = (name: string) => list.getByRole('row').filter({ hasText: name });
  await expect(page.getByText('10,000 jobs', { exact: true })).toBeVisible();
  await expect(row('run-00000')).toBeVisible();
  // Only what is in view is in the page.
  expect(await list.getByRole('row').count()).toBeLessThan(100);

  await list.focus();
  await page.keyboard.press('End');
  await expect(row('run-09999')).toBeVisible();
  await page.keyboard.press('Home');
  await expect(row('run-00000')).toBeVisible();
  // The list keeps a few rows beyond what is seen; three pages down the first is beyond those as well.
  for (const key of ['PageDown', 'PageDown', 'PageDown', 'ArrowDown', 'k']) await page.keyboard.press(key);
  await expect(row('run-00000')).toHaveCount(0);

  await page.keyboard.press('/');
  const search = page.getByRole('textbox', { name: 'Search name or command' });
  await expect(search).toBeFocused();
  await search.fill('--seed 7777');
  await expect(page.getByText('1 job found', { exact: true })).toBeVisible();
  await expect(row('run-07777')).toBeVisible();
  await search.fill('');
  await expect(page.getByText('10,000 jobs', { exact: true })).toBeVisible();

  const filter = page.getByRole('group', { name: 'Filter jobs' });
  await filter.getByRole('button', { name: 'Ended', exact: true }).click();
  await expect(page.getByText('10,000 jobs found', { exact: true })).toBeVisible();
  await filter.getByRole('button', { name: 'State', exact: true }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Failed', exact: true }).click();
  await expect(page.getByText('1,000 jobs found', { exact: true })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(row('run-00009')).toBeVisible();

  await row('run-00009').click({ modifiers: ['Control'] });
  await row('run-00019').click({ modifiers: ['Control'] });
  await expect(page.getByText('2 selected', { exact: true })).toBeVisible();
  await page.keyboard.press('Control+a');
  await expect(page.getByText('1,000 selected', { exact: true })).toBeVisible();
  await page.keyboard.press('r');
  const question = page.getByRole('dialog', { name: 'Run 1,000 jobs again?' });
  await expect(question).toBeVisible();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(question).toHaveCount(0);
  await desktop.quit();
  expect(desktop.faults).toEqual([]);
});
