/** Attempts in containers of an Engine that answers late, twice or not at all, and with notes that a power cut left unreadable. */
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeEngine, frameOf } from '../../../../test/harness/fake-engine.js';
import { runtimeOn } from '../../../../test/harness/fake-engine-runtime.js';
import { logCutOf } from '../../../../core/formats/log-cut.js';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import type { AttemptLaunch, AttemptObservation, DesiredAttempt } from '../../backend.js';
import { type DockerRuntime, type DockerRuntimeOptions } from './docker-runtime.js';

const owner = '0123456789abcdef';
let folder: string;
let engine: FakeEngine;
let said: AttemptObservation[];
let runtimes: DockerRuntime[];
let unhandled: unknown[];
const keep = (error: unknown): number => unhandled.push(error);

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-runtime-'));
  mkdirSync(path.join(folder, 'attempts'));
  writeFileSync(path.join(folder, 'attempts', '.owner'), owner);
  engine = await FakeEngine.start();
  [said, runtimes, unhandled] = [[], [], []];
  process.on('unhandledRejection', keep);
});
afterEach(async () => {
  for (const runtime of runtimes) await runtime.close();
  await engine.stop();
  process.off('unhandledRejection', keep);
  rmSync(folder, { recursive: true, force: true });
  expect(unhandled).toEqual([]);
});

function open(more: Partial<DockerRuntimeOptions> = {}): DockerRuntime {
  const runtime = runtimeOn(engine, {
    attemptsFolder: path.join(folder, 'attempts'),
    home: folder,
    onObservations: (batch) => said.push(...batch),
    ...more,
  });
  runtimes.push(runtime);
  return runtime;
}

const launch = (): AttemptLaunch =>
  launchOf({ command: ['train'], image: 'torch:1', workingDirectory: folder });
const attemptFolder = (uid: string) => path.join(folder, 'attempts', uid);
const labelsOf = (uid: string) => ({ 'iris.managed': owner, 'iris.attempt-uid': uid });
const last = (uid: string) => said.filter((one) => one.uid === uid).at(-1);
const until = (holds: () => boolean) => expect.poll(holds, { timeout: 15_000, interval: 10 }).toBe(true);
const over = (uid: string) => until(() => !['BUILDING', 'RUNNING'].includes(last(uid)?.state ?? 'RUNNING'));

function noted(uid: string, text: string): void {
  mkdirSync(attemptFolder(uid), { recursive: true });
  writeFileSync(path.join(attemptFolder(uid), 'container.json'), text);
}

describe.each(['', '{"phase":"created","containerId":null', '{"phase":"a later one"}'])(
  'of an attempt whose note reads %j',
  (text) => {
    const stop = (uid: string): DesiredAttempt => ({
      ...{ kind: 'stop', uid, workerId: 'here', container: true, reason: 'cancelled', signal: 'SIGTERM' },
      graceMs: 0,
    });

    test('the container that is there is followed to its end', async () => {
      const wanted = launch();
      noted(wanted.uid, text);
      const container = engine.put(`iris-${wanted.uid}`, labelsOf(wanted.uid));
      container.status = 'running';
      open().reconcile([{ kind: 'keep', uid: wanted.uid, launch: wanted }]);
      await until(() => last(wanted.uid)?.state === 'RUNNING');
      engine.end(container, 3);
      await over(wanted.uid);
      expect(last(wanted.uid)).toMatchObject({ state: 'FAILED', exitCode: 3 });
      await until(() => engine.containers.size === 0);
    });

    test('without a container nothing is started, and it says why its end is not known', async () => {
      const wanted = launch();
      noted(wanted.uid, text);
      open().reconcile([{ kind: 'keep', uid: wanted.uid, launch: wanted }]);
      await over(wanted.uid);
      expect(last(wanted.uid)).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'CONTAINER_LOST' } });
      expect(last(wanted.uid)?.cause?.message).toContain('container.json cannot be read');
      expect(engine.asked).not.toContain('POST create');
    });

    test('a stop finds it gone', async () => {
      noted('00000000000000aa', text);
      open().reconcile([stop('00000000000000aa')]);
      await over('00000000000000aa');
      expect(last('00000000000000aa')).toMatchObject({ state: 'KILLED' });
    });
  },
);

test('a container whose start was done and not answered runs, and is not started anew', async () => {
  const wanted = launch();
  engine.instead.set('POST start', (_, response, id) => {
    const container = engine.named(id);
    if (container !== undefined) container.status = 'running';
    // As docker answers to one that runs.
    response.writeHead(304).end();
  });
  open().reconcile([{ kind: 'run', launch: wanted }]);
  await until(() => last(wanted.uid)?.state === 'RUNNING');
  const container = engine.named(`iris-${wanted.uid}`);
  if (container === undefined) throw new Error('its container is gone');
  engine.end(container, 0);
  await over(wanted.uid);
  expect(last(wanted.uid)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 });
});

describe('a stop with a notice', () => {
  const notice = { reason: 'Its place is needed.', deadlineMs: 0 };
  const stopOf = ({ uid }: AttemptLaunch): DesiredAttempt => ({
    ...{ kind: 'stop', uid, workerId: 'here', container: true, reason: 'preempted', signal: 'SIGTERM' },
    ...{ graceMs: 60_000, notice },
  });
  async function running(onNotice: DockerRuntimeOptions['onNotice']) {
    const wanted = launch();
    const runtime = open({ onNotice });
    runtime.reconcile([{ kind: 'run', launch: wanted }]);
    await until(() => last(wanted.uid)?.state === 'RUNNING');
    return { wanted, runtime };
  }

  test('sends its signal once the notice is there to be read', async () => {
    let killedBefore = true;
    const { wanted, runtime } = await running(async () => {
      // A signal that does not wait comes before all of these.
      for (let count = 0; count < 5; count += 1) {
        const [answer] = (await once(
          http.get({ socketPath: engine.socket, path: '/_ping' }),
          'response',
        )) as [http.IncomingMessage];
        await textOf(answer);
      }
      killedBefore = engine.asked.includes('POST kill');
    });
    runtime.reconcile([stopOf(wanted)]);
    await until(() => engine.asked.includes('POST kill'));
    expect(killedBefore).toBe(false);
  });

  test('sends it all the same when the notice cannot be written', async () => {
    const { wanted, runtime } = await running(() => new Promise(() => undefined));
    runtime.reconcile([stopOf(wanted)]);
    await until(() => engine.asked.includes('POST kill'));
  });
});

describe('a stop after a restart of the host while set-up scripts', () => {
  const uid = '00000000000000bb';
  const stop = (): DesiredAttempt => ({
    ...{ kind: 'stop', uid, workerId: 'here', container: true, reason: 'cancelled', signal: 'SIGTERM' },
    graceMs: 60_000,
  });

  test('run gives them their grace', async () => {
    noted(uid, JSON.stringify({ phase: 'set-up', containerId: null, end: null }));
    const container = engine.put(`iris-${uid}-set-up`, labelsOf(uid));
    container.status = 'running';
    engine.instead.set('POST kill', (request, response) => {
      expect(new URL(request.url ?? '', 'http://docker').searchParams.get('signal')).toBe('SIGTERM');
      response.writeHead(204).end();
    });
    open().reconcile([stop()]);
    await until(() => engine.asked.includes('POST kill'));
    expect(last(uid)).toBeUndefined();
    engine.end(container, 0);
    await over(uid);
    expect(last(uid)).toMatchObject({ state: 'KILLED', cause: { code: 'STOPPED_BY_USER' } });
    await until(() => engine.containers.size === 0);
  });

  test('have not begun starts nothing', async () => {
    noted(uid, JSON.stringify({ phase: 'set-up', containerId: null, end: null }));
    engine.put(`iris-${uid}-set-up`, labelsOf(uid));
    open().reconcile([stop()]);
    await over(uid);
    expect(last(uid)).toMatchObject({ state: 'KILLED' });
    expect(engine.asked).not.toContain('POST start');
    await until(() => engine.containers.size === 0);
  });
});

describe('an Engine that does not answer', () => {
  const stop = (uid: string): DesiredAttempt => ({
    ...{ kind: 'stop', uid, workerId: 'here', container: true, reason: 'cancelled', signal: 'SIGTERM' },
    graceMs: 60_000,
  });

  test('at all keeps nobody from stopping what waits for it', async () => {
    const wanted = launch();
    const runtime = open({
      find: () => ({
        ok: true,
        endpoint: { kind: 'socket', path: `${engine.socket}.none` },
        from: 'the test',
      }),
    });
    await runtime.start();
    runtime.reconcile([{ kind: 'run', launch: wanted }]);
    await until(() => last(wanted.uid)?.state === 'BUILDING');
    runtime.reconcile([stop(wanted.uid)]);
    await expect.poll(() => last(wanted.uid)?.state, { timeout: 5000, interval: 10 }).toBe('KILLED');
  });

  test('to one question is not asked it again and again without a pause', async () => {
    const wanted = launch();
    noted(wanted.uid, JSON.stringify({ phase: 'created', containerId: null, end: null }));
    engine.put(`iris-${wanted.uid}`, labelsOf(wanted.uid)).status = 'running';
    let hangsUp = 0;
    engine.instead.set('GET json', (_, response) => {
      hangsUp += 1;
      if (hangsUp === 4) engine.instead.delete('GET json');
      response.destroy();
    });
    const beganMs = performance.now();
    open().reconcile([{ kind: 'keep', uid: wanted.uid, launch: wanted }]);
    await until(() => last(wanted.uid)?.state === 'RUNNING');
    expect(hangsUp).toBe(4);
    expect(performance.now() - beganMs).toBeGreaterThan(4 * 200);
  });
});

test.each([
  ['an Engine here does not answer: that is a loss of the machine', 'socket', 'WORKER_FAILED'],
  ['one elsewhere does not: that is its own, as the way there was lost', 'connector', 'FAILED'],
] as const)('an end with a code of its own while %s', async (_, kind, state) => {
  const wanted = launch();
  const connect = () => net.connect(engine.socket);
  const endpoint =
    kind === 'socket'
      ? ({ kind, path: engine.socket } as const)
      : ({ kind, connect, said: 'the test' } as const);
  const runtime = open({ find: () => ({ ok: true, endpoint, from: 'the test' }) });
  await runtime.start();
  runtime.reconcile([{ kind: 'run', launch: wanted }]);
  await until(() => last(wanted.uid)?.state === 'RUNNING');
  await until(() => engine.asked.includes('GET events'));
  const container = engine.named(`iris-${wanted.uid}`);
  if (container === undefined) throw new Error('its container is gone');
  let refused = 0;
  engine.instead.set('GET events', (_request, response) => {
    refused += 1;
    response.destroy();
  });
  engine.cutOff();
  await until(() => refused > 0);
  engine.end(container, 6);
  engine.instead.delete('GET events');
  await over(wanted.uid);
  expect(last(wanted.uid)).toMatchObject({ state, exitCode: 6 });
});

test('what is left and cannot be removed keeps neither the rest nor who waits for what lives of it', async () => {
  for (const uid of ['aa', 'bb', 'cc']) engine.put(`iris-${uid}`, labelsOf(uid)).status = 'dead';
  for (const uid of ['dd', 'ee']) engine.put(`iris-${uid}`, labelsOf(uid)).status = 'running';
  engine.put('of-another', { 'iris.managed': 'another', 'iris.attempt-uid': 'ff' }).status = 'running';
  engine.instead.set('DELETE container', (_, response, id) => {
    if (engine.named(id)?.status === 'dead') {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end('{"message":"unable to remove filesystem: device or resource busy"}');
      return;
    }
    engine.containers.delete(id);
    response.writeHead(204).end();
  });
  let swept = 0;
  const runtime = open({ onSwept: () => (swept += 1) });
  await runtime.start();
  runtime.reconcile([]);
  await until(() => swept === 1);
  expect([...engine.containers.values()].map(({ name }) => name)).toEqual([
    'iris-aa',
    'iris-bb',
    'iris-cc',
    'of-another',
  ]);
});

test("our sockets are covered in a container that sees the folder they are in, and a folder that is not there isn't made", async () => {
  const shared = path.join(folder, 'shared');
  const [sockets, gone] = [path.join(shared, 'sockets'), path.join(shared, 'gone')];
  const workingDirectory = path.join(folder, 'run');
  for (const each of [sockets, workingDirectory]) mkdirSync(each, { recursive: true });
  const mounts = [{ source: shared, target: '/shared' }];
  const wanted = launchOf({ command: ['train'], image: 'torch:1', workingDirectory, mounts });
  const more = { dataFolder: path.join(folder, 'data'), socketFolders: () => [sockets, gone] };
  open(more).reconcile([{ kind: 'run', launch: wanted }]);
  await until(() => last(wanted.uid)?.state === 'RUNNING');
  const covered = engine.plans[0]?.HostConfig?.Mounts?.filter(({ Type: type }) => type === 'tmpfs');
  expect(covered?.map(({ Target: target }) => target)).toEqual(['/shared/sockets']);
});

test('an end on an Engine elsewhere, whose clock is ten minutes ahead, is told by ours', async () => {
  engine.aheadMs = 600_000;
  const connect = () => net.connect(engine.socket);
  const endpoint = { kind: 'connector', connect, said: 'elsewhere' } as const;
  const runtime = open({ find: () => ({ ok: true, endpoint, from: 'the test' }) });
  await runtime.start();
  const wanted = launch();
  const begunMs = Date.now();
  runtime.reconcile([{ kind: 'run', launch: wanted }]);
  await until(() => last(wanted.uid)?.state === 'RUNNING');
  const container = engine.named(`iris-${wanted.uid}`);
  if (container === undefined) throw new Error('its container is gone');
  engine.end(container, 6);
  await over(wanted.uid);
  // The two clocks are not told apart by less than a moment.
  const finishedAtMs = last(wanted.uid)?.finishedAtMs ?? 0;
  expect(finishedAtMs).toBeGreaterThan(begunMs - 1000);
  expect(finishedAtMs).toBeLessThan(Date.now() + 1000);
});

test('a container that somebody starts anew after its end is ended, and the attempt with it', async () => {
  const wanted = launch();
  open().reconcile([{ kind: 'run', launch: wanted }]);
  await until(() => last(wanted.uid)?.state === 'RUNNING');
  await until(() => engine.asked.includes('GET events'));
  const container = engine.named(`iris-${wanted.uid}`);
  if (container === undefined) throw new Error('its container is gone');
  engine.instead.set('POST kill', (_, response) => {
    engine.end(container, 137);
    response.writeHead(204).end();
  });
  engine.end(container, 143);
  container.status = 'running';
  await over(wanted.uid);
  expect(engine.asked).toContain('POST kill');
  expect(last(wanted.uid)).toMatchObject({ exitCode: 137 });
  await until(() => engine.containers.size === 0);
});

test('a log that the Engine cannot read to its end changes nothing of how its container ended, and that is said', async () => {
  const wanted = launch();
  open().reconcile([{ kind: 'run', launch: wanted }]);
  await until(() => last(wanted.uid)?.state === 'RUNNING');
  const container = engine.named(`iris-${wanted.uid}`);
  if (container === undefined) throw new Error('its container is gone');
  container.lines.push('one', 'two');
  const words = Buffer.from("Error grabbing logs: invalid character '\\x00' looking for beginning of value");
  let readings = 0;
  engine.instead.set('GET logs', (_, response) => {
    readings += 1;
    // As the Engine tells it: a message that is of neither stream, behind what it could read.
    const said = container.lines.map((line, at) => frameOf(at, `${line}\n`));
    response.end(Buffer.concat([...said, Buffer.from([3, 0, 0, 0, 0, 0, 0, words.length]), words]));
  });
  // What was taken while it ran is not taken again at its end.
  await until(() => readings > 0);
  engine.end(container, 0);
  await over(wanted.uid);
  expect(readings).toBe(3);
  expect(last(wanted.uid)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 });
  expect(readFileSync(path.join(attemptFolder(wanted.uid), 'out'), 'utf8')).toBe('one\ntwo\n');
  const warnings = last(wanted.uid)?.warnings ?? [];
  expect(warnings).toMatchObject([{ code: 'LOG_UNREADABLE' }]);
  expect(warnings[0]?.message).toContain(
    "(The Engine ended the log: Error grabbing logs: invalid character '\\x00'",
  );
  expect(logCutOf(warnings)).toEqual({ out: 8, err: 0, by: 'unreadable' });
});

test('a log whose reading breaks off at the end of its container is read again to its end', async () => {
  const wanted = launch();
  noted(wanted.uid, '{"phase":"created","containerId":null,"end":null}');
  const container = engine.put(`iris-${wanted.uid}`, labelsOf(wanted.uid));
  container.lines.push('one', 'two');
  engine.end(container, 0);
  let readings = 0;
  engine.instead.set('GET logs', (_, response) => {
    readings += 1;
    engine.instead.delete('GET logs');
    response.flushHeaders();
    // In the midst of a message.
    response.write(Buffer.from([1, 0, 0, 0, 0, 0, 0, 40, 50]), () => response.destroy());
  });
  open().reconcile([{ kind: 'keep', uid: wanted.uid, launch: wanted }]);
  await over(wanted.uid);
  expect(readings).toBe(1);
  expect(last(wanted.uid)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 });
  expect(readFileSync(path.join(attemptFolder(wanted.uid), 'out'), 'utf8')).toBe('one\ntwo\n');
});
