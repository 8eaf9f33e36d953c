/** An Engine whose clock is not ours: what it tells is told by ours. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answeringEngine, type AnsweringEngine } from '../../../../test/harness/answering-engine.js';
import { newEntry } from '../process/attempt-entry.js';
import { endOfRun } from './container-end.js';
import { ContainerHub } from './container-hub.js';
import { type Engine, lookAtContainer } from './engine.js';

const aheadMs = 600_000;
const fixtures = path.resolve(import.meta.dirname, '../../../../test/fixtures/docker');
const inspected: unknown = JSON.parse(
  readFileSync(path.join(fixtures, 'inspect-exited-137-not-oom-odd-env.json'), 'utf8'),
);

let folder: string;
let answering: AnsweringEngine;
let engine: Engine;
let sinces: string[];
let events: http.ServerResponse | null;

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'iris-clock-'));
  [sinces, events] = [[], null];
  answering = await answeringEngine(folder, (url, response) => {
    if (url.pathname.endsWith('/events')) {
      response.flushHeaders();
      sinces.push(url.searchParams.get('since') ?? '');
      events = response;
      return;
    }
    response.setHeader('content-type', 'application/json');
    const isOne = url.pathname.endsWith('/one/json');
    const list = url.pathname.endsWith('/containers/json') ? [{ Id: 'one', State: 'running' }] : {};
    response.end(JSON.stringify(isOne ? (Array.isArray(inspected) ? inspected[0] : inspected) : list));
  });
  ({ engine } = answering);
});
afterEach(async () => {
  await answering.close();
  rmSync(folder, { recursive: true });
});

test('a container ended, was stopped from outside, and began by our clock', async () => {
  const theirs = await lookAtContainer(engine, 'one', 0);
  const view = await lookAtContainer(engine, 'one', aheadMs);
  if (theirs === null || view === null || theirs.finishedAtMs === null || theirs.startedAtMs === null)
    throw new Error('no times');
  expect(view.startedAtMs).toBe(theirs.startedAtMs - aheadMs);
  expect(view.finishedAtMs).toBe(theirs.finishedAtMs - aheadMs);
  const finishedMs = theirs.finishedAtMs;
  const endedAtMs = finishedMs - aheadMs;
  const hub = new ContainerHub({
    engine,
    owner: 'us',
    nowMs: () => endedAtMs,
    clockSkewMs: () => aheadMs,
    isFar: true,
    onFault: () => undefined,
  });
  try {
    const { seen, over } = hub.ended('one');
    await expect.poll(() => events).not.toBeNull();
    // Of its own time.
    expect(Number(sinces[0])).toBe(Math.floor(theirs.finishedAtMs / 1000) - 1);
    const row = (Action: string, beforeMs: number, more: object) => {
      const timeNano = finishedMs * 1e6 - beforeMs * 1e6;
      return `${JSON.stringify({ Type: 'container', Action, timeNano, Actor: { ID: 'one', ...more } })}\n`;
    };
    events?.write(row('kill', 500, { Attributes: { signal: '9' } }) + row('die', 0, {}));
    await over;
    expect(Math.abs((seen.signals[0]?.atMs ?? 0) - (endedAtMs - 500))).toBeLessThanOrEqual(1);
    const end = endOfRun(newEntry('a', folder, null), view, seen, endedAtMs, null);
    expect(end).toMatchObject({ state: 'WORKER_FAILED', finishedAtMs: endedAtMs });
    expect(end.cause?.code).toBe('CONTAINER_LOST');
    // It ended with its Engine, which was lost a moment later by our clock.
    const lost = { ...seen, signals: [], lostAtMs: endedAtMs + 2000 };
    expect(endOfRun(newEntry('b', folder, null), view, lost, endedAtMs + 3000, null).cause?.code).toBe(
      'CONTAINER_LOST',
    );
    // One that ended long before it was lost has not.
    const later = { ...lost, lostAtMs: endedAtMs + aheadMs };
    expect(endOfRun(newEntry('c', folder, null), view, later, endedAtMs + aheadMs, null).state).toBe(
      'FAILED',
    );
  } finally {
    hub.close();
  }
});
