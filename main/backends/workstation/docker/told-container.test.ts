/** The signal of a stop, with an Engine whose answers are lost and hosts that come and go: sent once, and never not at all. */
import type http from 'node:http';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeEngine, type FakeContainer } from '../../../../test/harness/fake-engine.js';
import { runtimeOn } from '../../../../test/harness/fake-engine-runtime.js';
import type { AttemptObservation, DesiredAttempt } from '../../backend.js';
import type { DockerRuntime } from './docker-runtime.js';

const owner = '0123456789abcdef';
const uid = '00000000000000cc';
let folder: string;
let engine: FakeEngine;
let container: FakeContainer;
let said: AttemptObservation[];
let runtimes: DockerRuntime[];
/** Signals the Engine was asked to send. */
let sent: string[];
/** Of those, the ones it has done and remembers. */
let remembered: string[];
/** Those who listen to its events. */
let live: http.ServerResponse[];

type Answer = (signal: string, response: http.ServerResponse) => void;
const done: Answer = (signal, response) => {
  remembered.push(signal);
  response.writeHead(204).end();
};
const lost: Answer = (_, response) => response.destroy();
const doneAndLost: Answer = (signal, response) => {
  remembered.push(signal);
  response.destroy();
};

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-told-'));
  const attempt = path.join(folder, 'attempts', uid);
  mkdirSync(attempt, { recursive: true });
  writeFileSync(path.join(folder, 'attempts', '.owner'), owner);
  writeFileSync(path.join(attempt, 'container.json'), '{"phase":"created","containerId":null,"end":null}');
  engine = await FakeEngine.start();
  [said, runtimes, sent, remembered, live] = [[], [], [], [], []];
  container = engine.put(`iris-${uid}`, { 'iris.managed': owner, 'iris.attempt-uid': uid });
  container.status = 'running';
  engine.instead.set('GET events', (request, response) => {
    const query = new URL(request.url ?? '', 'http://docker').searchParams;
    response.flushHeaders();
    if (!query.has('until')) {
      live.push(response);
      return;
    }
    const numbers = new Map<string, number>(Object.entries(os.constants.signals));
    for (const signal of remembered) {
      const Actor = { ID: container.id, Attributes: { signal: String(numbers.get(signal)) } };
      response.write(`${JSON.stringify({ Type: 'container', Action: 'kill', Actor })}\n`);
    }
    response.end();
  });
});
afterEach(async () => {
  for (const runtime of runtimes) await runtime.close();
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** How the Engine takes each request for a signal, in order; the last for all that follow. */
function answers(...all: Answer[]): void {
  engine.instead.set('POST kill', (request, response) => {
    const signal = new URL(request.url ?? '', 'http://docker').searchParams.get('signal') ?? '';
    const answer = all[Math.min(sent.length, all.length - 1)];
    sent.push(signal);
    answer?.(signal, response);
  });
}

function open(graceMs = 60_000): DockerRuntime {
  const attemptsFolder = path.join(folder, 'attempts');
  const runtime = runtimeOn(engine, {
    attemptsFolder,
    home: folder,
    onObservations: (batch) => said.push(...batch),
  });
  runtimes.push(runtime);
  const stop = { kind: 'stop', uid, workerId: 'here', container: true, reason: 'cancelled' } as const;
  const desired: DesiredAttempt = { ...stop, signal: 'SIGTERM', graceMs };
  runtime.reconcile([desired]);
  return runtime;
}

const until = (holds: () => boolean) => expect.poll(holds, { timeout: 15_000, interval: 10 }).toBe(true);
function end(exitCode: number): void {
  engine.end(container, exitCode);
  const event = { Type: 'container', Action: 'die', Actor: { ID: container.id } };
  for (const listener of live) listener.write(`${JSON.stringify(event)}\n`);
}
const over = () => until(() => said.some(({ finishedAtMs }) => finishedAtMs !== null));
const isNoted = () =>
  readFileSync(path.join(folder, 'attempts', uid, 'sent.json'), 'utf8').includes('"sent":true');

async function ended(): Promise<void> {
  end(7);
  await over();
  expect(said.at(-1)).toMatchObject({ state: 'KILLED', exitCode: 7, cause: { code: 'STOPPED_BY_USER' } });
}

/** The host that was opened last goes on with the stop: by the time it says that it runs it has sent whatever it sends. */
async function settled(): Promise<void> {
  said.length = 0;
  await until(() => said.some(({ state }) => state === 'RUNNING'));
}

test('a host that comes after the one that sent it does not send it again', async () => {
  answers(done);
  const first = open();
  await until(() => sent.length === 1);
  await until(isNoted);
  await first.close();
  open();
  await settled();
  await ended();
  expect(sent).toEqual(['SIGTERM']);
});

test.each([
  ['was sent', doneAndLost, ['SIGTERM']],
  ['was not', lost, ['SIGTERM', 'SIGTERM']],
])('where the answer was lost the Engine is asked, and it %s', async (_, answer, expected) => {
  answers(answer, done);
  open();
  await until(isNoted);
  await ended();
  expect(sent).toEqual(expected);
});

test('so does the host after one that was killed before the answer', async () => {
  answers(doneAndLost);
  const first = open();
  await until(() => sent.length === 1);
  await first.close();
  open();
  await until(isNoted);
  await ended();
  expect(sent).toEqual(['SIGTERM']);
});

test('an Engine that says nothing of what it sent is asked to send it again, and keeps no stop from its end', async () => {
  answers(lost, lost, (signal, response) => {
    done(signal, response);
    if (signal === 'SIGKILL') end(137);
  });
  const usual = engine.instead.get('GET events');
  engine.instead.set('GET events', (request, response, id) => {
    if (request.url?.includes('until') === true) response.writeHead(403).end('{"message":"not for you"}');
    else usual?.(request, response, id);
  });
  open(1000);
  await over();
  expect(sent).toEqual(['SIGTERM', 'SIGTERM', 'SIGTERM', 'SIGKILL']);
});
