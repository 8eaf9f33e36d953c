/** The real application in a fresh data folder, driven through Playwright; fails a test when the page's policy was violated or the page threw. */
import { _electron, expect, test as base, type ElectronApplication, type Page } from '@playwright/test';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { resolveHome, type Home } from '../../main/home.js';
import { resolveRuntime } from '../../scripts/runtime.mjs';
import { connectClient, type TestClient } from './client.js';

export interface Desktop {
  readonly app: ElectronApplication;
  readonly page: Page;
  readonly home: Home;
  /** What the page must never do: policy violations and uncaught errors, in order. */
  readonly faults: readonly string[];
  /** The test provoked this many, and has looked at them. */
  expectFaults(count: number): void;
  /** The desktop's own log. */
  log(): string;
  /** A client of the controller that owns the folder, as irisctl has it. */
  client(): Promise<TestClient>;
  /** Quits as the menu does, without a question, and waits for the end of the process. */
  quit(): Promise<void>;
}

export interface LaunchOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export async function makeRoot(): Promise<string> {
  return mkdtemp(path.join(os.tmpdir(), 'iris-e2e-home-'));
}

export async function launchDesktop(root: string, options: LaunchOptions = {}): Promise<Desktop> {
  const runtime = resolveRuntime();
  const faults: string[] = [];
  const app = await _electron.launch({
    executablePath: runtime.executable,
    args: [...runtime.args, '--home', root, ...(options.args ?? [])],
    env: { ...environment(), ...runtime.env, ...options.env },
    // Playwright turns the sandbox off unless told; it is what this is tested with.
    chromiumSandbox: !runtime.args.includes('--no-sandbox'),
    timeout: 30_000,
  });
  const watchPage = (page: Page) => {
    page.on('pageerror', (error) => faults.push(`uncaught in the page: ${error.message}`));
    page.on('console', (message) => {
      if (/content security policy|refused to/i.test(message.text())) faults.push(message.text());
    });
  };
  app.on('window', watchPage);
  const page = await app.firstWindow();
  for (const known of app.windows()) watchPage(known);
  const home = resolveHome({ flag: root });
  return {
    app,
    page,
    home,
    faults,
    expectFaults(count) {
      expect(faults).toHaveLength(count);
      faults.length = 0;
    },
    log: () => readText(path.join(home.logs, 'desktop.log')),
    client: () => connectSoon(home.socket),
    async quit() {
      const gone = ended(app);
      // The connection breaks as the process ends, which may be before the answer.
      await app.evaluate(({ app: electron }) => electron.quit()).catch(() => undefined);
      await gone;
    },
  };
}

/**
 * The end of the process itself: Playwright's own event also waits for its pipes, which a controller that lives on has inherited.
 */
export function ended(app: ElectronApplication): Promise<void> {
  const child = app.process();
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
  });
}

/** The window is there before its controller answers. */
async function connectSoon(socket: string): Promise<TestClient> {
  const found: TestClient[] = [];
  const tried = async () => {
    const client = await connectClient(socket).catch(() => null);
    if (client !== null) found.push(client);
    return found.length;
  };
  await expect.poll(tried, { message: `a controller answers on ${socket}` }).toBeGreaterThan(0);
  const [client] = found;
  if (client === undefined) throw new Error('not reached');
  return client;
}

/** Ends what still owns a folder, stops its jobs, removes it. For the end of a test, whatever became of it. */
export async function removeRoot(root: string): Promise<void> {
  const home = resolveHome({ flag: root });
  const client = await connectClient(home.socket).catch(() => null);
  if (client !== null) {
    await stopAllJobs(client);
    await client.call('shutdown', { reason: 'the test is over' }).catch(() => undefined);
    await client.closed;
  }
  await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

async function stopAllJobs(client: TestClient): Promise<void> {
  const { rows } = await client.call('job.list', {
    filter: { states: ['PENDING', 'RUNNING'] },
    sort: { key: 'submitted', descending: false },
    offset: 0,
    limit: 500,
  });
  if (rows.length === 0) return;
  await client.call('job.stop', { requestId: `stop-${Date.now()}`, jobIds: rows.map((row) => row.id) });
  await client.until('jobs', {}, (value) => {
    const { counts } = value as { counts: { running: number; waiting: number } };
    return counts.running === 0 && counts.waiting === 0;
  });
}

/** Submits a shell line as irisctl would, so that a test of the window need not fill the form. */
export async function submit(
  client: TestClient,
  name: string,
  script: string,
  extra: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const { jobId } = await client.call('job.submit', {
    requestId: `test-${name}-${Date.now()}`,
    request: { name, command: ['sh', '-c', script], workingDirectory: os.tmpdir(), ...extra },
  });
  return jobId;
}

export async function attemptOf(
  client: TestClient,
  jobId: string,
): Promise<{ uid: string; pid: number | null }> {
  const { rows } = await client.call('task.list', { jobId, offset: 0, limit: 1 });
  const attempt = rows[0]?.attempts.at(-1);
  if (attempt === undefined) throw new Error(`${jobId} has no attempt yet`);
  return { uid: attempt.uid, pid: attempt.pid };
}

/** The shell of the caller must not decide what the application does. */
function environment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !/^(IRIS_EXAMPLE|IRIS_DESKTOP_HOME|ELECTRON_RUN_AS_NODE|NODE_OPTIONS)$/.test(entry[0]),
  );
  return { ...Object.fromEntries(kept), IRIS_HEADLESS_DISPLAY: '1' };
}

function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

interface Fixtures {
  readonly root: string;
  readonly desktop: Desktop;
}

/** `root`: an empty data folder; `desktop`: the application on it, connected to its controller. */
export const test = base.extend<Fixtures>({
  // Playwright reads the fixtures a function needs from its first parameter's pattern.
  root: async ({ browserName: _unused }, use) => {
    const root = await makeRoot();
    await use(root);
    await removeRoot(root);
  },
  desktop: async ({ root }, use, info) => {
    const desktop = await launchDesktop(root);
    await use(desktop);
    if (info.status !== info.expectedStatus) {
      await info.attach('desktop.log', { body: desktop.log(), contentType: 'text/plain' });
      const picture = await desktop.page.screenshot().catch(() => null);
      if (picture !== null) await info.attach('window.png', { body: picture, contentType: 'image/png' });
    }
    await stopJobsOf(desktop);
    await desktop.quit();
    expect(desktop.faults).toEqual([]);
  },
});

async function stopJobsOf(desktop: Desktop): Promise<void> {
  const client = await desktop.client();
  await stopAllJobs(client);
  client.close();
}

export { expect };
