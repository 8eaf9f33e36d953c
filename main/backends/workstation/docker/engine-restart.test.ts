/** Whether an Engine was restarted under a container, as one that answers slowly, at length or not at all lets it be told. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answeringEngine, type AnsweringEngine } from '../../../../test/harness/answering-engine.js';
import type { AttemptObservation } from '../../backend.js';
import { newEntry } from '../process/attempt-entry.js';
import { Reporter } from '../process/reporter.js';
import { ContainerHub, type EngineLoss } from './container-hub.js';
import { startsRemembered, warnOfRestart } from './engine-restart.js';
import { type Engine } from './engine.js';

let folder: string;
let answering: AnsweringEngine;
let engine: Engine;
let info: Record<string, unknown>;
/** What it answers when it is asked what it remembers, and how often it was. */
let remember: (response: http.ServerResponse) => void;
let asked: URLSearchParams[];
/** Connections that carry what happens from now on. */
let live: http.ServerResponse[];
let lists: number;
/** How it lists the one container. */
let state: string;
/** Gives a list to its asker, now or later. */
let onList: (answer: () => void, response: http.ServerResponse) => void;

const row = (Action: string, ID: string) =>
  `${JSON.stringify({ Type: 'container', Action, Actor: { ID } })}\n`;

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-restart-'));
  info = { ServerVersion: '28.0.0', SystemTime: '2026-11-30T14:00:05.912345678Z' };
  [asked, live, lists, state] = [[], [], 0, 'running'];
  remember = (response) => response.end();
  onList = (answer) => answer();
  answering = await answeringEngine(folder, (url, response) => {
    if (url.pathname.endsWith('/events')) {
      response.flushHeaders();
      if (url.searchParams.has('until')) {
        asked.push(url.searchParams);
        remember(response);
      } else live.push(response);
      return;
    }
    response.setHeader('content-type', 'application/json');
    if (url.pathname.endsWith('/containers/json')) {
      lists += 1;
      const list = JSON.stringify([{ Id: 'one', State: state }]);
      onList(() => response.end(list), response);
    } else response.end(JSON.stringify(info));
  });
  ({ engine } = answering);
});
afterEach(async () => {
  await answering.close();
  rmSync(folder, { recursive: true, force: true });
});

test('what began within this second of its clock is asked for as well', async () => {
  remember = (response) => response.end(row('start', 'one') + row('die', 'two'));
  expect(await startsRemembered(engine)).toEqual(new Set(['one']));
  expect(asked[0]?.get('until')).toBe(String(Date.parse('2026-11-30T14:00:06Z') / 1000));
});

test.each([
  ['more events than are surely all', row('start', 'other').repeat(200)],
  ['a row without an end', 'x'.repeat(1024 ** 2 + 1)],
])('one that answers with %s is hung up on and cannot tell', async (_, text) => {
  const over = new Promise<void>((resolve) => {
    remember = (response) => {
      response.on('close', resolve);
      response.write(text);
    };
  });
  expect(await startsRemembered(engine)).toBe('unknowable');
  await over;
});

test('Podman is not asked what it remembers: that is of all its life, or nothing', async () => {
  info = { ...info, BuildahVersion: '1.28.2' };
  expect(await startsRemembered(engine)).toBe('unknowable');
  expect(asked).toEqual([]);
});

test('a log whose place cannot be looked at has none, and the loss is survived', () => {
  mkdirSync(path.join(folder, 'a'));
  symlinkSync('out', path.join(folder, 'a', 'out'));
  writeFileSync(path.join(folder, 'a', 'err'), 'seven\n\n');
  const said: AttemptObservation[] = [];
  const reporter = new Reporter({
    monotonicMs: () => 0,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    onObservations: (batch) => said.push(...batch),
    onEnded: () => undefined,
  });
  const entry = newEntry('a', path.join(folder, 'a'), null);
  const loss = warnOfRestart(entry, reporter);
  loss.lost();
  loss.restarted();
  reporter.close();
  expect([...entry.warnings.keys()]).toEqual(['LOG_ENGINE_RESTARTED']);
  expect(entry.warnings.get('LOG_ENGINE_RESTARTED')?.message).toContain(
    'after 0 bytes of its output and 7 bytes of its error output',
  );
});

describe('the containers that are waited for', () => {
  let hub: ContainerHub;
  let told: string[];
  const loss: EngineLoss = { lost: () => told.push('lost'), restarted: () => told.push('restarted') };

  beforeEach(() => {
    told = [];
    const options = { engine, owner: 'us', nowMs: () => 0, isFar: false, onFault: () => undefined };
    hub = new ContainerHub(options);
  });
  afterEach(() => hub.close());

  const until = (holds: () => boolean) => expect.poll(holds, { timeout: 15_000, interval: 10 }).toBe(true);
  /** The link breaks, and is there again. */
  const breakLink = async () => {
    const before = live.length;
    live.at(-1)?.destroy();
    await until(() => live.length > before);
  };

  test('one is asked of again when there was no answer, and the place of the first loss stands', async () => {
    let fails = true;
    remember = (response) => (fails ? response.destroy() : response.end());
    hub.ended('one', loss);
    await until(() => live.length === 1 && lists > 0);
    await breakLink();
    await until(() => asked.length > 0);
    const before = asked.length;
    await breakLink();
    await until(() => asked.length > before);
    expect(told).toEqual(['lost']);
    fails = false;
    hub.list();
    await until(() => told.length > 1);
    expect(told).toEqual(['lost', 'restarted']);
  });

  test.each(['found ended in the list', 'told to have ended'])(
    'one that went on and is %s is asked of before that is told',
    async (how) => {
      remember = (response) => response.end();
      const { over } = hub.ended('one', loss);
      void over.then(() => told.push('over'));
      await until(() => live.length === 1 && lists > 0);
      state = 'exited';
      live.at(-1)?.destroy();
      if (how.startsWith('told')) {
        await until(() => live.length > 1);
        live.at(-1)?.write(row('die', 'one'));
      }
      await until(() => told.includes('over'));
      expect(told).toEqual(['lost', 'restarted', 'over']);
    },
  );

  test('an Engine that gives no list is not left with a connection for each time it was asked', async () => {
    let isRefused = true;
    onList = (answer, response) => {
      if (isRefused) response.writeHead(500).end('{"message":"not now"}');
      else answer();
    };
    hub.ended('one', loss);
    await until(() => live.length > 2);
    const open = () => live.filter(({ closed }) => !closed).length;
    isRefused = false;
    await until(() => told.includes('restarted') && open() === 1);
  });

  test('one that two lists at a time find ended is told of once', async () => {
    const { over } = hub.ended('one', loss);
    void over.then(() => told.push('over'));
    await until(() => live.length === 1 && lists > 0);
    state = 'exited';
    const held: (() => void)[] = [];
    onList = (answer) => {
      held.push(answer);
      if (held.length === 1) hub.list();
    };
    await breakLink();
    await until(() => held.length === 2);
    held[0]?.();
    await over;
    const requests = asked.length;
    held[1]?.();
    // Its answer is read by then: the next one is asked for after it, over the same connection or another.
    onList = (answer) => answer();
    const before = lists;
    hub.ended('other', null);
    hub.list();
    await until(() => lists > before);
    await engine.ask((docker) => docker.info());
    expect(told).toEqual(['lost', 'restarted', 'over']);
    expect(asked).toHaveLength(requests);
  });

  test('an Engine that does not say whether it was started anew keeps no end back for long', async () => {
    remember = (response) => response.destroy();
    const { over } = hub.ended('one', loss);
    await until(() => live.length === 1 && lists > 0);
    state = 'exited';
    await breakLink();
    await until(() => asked.length === 1);
    hub.list();
    await over;
    expect(told).toEqual(['lost']);
  });

  test('one that is waited for anew keeps what was noticed before', async () => {
    remember = (response) => response.end();
    hub.ended('one', loss);
    await until(() => live.length === 1 && lists > 0);
    const connects = live.length;
    remember = () => undefined;
    live.at(-1)?.destroy();
    await until(() => told.length === 1);
    const { over } = hub.ended('one', loss);
    remember = (response) => response.end();
    await until(() => live.length > connects);
    await until(() => told.includes('restarted'));
    expect(told).toEqual(['lost', 'lost', 'restarted']);
    state = 'exited';
    hub.list();
    await over;
  });

  test('one is asked of once for each loss when it was started since, or that cannot be told', async () => {
    remember = (response) => response.end(row('start', 'one'));
    hub.ended('one', loss);
    await until(() => live.length === 1 && lists > 0);
    await breakLink();
    await until(() => asked.length === 1);
    remember = (response) => response.end(row('start', 'other').repeat(200));
    for (const times of [2, 3]) {
      const before = lists;
      hub.list();
      await until(() => lists > before);
      await breakLink();
      await until(() => asked.length >= times);
      expect(asked).toHaveLength(times);
    }
    expect(told).toEqual(['lost', 'lost', 'lost']);
  });
});
