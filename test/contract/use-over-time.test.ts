/** Use over time kept by the controller: with its clock moved, over failed commits and restarts, and without a write of its own. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { gpuHours } from '../../core/budget/ledger.js';
import type { JobRequest } from '../../core/contract/job-request.js';
import { budgetViews } from '../../core/model/budgets.js';
import { report as observation, specOf } from '../../core/model/test-world.js';
import { usesAt } from '../../core/model/use.js';
import type { AttemptObservation, BackendListener, DesiredAttempt } from '../../main/backends/backend.js';
import { Controller } from '../../main/controller/controller.js';
import { queueView } from '../../main/controller/queue-view.js';
import type { Store } from '../../main/store/types.js';
import { plainParts } from '../harness/controller-parts.js';
import { eventually } from '../harness/eventually.js';
import { fakeWorker as worker } from '../harness/fake-backend.js';
import { refusalOf } from '../harness/host-jobs.js';
import { toldBackend } from '../harness/told-backend.js';
import { makeFolder, openTestStore, type Folder } from '../store/builders.js';

const hour = 3_600_000;
const day = 24 * hour;

let folder: Folder;
let store: Store;
let controller: Controller;
let listener: BackendListener | null;
let desired: readonly DesiredAttempt[];
let commits: number;
let nowMs: number;
const parts = plainParts();
let requests = 0;

async function start(): Promise<void> {
  store = openTestStore(folder.database);
  commits = 0;
  controller = new Controller({
    store: {
      ...store,
      commit: (changes) => {
        commits += 1;
        return store.commit(changes);
      },
    },
    backend: toldBackend({
      started: (given) => {
        listener = given;
      },
      wanted: (wanted) => {
        desired = wanted;
      },
    }),
    ...parts,
    nowMs: () => nowMs,
  });
  await controller.start();
  await eventually(() => controller.busy()).toBe(false);
}

/** As a crash leaves it: what memory holds is gone, what was committed is there. */
async function crashAndStart(): Promise<void> {
  const crashed = store;
  controller.stop();
  crashed.close();
  await start();
}

beforeEach(async () => {
  folder = makeFolder();
  desired = [];
  nowMs = 1_800_000_000_000;
  await start();
});
afterEach(() => {
  controller.stop();
  store.close();
  folder.remove();
});

const toRun = () => desired.flatMap((each) => (each.kind === 'run' ? [each.launch.uid] : []));

async function run(user: string, request: Partial<JobRequest> = {}): Promise<string> {
  const before = new Set(toRun());
  await controller.submit({
    spec: specOf({ cpu: 1, memory: '1MiB', ...request }),
    identity: { user },
    requestId: `request-${(requests += 1)}`,
    retryOf: null,
  });
  const made = () => toRun().find((uid) => !before.has(uid)) ?? null;
  await eventually(made).not.toBeNull();
  const uid = made() ?? '';
  report(uid, { startedAtMs: nowMs });
  await settled();
  return uid;
}

function report(uid: string, more: Partial<AttemptObservation>): void {
  listener?.observations([observation(uid, more.state ?? 'RUNNING', more)]);
}
const settled = () => eventually(() => controller.busy()).toBe(false);

async function end(uid: string): Promise<void> {
  report(uid, { state: 'SUCCEEDED', exitCode: 0, finishedAtMs: nowMs });
  await eventually(() => [...controller.unfinishedAttempts()].some((attempt) => attempt.uid === uid)).toBe(
    false,
  );
  await settled();
}

/** In core-hours, a core being 5 of a card's 1000. */
const coresOf = (user: string) => {
  const use = usesAt(controller.memory, nowMs).get(user);
  return use === undefined ? 0 : gpuHours(use.used).processors * 200;
};
const fadedOf = (user: string) =>
  budgetViews(controller.memory, 0, [user], nowMs).find((row) => row.user === user)?.faded?.total ?? null;
const setHalfLife = (halfLifeMs: number | null, mayManage = true) =>
  controller.enqueue({
    kind: 'half-life',
    requestId: `request-${(requests += 1)}`,
    identity: { user: 'ann', mayManage },
    halfLifeMs,
  });

test('grows with the clock and with no write, and is written with the end of what used it', async () => {
  const uid = await run('ann', { cpu: 2 });
  const before = commits;
  nowMs += 3 * hour;
  expect(coresOf('ann')).toBeCloseTo(6, 9);
  await settled();
  expect(commits).toBe(before);
  expect(store.loadLive().uses).toEqual([]);
  await end(uid);
  expect(commits).toBe(before + 1);
  expect(store.loadLive().uses).toMatchObject([{ user: 'ann', used: { processors: 30 * hour } }]);
  nowMs += 3 * hour;
  expect(coresOf('ann')).toBeCloseTo(6, 9);
});

test('loses nothing to a crash, and counts nothing twice', async () => {
  const uid = await run('ann');
  const first = await run('ann', { name: 'first' });
  nowMs += hour;
  await end(first);
  nowMs += 10 * hour;
  await crashAndStart();
  expect(coresOf('ann')).toBeCloseTo(1 + 11, 9);
  const endedMs = nowMs + hour;
  nowMs += 5 * hour;
  await crashAndStart();
  report(uid, { state: 'SUCCEEDED', exitCode: 0, finishedAtMs: endedMs });
  await eventually(() => [...controller.unfinishedAttempts()].length).toBe(0);
  expect(coresOf('ann')).toBeCloseTo(1 + 12, 9);
  await crashAndStart();
  expect(coresOf('ann')).toBeCloseTo(1 + 12, 9);
});

test('fades once that is on, over a restart too; only who administers the cluster may', async () => {
  await end(await run('ann'));
  const uid = await run('ann');
  nowMs += 8 * hour;
  await end(uid);
  expect((await refusalOf(setHalfLife(day, false))).code).toBe('PERMISSION_DENIED');
  expect(fadedOf('ann')).toBeNull();
  await setHalfLife(day);
  const whole = fadedOf('ann');
  nowMs += day;
  await crashAndStart();
  expect(fadedOf('ann')).toBeCloseTo((whole ?? 0) / 2, 12);
  await setHalfLife(null);
  expect(fadedOf('ann')).toBeNull();
  expect(coresOf('ann')).toBeCloseTo(8, 9);
});

test('orders users while it is on: who used least over time goes first, whoever uses least now without it', async () => {
  // The machine is full, of bob's; ann used much before and uses nothing now.
  const cpu = worker.cpuMillicores / 1000;
  const past = await run('ann', { cpu });
  nowMs += 10 * hour;
  await end(past);
  await run('bob', { cpu });
  const wait = (user: string) =>
    controller.submit({
      spec: specOf({ name: 'waits', cpu, memory: '1MiB' }),
      identity: { user },
      requestId: `request-${(requests += 1)}`,
      retryOf: null,
    });
  await wait('bob');
  await wait('ann');
  const order = () =>
    queueView(controller.memory, controller.placement, nowMs).bands.flatMap(({ jobs }) =>
      jobs.map(({ user }) => user),
    );
  expect(order()).toEqual(['ann', 'bob']);
  await setHalfLife(day);
  expect(order()).toEqual(['bob', 'ann']);
  // What bob holds counts more with each hour, what ann used less: the order turns, though nobody wrote anything.
  nowMs += 60 * hour;
  await wait('cid');
  expect(order()).toEqual(['cid', 'ann', 'bob']);
  await setHalfLife(null);
  expect(order()).toEqual(['ann', 'cid', 'bob']);
});
