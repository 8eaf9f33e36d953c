/** Where the window meets files: the folder picker, the dialog a log is saved by, a file dropped on it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ElectronApplication, Page } from '@playwright/test';
import { expect, inMain, inMainWith, submit, test } from '../harness/electron.js';

test('the folder that is picked becomes the working folder; a picker that is left changes nothing', async ({
  desktop,
  root,
}) => {
  const { app, page } = desktop;
  const folder = path.join(root, 'my project');
  mkdirSync(folder);
  await expect(page.getByText('Healthy')).toBeVisible();
  await page.keyboard.press('n');
  const field = page.getByRole('textbox', { name: 'Working folder', exact: true });
  await field.fill('/tmp');
  await answerPicker(app, folder);
  await page.getByRole('button', { name: 'Choose' }).click();
  await expect(field).toHaveValue(folder);
  expect(await askedPickers(app)).toEqual([
    expect.objectContaining({ title: 'Working folder', defaultPath: '/tmp' }),
  ]);
  await answerPicker(app, null);
  await page.getByRole('button', { name: 'Choose' }).click();
  await expect.poll(async () => (await askedPickers(app)).length).toBe(2);
  await expect(field).toHaveValue(folder);
});

test('a log is saved whole to the file that is chosen, and the window says where', async ({
  desktop,
  root,
}) => {
  const { app, page } = desktop;
  const client = await desktop.client();
  const jobId = await submit(client, 'to-save', 'seq 1 20000; echo oops >&2');
  await client.until('job', { jobId }, (value) => stateOf(value) === 'SUCCEEDED');
  client.close();
  await openJob(page, jobId, 'to-save');
  const file = path.join(root, 'kept.txt');
  await answerSaving(app, file);
  await page
    .getByRole('radiogroup', { name: 'Which output is shown' })
    .getByText('stdout', { exact: true })
    .click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText(`Saved to ${file}.`)).toBeVisible();
  const expected = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('');
  expect(readFileSync(file, 'utf8')).toBe(expected);

  const nowhere = path.join(root, 'no-such-folder', 'kept.txt');
  await answerSaving(app, nowhere);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText(/The log was not saved/).first()).toBeVisible();
  expect(existsSync(nowhere)).toBe(false);
});

test('a script dropped on any page opens New job filled in; a folder becomes the working folder', async ({
  desktop,
  root,
}) => {
  const { page } = desktop;
  const script = path.join(root, 'train.py');
  writeFileSync(script, 'print("trained")\n');
  writeFileSync(path.join(root, 'other.py'), '');
  await expect(page.getByText('Healthy')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Jobs', level: 1 })).toBeVisible();
  await dropFile(page, script, path.join(root, 'other.py'));
  // Without the page's own handling the window would be led to the file.
  await expect(page.getByRole('heading', { name: 'New job', level: 1 })).toBeVisible();
  expect(page.url()).toContain('iris://app/');
  expect(desktop.app.windows()).toHaveLength(1);
  const command = page.getByRole('textbox', { name: 'Command', exact: true });
  const folder = page.getByRole('textbox', { name: 'Working folder', exact: true });
  await expect(command).toHaveValue('python3 train.py');
  await expect(folder).toHaveValue(root);
  await expect(page.getByText(/The form takes one: the other was left out\.$/)).toBeVisible();

  const project = path.join(root, 'project.v2');
  mkdirSync(project);
  await dropFile(page, project);
  await expect(folder).toHaveValue(project);
  await expect(command).toHaveValue('python3 train.py');
  writeFileSync(path.join(project, 'train.py'), 'print("trained")\n');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText('trained').first()).toBeVisible();
});

/** As the window system does it: the page is given the file itself. */
async function dropFile(page: Page, ...files: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data });
  await session.detach();
}

async function openJob(page: Page, jobId: string, name: string): Promise<void> {
  await page.evaluate(
    (hash) => {
      window.location.hash = hash;
    },
    `#/job/${encodeURIComponent(jobId)}`,
  );
  await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible();
}

/** Each picker from now on is answered with this folder, or left. */
async function answerPicker(app: ElectronApplication, folder: string | null): Promise<void> {
  await inMainWith(app, folder, ({ dialog }, picked) => {
    const world = globalThis as unknown as { pickers?: unknown[] };
    world.pickers ??= [];
    const { pickers } = world;
    dialog.showOpenDialog = (...given: unknown[]) => {
      pickers.push(given.at(-1));
      return Promise.resolve({ canceled: picked === null, filePaths: picked === null ? [] : [picked] });
    };
  });
}

function askedPickers(app: ElectronApplication): Promise<readonly unknown[]> {
  return inMain(app, () => (globalThis as unknown as { pickers?: unknown[] }).pickers ?? []);
}

async function answerSaving(app: ElectronApplication, file: string): Promise<void> {
  await inMainWith(app, file, ({ dialog }, filePath) => {
    dialog.showSaveDialog = () => Promise.resolve({ canceled: false, filePath });
  });
}

function stateOf(value: unknown): string {
  return (value as { summary: { state: string } }).summary.state;
}
