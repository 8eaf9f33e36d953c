/** What is old and over goes: from the database, from the disk, from the counts. What is still asked for stays. */
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { JobRequest } from '../../core/contract/job-request.js';
import type { HostFrame } from '../../core/contract/protocol.js';
import type { BackendListener, DesiredAttempt } from '../../main/backends/backend.js';
import { Controller } from '../../main/controller/controller.js';
import { startHousekeeping, type Housekeeping } from '../../main/controller/housekeeping.js';
import { publishForgotten } from '../../main/controller/publish-changes.js';
import { Publisher } from '../../main/controller/publisher.js';
import type { TopicSources } from '../../main/controller/topic-values.js';
import { treesWaitedFor } from '../../main/controller/waited-for.js';
import type { Store } from '../../main/store/types.js';
import { report, specOf } from '../../core/model/test-world.js';
import { plainParts } from '../harness/controller-parts.js';
import { eventually } from '../harness/eventually.js';
import { toldBackend } from '../harness/told-backend.js';
import {
  changes,
  makeAttempt,
  makeFolder,
  makeJob,
  makeTask,
  openTestStore,
  type Folder,
} from '../store/builders.js';

const dayMs = 86_400_000;
const hourMs = dayMs / 24;
const ordinaryUser = 65_534;
const couldNot = 'The folder of a forgotten attempt could not be removed';

let folder: Folder;
let attempts: string;
let store: Store;
let nowMs: number;
let housekeeping: Housekeeping | null;
let forgotten: string[];
let warnings: string[];
let waitedFor: () => readonly string[];
let anHourPassed: () => void;
let copiesAsked: number;

beforeEach(() => {
  folder = makeFolder();
  attempts = path.join(folder.path, 'attempts');
  mkdirSync(attempts);
  nowMs = Date.now();
  store = openTestStore(folder.database, { nowMs: () => nowMs });
  housekeeping = null;
  forgotten = [];
  warnings = [];
  waitedFor = () => [];
  anHourPassed = () => undefined;
  copiesAsked = 0;
});
afterEach(() => {
  vi.useRealTimers();
  housekeeping?.stop();
  store.close();
  folder.remove();
});

function begin(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  housekeeping = startHousekeeping({
    store,
    attemptsFolder: attempts,
    logger: {
      info: () => undefined,
      warn: (message) => warnings.push(message),
      error: (message) => warnings.push(message),
    },
    nowMs: () => nowMs,
    monotonicMs: () => 0,
    busy: () => false,
    waitedFor,
    forgotten: (jobIds) => forgotten.push(...jobIds),
    anHourPassed: () => anHourPassed(),
    copy: { makeIfDue: () => Promise.resolve(void (copiesAsked += 1)), stop: () => undefined },
  });
}

/** What is there in the end; the time passes meanwhile. */
async function afterwards<T>(read: () => T, expected: T): Promise<void> {
  if (housekeeping === null) begin();
  const look = (): T => {
    vi.advanceTimersByTime(60_000);
    return read();
  };
  await eventually(look).toEqual(expected);
}

/** A job that ended so long ago, with the folder of its attempt. */
function ended(name: string, daysAgo: number): string {
  const finishedAtMs = nowMs - daysAgo * dayMs;
  const job = makeJob(`/ann/${name}`, { state: 'SUCCEEDED', submittedAtMs: finishedAtMs, finishedAtMs });
  const task = makeTask(job, 0, { state: 'SUCCEEDED' });
  const attempt = makeAttempt(task, 0, { state: 'SUCCEEDED', finishedAtMs });
  store.commit(changes({ jobs: [job], tasks: [task], attempts: [attempt] }));
  makeFolderOf(attempt.uid, daysAgo);
  return attempt.uid;
}

const there = () => readdirSync(attempts).sort();

function makeFolderOf(uid: string, daysAgo: number): string {
  const made = path.join(attempts, uid);
  mkdirSync(path.join(made, 'work', 'modules'), { recursive: true });
  writeFileSync(path.join(made, 'work', 'modules', 'module'), '');
  const at = (nowMs - daysAgo * dayMs) / 1000;
  utimesSync(made, at, at);
  return made;
}

function idleController(): Controller {
  return new Controller({
    store,
    backend: toldBackend({ started: () => undefined, wanted: () => undefined }),
    ...plainParts(),
    nowMs: () => nowMs,
  });
}

test('old jobs go with their folders, and it is told which', async () => {
  const old = ended('old', 8);
  const young = ended('young', 6);
  await afterwards(there, [young]);
  expect(forgotten).toEqual(['/ann/old']);
  expect(existsSync(path.join(attempts, old))).toBe(false);
  expect(warnings).toEqual([]);
});

test('nothing is forgotten by a clock that is wrong for less than an hour', async () => {
  const uid = ended('young', 1);
  begin();
  nowMs += 30 * dayMs;
  for (let minute = 0; minute < 50; minute += 1) {
    vi.advanceTimersByTime(60_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([forgotten, there()]).toEqual([[], [uid]]);
  nowMs -= 30 * dayMs;
  const old = ended('old', 8);
  await afterwards(() => [existsSync(path.join(attempts, old)), there()], [false, [uid]]);
  expect(forgotten).toEqual(['/ann/old']);
});

test('what is old goes also on a machine that in each hour awake has slept for longer', async () => {
  const uid = ended('old', 6.95);
  begin();
  for (let hour = 0; hour < 4; hour += 1) {
    nowMs += 3 * hourMs;
    for (let minute = 0; minute < 60; minute += 1) {
      vi.advanceTimersByTime(60_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  await eventually(() => forgotten).toEqual(['/ann/old']);
  await eventually(() => existsSync(path.join(attempts, uid))).toBe(false);
});

test('what is old goes at the pace of a lab that starts a million jobs a day', async () => {
  for (let index = 0; index < 150; index += 1) ended(`old-${index}`, 8);
  begin();
  vi.advanceTimersByTime(60_000);
  let tookMs = 0;
  while (forgotten.length < 150) {
    // Of the checkpoints, and of the next turn once this one is over.
    await eventually(() => vi.getTimerCount()).toBe(2);
    vi.advanceTimersByTime(100);
    tookMs += 100;
  }
  expect([forgotten.length, tookMs]).toEqual([150, 2900]);
});

test('folders that nobody knows any more go, what was written to lately stays, and so does what is no attempt', async () => {
  makeFolderOf('a'.repeat(16), 9);
  makeFolderOf('b'.repeat(16), 7);
  mkdirSync(path.join(attempts, 'supervisor'));
  const known = ended('known', 6);
  utimesSync(path.join(attempts, known), 1, 1);
  await afterwards(there, [known, 'b'.repeat(16), 'supervisor'].sort());
  // Looked for again a day later.
  nowMs += 2 * dayMs;
  await afterwards(there, ['supervisor']);
});

test.skipIf(process.getuid?.() !== 0)(
  'a folder that cannot be written to goes too; one of somebody else stays, is told of, and holds up no other',
  async () => {
    const uids = ['foreign', 'locked', 'plain'].map((name, at) => ended(name, 20 - at));
    const [foreign = '', locked = ''] = uids;
    for (const uid of uids) {
      const own = path.join(attempts, uid);
      for (const name of ['.', 'work', 'work/modules', 'work/modules/module'])
        chownSync(path.join(own, name), ordinaryUser, ordinaryUser);
    }
    chmodSync(path.join(attempts, locked, 'work', 'modules'), 0o500);
    chownSync(path.join(attempts, foreign, 'work', 'modules'), 0, 0);
    for (const each of [folder.path, attempts]) chmodSync(each, 0o777);
    process.seteuid?.(ordinaryUser);
    try {
      await afterwards(() => [...there(), ...warnings], [foreign, couldNot]);
    } finally {
      process.seteuid?.(0);
    }
    expect(forgotten).toEqual(['/ann/foreign', '/ann/locked', '/ann/plain']);
    // Another day it can be.
    chownSync(path.join(attempts, foreign, 'work', 'modules'), ordinaryUser, ordinaryUser);
    utimesSync(path.join(attempts, foreign), 1, 1);
    nowMs += dayMs;
    await afterwards(there, []);
  },
);

test('a failure that nobody has looked at is told of for a day, also by a host that runs on', async () => {
  const job = makeJob('/ann/failed', { state: 'FAILED', finishedAtMs: nowMs });
  const entry = {
    jobId: job.id,
    jobName: 'failed',
    state: job.state,
    cause: null,
    atMs: nowMs,
    durationMs: 1,
  };
  store.commit(changes({ jobs: [job], tasks: [makeTask(job, 0, { state: 'FAILED' })], inbox: [entry] }));
  const controller = idleController();
  await controller.start();
  anHourPassed = () => void controller.markInboxRead([]);
  const failed = () => controller.views.counts().failedUnseen;
  await afterwards(failed, 1);
  nowMs += dayMs + 1;
  await afterwards(failed, 0);
  controller.stop();
});

test('what is counted over the last day is counted anew, also after a night asleep and where nothing can be forgotten', async () => {
  let counted = 0;
  anHourPassed = () => (counted += 1);
  waitedFor = () => {
    throw new Error('The disk is full.');
  };
  begin();
  nowMs += dayMs / 2;
  await afterwards(() => counted, 1);
  await afterwards(() => [warnings.length, copiesAsked], [1, 1]);
  await afterwards(() => [counted, warnings.length], [2, 2]);
});

test('a copy of the database is asked for once nothing old is left, then each hour', async () => {
  ended('one', 9);
  await afterwards(() => copiesAsked, 1);
  expect(there()).toEqual([]);
  vi.advanceTimersByTime(hourMs / 2);
  expect(copiesAsked).toBe(1);
  await afterwards(() => copiesAsked, 2);
});

test('who looks at the list is told which rows are gone, and how many jobs are left', async () => {
  ended('one', 9);
  ended('two', 9);
  const controller = idleController();
  await controller.start();
  let now = 0;
  const counts = () => controller.views.counts();
  const publisher = new Publisher(
    { counts } as unknown as TopicSources,
    () => now,
    () => expect.fail('no topic could fail'),
  );
  const frames: HostFrame[] = [];
  for (const countsOnly of [false, true]) {
    const send = (frame: HostFrame) => void frames.push(frame);
    const handle = publisher.subscribe(countsOnly ? 2 : 1, 'jobs', { countsOnly }, send);
    await eventually(() => frames).toHaveLength(countsOnly ? 2 : 1);
    handle.acknowledge(0);
  }
  expect(counts().finished).toBe(2);
  now = 1000;
  publishForgotten(publisher, controller.views, ['/ann/one']);
  const left = { running: 0, waiting: 0, finished: 1, failedUnseen: 0 };
  expect(frames.slice(2)).toEqual([
    { kind: 'delta', id: 1, seq: 1, value: { rows: [], removed: ['/ann/one'], counts: left } },
    { kind: 'delta', id: 2, seq: 1, value: { rows: [], removed: [], counts: left } },
  ]);
  controller.stop();
});

test('a job that is held for weeks still starts after the one it waits for', async () => {
  let desired: readonly DesiredAttempt[] = [];
  let listener: BackendListener | null = null;
  const parts = plainParts();
  const makeController = () =>
    new Controller({
      store,
      backend: toldBackend({
        started: (given) => (listener = given),
        wanted: (wanted) => (desired = wanted),
      }),
      ...parts,
      nowMs: () => nowMs,
    });
  const submit = (controller: Controller, request: Partial<JobRequest>) =>
    controller.submit({
      spec: specOf(request),
      identity: { user: 'ann' },
      requestId: request.name ?? '',
      retryOf: null,
    });
  let controller = makeController();
  await controller.start();
  await submit(controller, { name: 'prepare' });
  await eventually(() => desired.length).toBe(1);
  const uid = [...controller.unfinishedAttempts()][0]?.uid ?? '';
  const said = report(uid, 'SUCCEEDED', { exitCode: 0, startedAtMs: nowMs, finishedAtMs: nowMs });
  (listener as BackendListener | null)?.observations([said]);
  await eventually(() => store.jobById('/ann/prepare')?.state).toBe('SUCCEEDED');
  await submit(controller, { name: 'train', held: true, dependencies: [{ job: 'prepare', on: 'SUCCESS' }] });
  waitedFor = () => treesWaitedFor(controller.memory);

  const old = ended('old', 1);
  nowMs += 9 * dayMs;
  await afterwards(() => existsSync(path.join(attempts, old)), false);
  vi.useRealTimers();
  expect(forgotten).toEqual(['/ann/old']);
  controller.stop();
  controller = makeController();
  await controller.start();
  const identity = { user: 'ann' };
  const change = { kind: 'release' } as const;
  await controller.enqueue({ kind: 'change', requestId: 'r', identity, jobIds: ['/ann/train'], change });
  await eventually(() => [...controller.unfinishedAttempts()].map(({ jobId }) => jobId)).toEqual([
    '/ann/train',
  ]);
  expect(store.jobById('/ann/train')?.state).toBe('RUNNING');
  expect(treesWaitedFor(controller.memory)).toEqual(['/ann/prepare']);
  controller.stop();
});
