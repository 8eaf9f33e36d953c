/**
 * The wall clock of the host is set while jobs run: back, as a machine two minutes early is put right, and on. Limits go by the time that
 * passed, no duration is negative, and the order of submissions stays.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JobRequest } from '../../core/contract/job-request.js';
import { report as observation, specOf } from '../../core/model/test-world.js';
import type { AttemptObservation, BackendListener, DesiredAttempt } from '../../main/backends/backend.js';
import { awakeClock } from '../../main/controller/awake-clock.js';
import { Controller } from '../../main/controller/controller.js';
import { openReads } from '../../main/store/reads.js';
import type { Store } from '../../main/store/types.js';
import { plainParts } from '../harness/controller-parts.js';
import { eventually } from '../harness/eventually.js';
import { fakeWorker as worker } from '../harness/fake-backend.js';
import { toldBackend } from '../harness/told-backend.js';
import { makeFolder, openTestStore, silent, type Folder } from '../store/builders.js';

const minute = 60_000;
/** The last Sunday of October 2026 at 02:30 in Berlin, summer time: an hour later it is 02:30 again. */
const berlin = Date.UTC(2026, 9, 25, 0, 30);

let folder: Folder;
let store: Store;
let controller: Controller;
let listener: BackendListener | null;
let desired: readonly DesiredAttempt[];
let wallMs: number;
let monotonicMs: number;
/** What the controller reads of it. */
let steady: () => number;
const parts = plainParts();
let requests = 0;

function makeController(): Controller {
  const backend = toldBackend({
    started: (given) => {
      listener = given;
    },
    wanted: (wanted) => {
      desired = wanted;
    },
  });
  return new Controller({
    store,
    backend,
    ...parts,
    nowMs: () => wallMs,
    monotonicMs: () => steady(),
  });
}

beforeEach(async () => {
  folder = makeFolder();
  store = openTestStore(folder.database);
  listener = null;
  desired = [];
  wallMs = berlin;
  monotonicMs = 1000;
  steady = () => monotonicMs;
  controller = makeController();
  await controller.start();
});
afterEach(() => {
  controller.stop();
  store.close();
  folder.remove();
});

/** Time passes for both clocks; the wall clock is set by so much as well. */
function pass(ms: number, setByMs = 0): void {
  monotonicMs += ms;
  wallMs += ms + setByMs;
}

async function submit(request: Partial<JobRequest> = {}): Promise<string> {
  const answer = controller.submit({
    spec: specOf(request),
    identity: { user: 'ann' },
    requestId: `request-${(requests += 1)}`,
    retryOf: null,
  });
  return (await answer).jobId;
}

function report(uid: string, more: Partial<AttemptObservation>): void {
  listener?.observations([observation(uid, more.state ?? 'RUNNING', more)]);
}

async function started(): Promise<string> {
  await eventually(() => desired.length).toBe(1);
  const [first] = desired;
  if (first?.kind !== 'run') throw new Error('nothing was to be run');
  report(first.launch.uid, { startedAtMs: wallMs });
  await rounds();
  return first.launch.uid;
}

/** A report of nothing makes a round; it is over when the controller is idle. */
async function rounds(): Promise<void> {
  // Rounds keep a distance by the monotonic clock.
  pass(10);
  listener?.workers([worker]);
  await eventually(() => controller.busy()).toBe(false);
}

const treeOf = (jobId: string) => {
  const tree = store.loadTree(jobId);
  const [job] = tree?.jobs ?? [];
  if (tree === null || job === undefined) throw new Error(`there is no ${jobId}`);
  return { job, attempt: tree.attempts[0] };
};

describe('a time limit', () => {
  test.each([
    ['set on by an hour', 60 * minute],
    ['set back by two minutes', -2 * minute],
  ])('with the clock %s in the middle: not early, and at the limit', async (_, setByMs) => {
    const jobId = await submit({ timeout: '10m' });
    await started();
    pass(2 * minute, setByMs);
    await rounds();
    expect(treeOf(jobId).job.state).toBe('RUNNING');
    pass(7 * minute);
    await rounds();
    expect(treeOf(jobId).job.state).toBe('RUNNING');
    // By a clock that was set back, as much later: the supervisor beside the command keeps the limit itself.
    pass(minute + Math.max(0, -setByMs));
    await rounds();
    expect(treeOf(jobId).job).toMatchObject({
      state: 'FAILED',
      exitCode: 124,
      cause: { code: 'TIME_LIMIT' },
    });
  });

  test.each([
    ['stood still', 0],
    ['went on', 8 * 60 * minute],
  ])('a night in which the machine slept, and the monotonic clock %s: as much later', async (_, wentOnMs) => {
    const clock = awakeClock(() => monotonicMs);
    steady = clock.nowMs;
    const jobId = await submit({ timeout: '10m' });
    await started();
    pass(wentOnMs, 8 * 60 * minute - wentOnMs);
    await rounds();
    expect(treeOf(jobId).job.state).toBe('RUNNING');
    for (let lived = 0; lived < 10 * minute; lived += 10_000) {
      pass(10_000);
      clock.nowMs();
    }
    await rounds();
    expect(treeOf(jobId).job).toMatchObject({ state: 'FAILED', cause: { code: 'TIME_LIMIT' } });
    clock.close();
  });

  test('with the clock set on while a new host has adopted the attempt', async () => {
    const jobId = await submit({ timeout: '10m' });
    const uid = await started();
    controller.stop();
    pass(minute);
    controller = makeController();
    await controller.start();
    report(uid, {});
    await rounds();
    pass(minute, 60 * minute);
    await rounds();
    expect(treeOf(jobId).job.state).toBe('RUNNING');
    pass(8 * minute);
    await rounds();
    expect(treeOf(jobId).job).toMatchObject({ state: 'FAILED', cause: { code: 'TIME_LIMIT' } });
  });
});

test('a job that must start within an hour is not given up because the clock was set on', async () => {
  const first = await submit({ cpu: 4 });
  const uid = await started();
  const second = await submit({ cpu: 4, schedulingTimeout: '1h' });
  pass(minute, 120 * minute);
  await rounds();
  expect(treeOf(second).job.state).toBe('PENDING');
  pass(59 * minute);
  await rounds();
  expect(treeOf(second).job).toMatchObject({
    state: 'UNSCHEDULABLE',
    cause: { code: 'SCHEDULING_DEADLINE' },
  });
  expect(treeOf(first)).toMatchObject({ job: { state: 'RUNNING' }, attempt: { uid } });
});

test('set back by two minutes between start and end: the duration is the time that passed, none is negative', async () => {
  const jobId = await submit();
  const uid = await started();
  pass(5000, -2 * minute);
  report(uid, { state: 'SUCCEEDED', exitCode: 0, finishedAtMs: wallMs, durationMs: 5000 });
  await rounds();
  const { job, attempt } = treeOf(jobId);
  expect(job.state).toBe('SUCCEEDED');
  expect(attempt).toMatchObject({ state: 'SUCCEEDED', durationMs: 5000, finishedAtMs: wallMs - 10 });
  const reads = openReads({ path: folder.database, nowMs: () => wallMs, log: silent });
  try {
    expect(reads.inbox(null, 10).items).toMatchObject([{ jobId, durationMs: 5000 }]);
  } finally {
    reads.close();
  }
});

test('submissions keep their order through a clock set back, and so do starts', async () => {
  const busy = await submit({ cpu: 4 });
  const uid = await started();
  const early = await submit({ cpu: 4, name: 'early' });
  pass(1000, -60 * minute);
  const late = await submit({ cpu: 4, name: 'late' });
  const times = [busy, early, late].map((id) => treeOf(id).job.submittedAtMs);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(new Set(times).size).toBe(3);
  report(uid, { state: 'SUCCEEDED', finishedAtMs: wallMs });
  await rounds();
  expect([early, late].map((id) => treeOf(id).attempt?.state)).toEqual(['ASSIGNED', undefined]);
});
