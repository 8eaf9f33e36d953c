/** The ways through the window that must be effortless. */
import type { Page } from '@playwright/test';
import { existsSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { actInMain, expect, launchDesktop, submit, test } from '../harness/electron.js';

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

test('three seeds overnight: which failed, why, and the failed one again with more memory', async ({
  desktop,
  root,
}) => {
  const { page } = desktop;
  const mended = path.join(root, 'mended');
  const client = await desktop.client();
  const seed = `echo "seed $SEED"; [ "$SEED" != 2 ] || [ -e '${mended}' ] || { echo "no room for the batch" >&2; exit 9; }`;
  for (const number of [1, 2, 3]) {
    const jobId = await submit(client, `seed-${number}`, seed, { environment: { SEED: String(number) } });
    await client.until('job', { jobId }, (value) => /FAILED|SUCCEEDED/.test(stateOf(value)));
  }
  await page
    .getByRole('group', { name: 'Filter jobs' })
    .getByRole('button', { name: 'Failed today', exact: true })
    .click();
  await expect(page.getByText('1 job found', { exact: true })).toBeVisible();
  const row = page.getByRole('treegrid', { name: 'Jobs' }).getByRole('row').filter({ hasText: 'seed-2' });
  await expect(row).toContainText('exit code 9');
  await row.getByText('seed-2', { exact: true }).click();
  await expect(page.getByRole('heading', { name: 'seed-2', level: 1 })).toBeVisible();
  await expect(page.getByText(/^Why it failed/)).toBeVisible();
  await expect(page.getByText('no room for the batch').first()).toBeVisible();

  writeFileSync(mended, '');
  await page.keyboard.press('e');
  await expect(page.getByRole('heading', { name: 'New job from seed-2', level: 1 })).toBeVisible();
  await page.getByRole('textbox', { name: 'Memory', exact: true }).fill('256M');
  await page.keyboard.press('Control+Enter');
  await expect.poll(() => page.url()).toContain('#/job/');
  await expect(page.getByText('Succeeded', { exact: true }).first()).toBeVisible();
  const { rows } = await client.call('job.list', {
    filter: { search: 'seed-2' },
    sort: { key: 'submitted', descending: true },
    offset: 0,
    limit: 10,
  });
  expect(rows.map((one) => one.state)).toEqual(['SUCCEEDED', 'FAILED']);
  const again = await client.call('job.get', { jobId: rows[0]?.id ?? '' });
  expect(again.spec.memoryBytes).toBe(256_000_000);
  client.close();
});

test('why a job has not started is said in the list', async ({ desktop }) => {
  const { page } = desktop;
  const client = await desktop.client();
  const { machines } = await client.call('machine.list', {});
  const cores = (machines[0]?.cpuMillicoresTotal ?? 0) / 1000;
  const all = await submit(client, 'takes-all', 'while :; do sleep 1; done', { cpu: cores });
  await client.until('job', { jobId: all }, (value) => stateOf(value) === 'RUNNING');
  const waiting = await submit(client, 'patient', 'true', { cpu: cores });
  const row = page.getByRole('treegrid', { name: 'Jobs' }).getByRole('row').filter({ hasText: 'patient' });
  await expect(row).toContainText('Waiting');
  await expect
    .poll(async () => (await client.call('job.get', { jobId: waiting })).summary.waiting)
    .not.toBeNull();
  await expect(row).toContainText(/CPU|core/);
  client.close();
});

test('a machine that slept wakes to the truth within 2 s: nothing replayed, nothing lost', async ({
  desktop,
  root,
}) => {
  const { app, page } = desktop;
  const file = (name: string) => path.join(root, name);
  const client = await desktop.client();
  // The words are written apart, so that the command itself does not hold them.
  const script =
    `echo before; while [ ! -e '${file('speak')}' ]; do sleep 0.05; done; echo a'wake'; ` +
    `while [ ! -e '${file('enough')}' ]; do sleep 0.05; done; echo a'fter'; touch '${file('written')}'`;
  const jobId = await submit(client, 'through-the-night', script);
  await client.until('job', { jobId }, (value) => stateOf(value) === 'RUNNING');
  await page.getByText('through-the-night').first().click();
  await expect(page.getByText('before', { exact: true }).first()).toBeVisible();
  const shownAt = await watchTexts(page, ['awake', 'after', 'Succeeded']);

  // How long a line takes on this machine while nothing sleeps: a busy one is given as much more.
  const spokeAt = Date.now();
  writeFileSync(file('speak'), '');
  await expect.poll(() => shownAt('awake')).not.toBeNull();
  const usualMs = ((await shownAt('awake')) ?? Number.NaN) - spokeAt;

  const pid = app.process().pid ?? 0;
  process.kill(pid, 'SIGSTOP');
  let wokeAt: number;
  try {
    writeFileSync(file('enough'), '');
    await expect.poll(() => existsSync(file('written'))).toBe(true);
  } finally {
    wokeAt = Date.now();
    process.kill(pid, 'SIGCONT');
  }
  for (const text of ['after', 'Succeeded']) {
    await expect.poll(() => shownAt(text)).not.toBeNull();
    const tookMs = ((await shownAt(text)) ?? Number.NaN) - wokeAt;
    test.info().annotations.push({ type: `to ${text}`, description: `${tookMs} ms, usually ${usualMs} ms` });
    expect(tookMs).toBeGreaterThan(0);
    expect(tookMs).toBeLessThan(2000 + 10 * usualMs);
  }
  await expect(page.getByRole('button', { name: '1 unread notification', exact: true })).toBeVisible();
  const { items } = await client.call('inbox.list', { limit: 10 });
  expect(items.map((item) => item.jobId)).toEqual([jobId]);
  client.close();
});

/** When each text was first on the page, by the page's own clock; null while it was not. */
async function watchTexts(
  page: Page,
  texts: readonly string[],
): Promise<(text: string) => Promise<number | null>> {
  await page.evaluate((wanted) => {
    const seen: Record<string, number> = {};
    const look = () => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const text = (node.nodeValue ?? '').trim();
        if (wanted.includes(text)) seen[text] ??= Date.now();
      }
    };
    const options = { subtree: true, childList: true, characterData: true };
    new MutationObserver(look).observe(document.body, options);
    Object.assign(window, { textsSeen: seen });
    look();
  }, texts);
  return (text) =>
    page.evaluate(
      (wanted) => (Reflect.get(window, 'textsSeen') as Record<string, number>)[wanted] ?? null,
      text,
    );
}

function stateOf(value: unknown): string {
  return (value as { summary: { state: string } }).summary.state;
}
