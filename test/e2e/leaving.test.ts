/** Closing, quitting, coming back: jobs go on whatever the window does. */
import { readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { resolveHome } from '../../main/home.js';
import { connectClient } from '../harness/client.js';
import { startTray } from '../harness/desktop-services.js';
import { answerDialogs, askedDialogs } from '../harness/dialogs.js';
import {
  actInMain,
  attemptOf,
  ended,
  expect,
  inMain,
  launchDesktop,
  submit,
  test,
  type Desktop,
} from '../harness/electron.js';
import { runSecondInstance } from '../harness/second-instance.js';

/** Counts aloud until a file appears: its length is the test's to decide. */
const countUntil = (file: string) =>
  `i=0; while [ ! -e '${file}' ]; do i=$((i+1)); echo line $i; sleep 0.05; done; echo counted $i`;

test('a job outlives the window that started it, and the next window has all of it', async ({ root }) => {
  const stopFile = path.join(root, 'enough');
  const first = await launchDesktop(root);
  const client = await first.client();
  const jobId = await submit(client, 'counting', countUntil(stopFile));
  await client.until('job', { jobId }, (value) => stateOf(value) === 'RUNNING');
  // Its process is known a moment after it started.
  await expect.poll(async () => (await attemptOf(client, jobId)).pid).toBeGreaterThan(0);
  const before = await attemptOf(client, jobId);
  client.close();
  await first.quit();
  expect(first.faults).toEqual([]);

  const headless = await connectClient(first.home.socket);
  const status = await headless.call('status', {});
  expect(status.host).toBe('headless');
  expect(status.counts.running).toBe(1);
  headless.close();

  const second = await launchDesktop(root);
  await expect.poll(() => second.log()).toContain('Connected to a controller (attached)');
  const again = await second.client();
  expect(await attemptOf(again, jobId)).toEqual(before);
  writeFileSync(stopFile, '');
  await again.until('job', { jobId }, (value) => stateOf(value) === 'SUCCEEDED');
  const lines = await logLines(again, before.uid);
  const last = lines.pop();
  expect(lines).toEqual(lines.map((_line, index) => `line ${index + 1}`));
  expect(last).toBe(`counted ${lines.length}`);
  const { items, unread } = await again.call('inbox.list', { limit: 10 });
  expect(items.map((item) => ({ jobId: item.jobId, state: item.state, read: item.read }))).toEqual([
    { jobId, state: 'SUCCEEDED', read: false },
  ]);
  expect(unread).toBe(1);
  await expect(second.page.getByText('counting').first()).toBeVisible();
  again.close();
  await second.quit();
  expect(second.faults).toEqual([]);
});

test('quitting with nothing unfinished leaves no controller behind', async ({ root }) => {
  const desktop = await launchDesktop(root);
  const client = await desktop.client();
  const jobId = await submit(client, 'short', 'true');
  await client.until('job', { jobId }, (value) => stateOf(value) === 'SUCCEEDED');
  client.close();
  await desktop.quit();
  await expect(connectClient(desktop.home.socket)).rejects.toThrow(/No controller answers/);
});

test('stopping the queue on quitting leaves what waits waiting, and no controller', async ({ root }) => {
  const desktop = await launchDesktop(root);
  const client = await desktop.client();
  const stopFile = path.join(root, 'enough');
  const jobId = await submit(client, 'running', countUntil(stopFile));
  await client.until('job', { jobId }, (value) => stateOf(value) === 'RUNNING');
  client.close();
  // The window asks about jobs it knows of; what just started reaches it a moment later.
  await expect(desktop.page.getByText('1 running').first()).toBeVisible();
  await answerDialogs(desktop.app, 'Quit and stop the queue');
  const gone = ended(desktop.app);
  await chooseQuit(desktop);
  await gone;
  await expect(connectClient(desktop.home.socket)).rejects.toThrow(/No controller answers/);

  // The attempt was not touched: the next window adopts it and sees its end.
  writeFileSync(stopFile, '');
  const next = await launchDesktop(root);
  const again = await next.client();
  await again.until('job', { jobId }, (value) => stateOf(value) === 'SUCCEEDED');
  again.close();
  await next.quit();
});

test('a start that comes while the app is leaving brings it back', async ({ root }) => {
  const first = await launchDesktop(root);
  await expect(first.page.getByText('Healthy')).toBeVisible();
  // It begins to leave as the second start is announced, a moment before it hears of that.
  await inMain(first.app, ({ app }) => {
    app.prependOnceListener('second-instance', () => app.quit());
  });
  const gone = ended(first.app);
  // Its folder is named from where it is started.
  const { code } = await runSecondInstance(path.basename(root), [], path.dirname(root));
  expect(code).toBe(0);
  await gone;
  const started = () =>
    [...first.log().matchAll(/, pid (\d+), data folder/g)].map((found) => Number(found[1]));
  await expect.poll(started).toHaveLength(2);
  const [, again = 0] = started();
  try {
    const answers = async () =>
      connectClient(first.home.socket).then(
        (client) => {
          client.close();
          return true;
        },
        () => false,
      );
    await expect.poll(answers, { message: 'the controller of the app that came back' }).toBe(true);
  } finally {
    process.kill(again, 'SIGKILL');
  }
  await expect.poll(() => isAlive(again)).toBe(false);
});

test('without a tray, closing asks only when jobs are unfinished', async ({ root }) => {
  const stopFile = path.join(root, 'enough');
  const desktop = await launchDesktop(root);
  const client = await desktop.client();
  const jobId = await submit(client, 'unfinished', countUntil(stopFile));
  await expect.poll(async () => (await client.call('status', {})).counts.running).toBe(1);
  await expect(desktop.page.getByText('1 running').first()).toBeVisible();
  await answerDialogs(desktop.app, 'Cancel');
  await close(desktop);
  await expect.poll(() => askedDialogs(desktop.app)).toHaveLength(1);
  expect((await askedDialogs(desktop.app))[0]).toContain('1 job is not finished');
  expect(await isVisible(desktop)).toBe(true);

  writeFileSync(stopFile, '');
  await client.until('job', { jobId }, (value) => stateOf(value) === 'SUCCEEDED');
  client.close();
  await expect(desktop.page.getByText('0 running').first()).toBeVisible();
  const gone = ended(desktop.app);
  await close(desktop);
  await gone;
});

test('with a tray, closing asks once and then stays in the tray', async ({ root }) => {
  const tray = await startTray();
  try {
    const desktop = await launchDesktop(root);
    await expect(desktop.page.getByText('0 running').first()).toBeVisible();
    await close(desktop);
    const question = desktop.page.getByRole('dialog', { name: 'Keep Iris Desktop in the tray?' });
    await expect(question).toBeVisible();
    await question.getByRole('button', { name: 'Keep in tray' }).click();
    await expect.poll(() => isVisible(desktop)).toBe(false);

    expect(await runSecondInstance(root, [])).toMatchObject({ code: 0 });
    await expect.poll(() => isVisible(desktop)).toBe(true);
    await close(desktop);
    await expect.poll(() => isVisible(desktop)).toBe(false);
    await desktop.quit();
    expect(desktop.faults).toEqual([]);

    const settings = await launchDesktop(root);
    expect(
      await settings.page.evaluate(() =>
        (window as unknown as { irisDesktop: { getSettings(): Promise<unknown> } }).irisDesktop.getSettings(),
      ),
    ).toMatchObject({ closeToTray: 'tray' });
    await settings.quit();
  } finally {
    await tray.stop();
  }
});

test('a second start shows the first window, at what it was asked for', async ({ desktop, root }) => {
  const client = await desktop.client();
  const jobId = await submit(client, 'asked-for', 'echo here');
  client.close();
  const second = await runSecondInstance(root, [`--open-job=${jobId}`]);
  expect(second.code).toBe(0);
  expect(second.output).toContain('runs already');
  await expect.poll(() => desktop.page.url()).toContain(encodeURIComponent(jobId));
  expect(desktop.app.windows()).toHaveLength(1);
  // Where no socket is seen yet a second start has begun to be a controller before it learns that it is the second.
  const { socket } = resolveHome({ flag: root });
  renameSync(socket, `${socket}.away`);
  const early = await runSecondInstance(root, []);
  renameSync(`${socket}.away`, socket);
  expect(early).toMatchObject({ code: 0, output: expect.stringContaining('runs already') });
});

test('a page that crashes is loaded again; one that keeps crashing gives way to a plain page', async ({
  root,
}) => {
  const desktop = await launchDesktop(root);
  const crash = () =>
    actInMain(desktop.app, ({ BrowserWindow }) => {
      BrowserWindow.getAllWindows()[0]?.webContents.forcefullyCrashRenderer();
    });
  const address = () =>
    inMain(desktop.app, ({ BrowserWindow }) => {
      const contents = BrowserWindow.getAllWindows()[0]?.webContents;
      return contents?.isCrashed() === false && !contents.isLoading() ? contents.getURL() : '';
    });
  for (const times of [1, 2]) {
    await crash();
    await expect
      .poll(() => desktop.log().split('loading it again').length - 1, { message: `crash ${times}` })
      .toBe(times);
    await expect.poll(address).toContain('index.html');
  }
  await crash();
  await expect.poll(address).toContain('/-/crashed');
  // The controller is in another thread and knows nothing of it.
  const client = await desktop.client();
  expect((await client.call('status', {})).healthy).toBe(true);
  client.close();
  await desktop.quit();
});

test('settings that cannot be read are set aside and the start goes on', async ({ root }) => {
  const first = await launchDesktop(root);
  const file = path.join(first.home.folder, 'window', 'settings.json');
  await first.quit();
  writeFileSync(file, '{ broken');
  const second = await launchDesktop(root);
  expect(second.log()).toContain('settings.json.unreadable-');
  expect(second.log()).not.toContain('cannot be moved aside');
  expect(
    readdirSync(path.dirname(file)).filter((name) => name.startsWith('settings.json.unreadable-')),
  ).toHaveLength(1);
  await second.quit();
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function close(desktop: Desktop): Promise<void> {
  await actInMain(desktop.app, ({ BrowserWindow }) => {
    BrowserWindow.getAllWindows()[0]?.close();
  });
}

async function chooseQuit(desktop: Desktop): Promise<void> {
  await actInMain(desktop.app, ({ Menu }) => {
    const items = Menu.getApplicationMenu()?.items.flatMap((menu) => menu.submenu?.items ?? []) ?? [];
    items.find((item) => item.label === 'Quit')?.click();
  });
}

async function isVisible(desktop: Desktop): Promise<boolean> {
  return inMain(desktop.app, ({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isVisible() ?? false);
}

function stateOf(value: unknown): string {
  return (value as { summary: { state: string } }).summary.state;
}

async function logLines(
  client: Awaited<ReturnType<Desktop['client']>>,
  attemptUid: string,
): Promise<string[]> {
  const parts: Buffer[] = [];
  let offset = 0;
  for (;;) {
    const answer = await client.call('log.read', { attemptUid, stream: 'out', offset, maxBytes: 1_048_576 });
    const data = Buffer.from(answer.dataBase64, 'base64');
    parts.push(data);
    offset += data.length;
    if (offset >= answer.size) break;
  }
  return Buffer.concat(parts).toString('utf8').trimEnd().split('\n');
}

test('the next start runs from the compiled form the last one kept', async ({ root }) => {
  const kept = (home: Desktop['home']) =>
    ['desktop.bin', 'controller.bin'].map((name) => statSync(path.join(home.folder, 'code', name)));
  const first = await launchDesktop(root);
  await first.quit();
  const before = kept(first.home);
  for (const { size } of before) expect(size).toBeGreaterThan(64 * 1024);
  const second = await launchDesktop(root);
  await second.quit();
  // A form the engine had refused, made under other settings for one, would have been made anew: another file.
  expect(kept(second.home).map(({ ino, mtimeMs }) => ({ ino, mtimeMs }))).toEqual(
    before.map(({ ino, mtimeMs }) => ({ ino, mtimeMs })),
  );
});
