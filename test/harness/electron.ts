/** The real application in a fresh data folder, driven through Playwright; fails a test when the page's policy was violated or the page threw. */
import { _electron, expect, test as base, type ElectronApplication, type Page } from '@playwright/test';
import type { ChildProcess } from 'node:child_process';
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
  /** What the test provokes: waits until each of these was seen; faults that match one of them are none from now on. */
  expectFaults(provoked: readonly RegExp[]): Promise<void>;
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

/**
 * The application opens nothing until it is told here that the driver has attached: Playwright would wait for ever for a page that opens
 * while it attaches. (It holds back an application itself only where it may load its own part into it, which needs Electron's default one.)
 */
async function launchAttached(options: Parameters<typeof _electron.launch>[0]): Promise<ElectronApplication> {
  const app = await _electron.launch(options);
  const told = () =>
    inMain(app, () => {
      const attached: unknown = Reflect.get(globalThis, 'irisDriverAttached');
      if (typeof attached === 'function') Reflect.apply(attached, undefined, []);
      return typeof attached;
    });
  // Its start may not have come so far.
  await expect
    .poll(told, { message: 'the application waits for its driver', timeout: 60_000 })
    .toBe('function');
  return app;
}

/** What a test that failed has left running. */
const launched = new Set<ChildProcess>();

/** Ends what a failed test left behind; a test that passed has ended its own. */
function endLaunched(): void {
  for (const child of launched)
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  launched.clear();
}

export async function makeRoot(): Promise<string> {
  return mkdtemp(path.join(os.tmpdir(), 'iris-e2e-home-'));
}

export async function launchDesktop(root: string, options: LaunchOptions = {}): Promise<Desktop> {
  const runtime = resolveRuntime();
  const seen: string[] = [];
  const provoked: RegExp[] = [];
  const app = await launchAttached({
    executablePath: runtime.executable,
    args: [...runtime.args, '--home', root, ...(options.args ?? [])],
    env: { ...environment(), ...runtime.env, IRIS_WAIT_FOR_DRIVER: '1', ...options.env },
    // Playwright turns the sandbox off unless told; it is what this is tested with.
    chromiumSandbox: !runtime.args.includes('--no-sandbox'),
    timeout: 60_000,
  });
  launched.add(app.process());
  const watched = new Set<Page>();
  // A window may be known before it is announced, and is then announced as well.
  const watchPage = (page: Page) => {
    if (watched.has(page)) return;
    watched.add(page);
    page.on('pageerror', (error) => seen.push(`uncaught in the page: ${error.message}`));
    page.on('console', (message) => {
      if (/content security policy|refused to/i.test(message.text())) seen.push(message.text());
    });
  };
  app.on('window', watchPage);
  const page = await app.firstWindow();
  for (const known of app.windows()) watchPage(known);
  // The menu comes after the page has loaded.
  await expect.poll(() => inMain(app, ({ Menu }) => Menu.getApplicationMenu() !== null)).toBe(true);
  const home = resolveHome({ flag: root });
  return {
    app,
    page,
    home,
    get faults() {
      return seen.filter((fault) => !provoked.some((pattern) => pattern.test(fault)));
    },
    async expectFaults(patterns) {
      // The console of a page is told a moment after the page itself knows.
      const missing = () =>
        patterns.map(String).filter((_text, at) => !seen.some((fault) => patterns[at]?.test(fault)));
      await expect.poll(missing, { message: 'faults that were to be provoked' }).toEqual([]);
      provoked.push(...patterns);
    },
    log: () => readText(path.join(home.logs, 'desktop.log')),
    client: () => connectSoon(home.socket),
    async quit() {
      const gone = ended(app);
      await actInMain(app, ({ app: electron }) => electron.quit());
      await gone;
    },
  };
}

type MainWorld = typeof Electron.CrossProcessExports;

/** The debugger may lose the answer of an evaluation that was made, when memory is tidied at that moment. */
const lostAnswer = /promise was (garbage )?collected/i;

async function answered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Error) || !lostAnswer.test(error.message)) throw error;
    }
  }
}

/** Reads or sets something in the main process. Asked again when the answer was lost, so doing it twice must be as doing it once. */
export function inMain<T>(app: ElectronApplication, ask: (world: MainWorld) => T | Promise<T>): Promise<T> {
  return answered(() => app.evaluate<T>(ask));
}

/** The same with a value of the test's, which a function that is sent there as text cannot see otherwise. */
export function inMainWith<T, A>(
  app: ElectronApplication,
  value: A,
  ask: (world: MainWorld, value: A) => T | Promise<T>,
): Promise<T> {
  return answered(() => app.evaluate<T, A>(ask as Parameters<typeof app.evaluate<T, A>>[0], value));
}

/** Does something once in the main process. The answer does not count: the process may end before it; what came of it is seen elsewhere. */
export async function actInMain(app: ElectronApplication, act: (world: MainWorld) => void): Promise<void> {
  await app.evaluate(act).catch(() => undefined);
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
    endLaunched();
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
