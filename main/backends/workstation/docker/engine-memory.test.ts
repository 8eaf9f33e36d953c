/** What an Engine that was started anew forgot of a container, as it changes how an attempt goes on and ends. */
import type http from 'node:http';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { launchOf } from '../../../../test/harness/backend-probe.js';
import { FakeEngine, type FakeContainer } from '../../../../test/harness/fake-engine.js';
import { runtimeOn } from '../../../../test/harness/fake-engine-runtime.js';
import type { AttemptObservation } from '../../backend.js';
import type { DockerRuntime, DockerRuntimeOptions } from './docker-runtime.js';

let folder: string;
let launch: ReturnType<typeof launchOf>;
let engine: FakeEngine;
let said: AttemptObservation[];
let runtime: DockerRuntime;
/** Those who listen to its events, and what it remembers. */
let live: http.ServerResponse[];
let remembered: string[];
let onState: DockerRuntimeOptions['onState'];

const until = (holds: () => boolean) => expect.poll(holds, { timeout: 15_000, interval: 10 }).toBe(true);
const container = (): FakeContainer | undefined => engine.named(`iris-${launch.uid}`);
const event = (Action: string, Attributes: Record<string, string> = {}) =>
  `${JSON.stringify({ Type: 'container', Action, Actor: { ID: container()?.id ?? '', Attributes } })}\n`;
const last = () => said.at(-1);
const over = () => until(() => said.some(({ finishedAtMs }) => finishedAtMs !== null));

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-memory-'));
  mkdirSync(path.join(folder, 'attempts'));
  launch = launchOf({ command: ['train'], image: 'torch:1', workingDirectory: folder });
  engine = await FakeEngine.start();
  [said, live, remembered] = [[], [], []];
  engine.instead.set('GET events', (request, response) => {
    response.flushHeaders();
    if (request.url?.includes('until') === true) response.end(remembered.map((one) => event(one)).join(''));
    else live.push(response);
  });
  onState = () => undefined;
  runtime = runtimeOn(engine, {
    onState: (state) => onState(state),
    attemptsFolder: path.join(folder, 'attempts'),
    home: folder,
    onObservations: (batch) => said.push(...batch),
  });
});
afterEach(async () => {
  await runtime.close();
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs until its Engine tells of its end so, and is then found with another code. */
async function endsAs(told: Record<string, string>, found: number): Promise<void> {
  runtime.reconcile([{ kind: 'run', launch }]);
  await until(() => last()?.state === 'RUNNING' && live.length > 0);
  const one = container();
  if (one === undefined) throw new Error('It has no container.');
  engine.end(one, found);
  live.at(-1)?.write(event('die', told));
  await over();
}

test.each([
  ['0', { state: 'SUCCEEDED', exitCode: 0, cause: null }],
  ['3', { state: 'FAILED', exitCode: 3, cause: { code: 'EXIT_CODE' } }],
  ['255', { state: 'FAILED', exitCode: 255, cause: { code: 'EXIT_CODE' } }],
])(
  'one that was told to have ended with %s, which the next Engine does not know, ended so',
  async (exitCode, end) => {
    await endsAs({ exitCode }, 255);
    expect(last()).toMatchObject(end);
  },
);

test('one that was told to have ended with one code and is found with another that is known ended with that', async () => {
  await endsAs({ exitCode: '0' }, 4);
  expect(last()).toMatchObject({ state: 'FAILED', exitCode: 4 });
});

/** The connection is lost over its first start, and the Engine that answers then says that it does not run. Returns how often that was asked for. */
async function startTwice(remembers: readonly string[], status: number): Promise<number> {
  let starts = 0;
  engine.instead.set('POST start', (_, response) => {
    starts += 1;
    const one = container();
    if (starts === 1) response.destroy();
    else if (one !== undefined) {
      one.status = 'running';
      response.writeHead(status).end();
    }
  });
  remembered = [...remembers];
  runtime.reconcile([{ kind: 'run', launch }]);
  await until(() => last()?.state === 'RUNNING' || typeof last()?.finishedAtMs === 'number');
  const one = container();
  if (last()?.state === 'RUNNING' && one !== undefined) {
    engine.end(one, 0);
    live.at(-1)?.write(event('die', { exitCode: '0' }));
  }
  await over();
  return starts;
}

test('one whose start had no answer, and whose Engine was started anew, may have begun: it is lost and not started again', async () => {
  expect(await startTwice([], 204)).toBe(1);
  expect(last()).toMatchObject({ state: 'WORKER_FAILED', cause: { code: 'CONTAINER_LOST' } });
  expect(last()?.cause?.message).toBe(
    'The Docker Engine was restarted while it started the container, and does not know whether its command began.',
  );
  await until(() => engine.containers.size === 0);
});

test.each([204, 304])(
  'one whose start had no answer is started by the Engine that made it (%i)',
  async (status) => {
    expect(await startTwice(['create'], status)).toBe(2);
    expect(last()).toMatchObject({ state: 'SUCCEEDED', warnings: [] });
  },
);

test('one whose start nobody heard is started by the next Engine', async () => {
  // It goes just before the start, and another comes once that was noticed.
  let isAway = false;
  engine.instead.set('POST attach', (_, response) => {
    engine.instead.delete('POST attach');
    response.writeHead(404, { connection: 'close' }).end('{"message":"no"}');
    engine.leave();
    isAway = true;
  });
  onState = ({ state }) => {
    if (state !== 'FAILED' || !isAway) return;
    isAway = false;
    engine.comeBack();
  };
  runtime.reconcile([{ kind: 'run', launch }]);
  await until(() => last()?.state === 'RUNNING' || typeof last()?.finishedAtMs === 'number');
  expect(last()?.state).toBe('RUNNING');
  expect(engine.asked.filter((one) => one === 'POST start')).toHaveLength(1);
});
