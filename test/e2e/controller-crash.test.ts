/** The controller's thread crashes under the window: the window says so, the thread is started again, no job is lost. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import type { DesktopBridge } from '../../core/contract/desktop-bridge.js';
import {
  actInMain,
  attemptOf,
  expect,
  inMain,
  launchDesktop,
  submit,
  test,
  type Desktop,
} from '../harness/electron.js';

/** The next message to the thread is one it cannot read: it throws where nothing catches, as a fault of ours would. */
async function crashController(desktop: Desktop): Promise<void> {
  await inMain(desktop.app, () => {
    const { Worker } = process.getBuiltinModule('node:worker_threads');
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (this: InstanceType<typeof Worker>) {
      Worker.prototype.postMessage = post;
      post.call(this, null);
    };
  });
  // A connection of the page is a message to the thread.
  await desktop.page.evaluate(() => {
    const { irisDesktop } = window as unknown as { irisDesktop: DesktopBridge };
    irisDesktop.connect(
      () => undefined,
      () => undefined,
    );
  });
}

/** Keeps what the page says in its banners, which may be there for a moment only. */
async function collectBanners(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(() => {
    const said: string[] = [];
    const look = () => {
      for (const banner of document.querySelectorAll('[role=status]')) said.push(banner.textContent);
    };
    new MutationObserver(look).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    });
    Object.assign(window, { saidInBanners: said });
  });
  return () => page.evaluate(() => (window as unknown as { saidInBanners: string[] }).saidInBanners);
}

const crashes = (desktop: Desktop) => desktop.log().split('The controller (own) ended').length - 1;

test('once: started again, the job adopted; twice: the window says why there is none, and Try again works', async ({
  root,
}) => {
  const desktop = await launchDesktop(root);
  const { page } = desktop;
  const stopFile = path.join(root, 'enough');
  const client = await desktop.client();
  const jobId = await submit(
    client,
    'adopted',
    `until [ -e '${stopFile}' ]; do sleep 0.05; done; echo whole`,
  );
  await expect
    .poll(async () => (await attemptOf(client, jobId).catch(() => null))?.pid ?? 0)
    .toBeGreaterThan(0);
  const before = await attemptOf(client, jobId);
  await expect(page.getByText('1 running').first()).toBeVisible();
  const banners = await collectBanners(page);

  await crashController(desktop);
  await expect.poll(() => crashes(desktop)).toBe(1);
  await client.closed;
  await expect.poll(banners).toContainEqual(expect.stringContaining('Connection to the controller lost'));
  await expect(page.getByText('1 running').first()).toBeVisible();
  await expect(page.getByText('Healthy')).toBeVisible();
  const again = await desktop.client();
  await expect.poll(() => attemptOf(again, jobId)).toEqual(before);

  await crashController(desktop);
  await expect.poll(() => crashes(desktop)).toBe(2);
  await expect(page.getByText(/The controller ended twice within a minute/)).toBeVisible();
  await actInMain(desktop.app, ({ Menu }) => {
    const items = Menu.getApplicationMenu()?.items.flatMap((menu) => menu.submenu?.items ?? []) ?? [];
    items.find((item) => item.label.startsWith('Try again'))?.click();
  });
  await expect(page.getByText('Healthy')).toBeVisible();
  await expect(page.getByText(/The controller ended twice/)).toHaveCount(0);
  const last = await desktop.client();
  writeFileSync(stopFile, '');
  await last.until(
    'job',
    { jobId },
    (value) => (value as { summary: { state: string } }).summary.state === 'SUCCEEDED',
  );
  expect((await attemptOf(last, jobId)).uid).toBe(before.uid);
  last.close();
  again.close();
  await desktop.quit();
  expect(desktop.faults).toEqual([]);
});
