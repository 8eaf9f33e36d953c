/**
 * The desktop's way to a controller, with everything real but Electron: takes over from an older host, leaves one alone that is not,
 * and starts its own again after a crash of its thread. No job is lost, none runs twice.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { contractVersion } from '../../core/contract/constants.js';
import { connectOrStart } from '../../main/controller/host-link.js';
import { resolveHome } from '../../main/home.js';
import { builtModule } from '../../main/modules.js';
import { readLinkFrame } from '../../main/server/frame-text.js';
import { appVersion } from '../../main/version.js';
import { startControllerLink, type ControllerLink } from '../../main/shell/controller-link.js';
import { connectClient, type TestClient } from '../harness/client.js';
import { eventually } from '../harness/eventually.js';
import { attemptsOf, lastAttempt, over, running, shell, stop, submit, textOf } from '../harness/host-jobs.js';
import { makeHomeRoot, startHostProcess, type HostProcess } from '../harness/host-process.js';

let root: string;
let remove: () => Promise<void>;
let host: HostProcess | null;
let link: ControllerLink | null;
let log: string[];
let client: TestClient;

beforeEach(async () => {
  ({ root, remove } = await makeHomeRoot());
  host = null;
  link = null;
  log = [];
});
afterEach(async () => {
  // What a failed test left running.
  const left = await connectClient(resolveHome({ flag: root }).socket).catch(() => null);
  if (left !== null) {
    const { rows } = await left.call('job.list', {
      filter: { states: ['PENDING', 'RUNNING'] },
      sort: { key: 'submitted', descending: false },
      offset: 0,
      limit: 50,
    });
    if (rows.length > 0) await stop(left, ...rows.map((row) => row.id));
  }
  await link?.stop('the test is over');
  if (host !== null && host.process.exitCode === null) await host.shutdown();
  await remove();
});

/** As the window's main process does it. */
function startDesktop(version: string, askMs?: number): ControllerLink {
  const home = resolveHome({ flag: root });
  link = startControllerLink({
    connectOrStart: () =>
      connectOrStart({
        home,
        appVersion: version,
        runtime: 'a test',
        workerModule: pathToFileURL(builtModule('controller-worker')),
      }),
    appVersion: version,
    log: (_level, line) => log.push(line),
    nowMs: Date.now,
    ...(askMs === undefined ? {} : { askMs }),
  });
  return link;
}

const gate = () => path.join(root, 'gate');
const waiting = () =>
  shell(`echo before; until test -e '${gate()}'; do sleep 0.05; done; echo after; exit 7`);

async function connect(): Promise<TestClient> {
  client = await connectClient(resolveHome({ flag: root }).socket);
  return client;
}

/** Its end and its log are those of one undisturbed attempt. */
async function endsWhole(jobId: string, uid: string): Promise<void> {
  writeFileSync(gate(), '');
  expect(await over(client, jobId)).toMatchObject({ state: 'FAILED', exitCode: 7 });
  expect((await attemptsOf(client, jobId)).map((attempt) => attempt.uid)).toEqual([uid]);
  expect(await textOf(client, uid)).toBe('before\nafter\n');
}

test('an older host is asked to leave and its jobs go on under the newer desktop', async () => {
  host = await startHostProcess(root);
  const before = await host.connect();
  const jobId = await submit(before, waiting());
  await running(before, jobId);
  await eventually(async () => (await lastAttempt(before, jobId)).pid).toBeGreaterThan(0);
  const { uid, pid } = await lastAttempt(before, jobId);
  const left = once(host.process, 'exit');
  const desktop = startDesktop('99.0.0');
  expect(await left).toEqual([0, null]);
  expect(readFileSync(path.join(host.home.logs, 'host-headless.log'), 'utf8')).toContain(
    '"message":"Stopping","reason":"version 99.0.0 takes over"',
  );
  await eventually(() => desktop.kind()).toBe('own');
  expect(log.join('\n')).toContain(`The controller there is version ${appVersion}; taking over from it.`);
  await connect();
  expect(await client.call('status', {})).toMatchObject({
    host: 'desktop',
    appVersion: '99.0.0',
    counts: { running: 1 },
  });
  expect(await lastAttempt(client, jobId)).toMatchObject({ uid, pid, state: 'RUNNING' });
  await endsWhole(jobId, uid);
});

test.each([
  ['of the same version', appVersion],
  ['that is newer', '0.0.1'],
])('a host %s is attached to and stays', async (_name, version) => {
  host = await startHostProcess(root);
  const desktop = startDesktop(version);
  await eventually(() => desktop.kind()).toBe('attached');
  await connect();
  expect(await client.call('status', {})).toMatchObject({
    host: 'headless',
    appVersion,
    pid: host.process.pid,
  });
  await desktop.stop('the test detaches');
  expect((await client.call('status', {})).pid).toBe(host.process.pid);
});

test('a host that hangs is told of on every connection, and gone on with when it answers again', async () => {
  const hanging = await startHostProcess(root);
  host = hanging;
  const desktop = startDesktop(appVersion, 1000);
  await eventually(() => desktop.kind()).toBe('attached');
  const window = connectThrough(desktop);
  await eventually(() => window.received.length).toBe(1);
  hanging.process.kill('SIGSTOP');
  try {
    await eventually(() => window.closed).toHaveLength(1);
    expect(window.closed[0]).toMatch(/does not answer: it has said nothing for 2 s\. .*Running jobs go on\./);
    const later = connectThrough(desktop);
    await eventually(() => later.received).toMatchObject([
      { kind: 'refused', refusal: { code: 'UNAVAILABLE', message: window.closed[0] } },
    ]);
  } finally {
    hanging.process.kill('SIGCONT');
  }
  await eventually(() => desktop.kind()).toBe('attached');
  const again = connectThrough(desktop);
  await eventually(() => again.received).toMatchObject([
    { kind: 'result', value: { pid: hanging.process.pid } },
  ]);
  expect(window.closed).toHaveLength(1);
});

test('a host that hung and was ended is followed by a controller of our own', async () => {
  const hanging = await startHostProcess(root);
  host = hanging;
  const desktop = startDesktop(appVersion, 1000);
  await eventually(() => desktop.kind()).toBe('attached');
  hanging.process.kill('SIGSTOP');
  try {
    await eventually(() => desktop.failure()?.message ?? '').toContain('does not answer');
  } finally {
    await hanging.kill();
    host = null;
  }
  await eventually(() => desktop.kind()).toBe('own');
});

/** Greets as the window does. */
function connectThrough(desktop: ControllerLink) {
  const received: unknown[] = [];
  const closed: string[] = [];
  const client = desktop.openClient(
    (frame) => received.push(readLinkFrame(frame)),
    (reason) => closed.push(reason.message),
  );
  client.send({ kind: 'call', id: 1, method: 'hello', params: { contractVersion, client: 'window' } });
  return { received, closed };
}

/** Makes the controller's thread throw where nothing catches, as a fault of ours would: it cannot read this message. */
function crashOfNextMessage(): void {
  const post = vi.spyOn(Worker.prototype, 'postMessage');
  post.mockImplementationOnce(function (this: Worker) {
    post.mockRestore();
    this.postMessage(null);
  });
}

/** Any frame of a client passes to the thread. */
function crash(desktop: ControllerLink): Promise<string> {
  crashOfNextMessage();
  return new Promise((resolve) => {
    desktop.openClient(
      () => undefined,
      (reason) => resolve(reason.message),
    );
  });
}

test("a crash of the controller's thread is told, it is started again, its jobs are adopted; a second is a state", async () => {
  const desktop = startDesktop(appVersion);
  await eventually(() => desktop.kind()).toBe('own');
  await connect();
  const first = client;
  const jobId = await submit(client, waiting());
  await running(client, jobId);
  await eventually(async () => (await lastAttempt(first, jobId)).pid).toBeGreaterThan(0);
  const { uid, pid } = await lastAttempt(client, jobId);

  expect(await crash(desktop)).toContain("The controller's thread failed: ");
  await first.closed;
  await eventually(() => log.filter((line) => line === 'Connected to a controller (own).').length).toBe(2);
  await connect();
  expect(await client.call('status', {})).toMatchObject({ healthy: true, counts: { running: 1 } });
  await eventually(async () => (await lastAttempt(client, jobId)).pid).toBe(pid);
  const second = await submit(client, shell('exit 0'));
  expect((await over(client, second)).state).toBe('SUCCEEDED');

  await crash(desktop);
  await eventually(() => desktop.failure()?.message ?? '').toContain('ended twice within a minute');
  expect(existsSync(gate())).toBe(false);
  desktop.retry();
  await eventually(() => desktop.kind()).toBe('own');
  await connect();
  await endsWhole(jobId, uid);
});
