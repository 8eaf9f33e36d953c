/** The controller on a real store, with a backend that fails and lies. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RefusalError, refusal } from '../../core/contract/errors.js';
import type { JobRequest } from '../../core/contract/job-request.js';
import { report as observation, specOf } from '../../core/model/test-world.js';
import type { AttemptObservation, BackendListener, DesiredAttempt } from '../../main/backends/backend.js';
import { Controller } from '../../main/controller/controller.js';
import { Publisher } from '../../main/controller/publisher.js';
import type { Store } from '../../main/store/types.js';
import { plainParts } from '../harness/controller-parts.js';
import { eventually } from '../harness/eventually.js';
import { refusalOf } from '../harness/host-jobs.js';
import { fakeWorker } from '../harness/fake-backend.js';
import { toldBackend } from '../harness/told-backend.js';
import { makeFolder, openTestStore, type Folder } from '../store/builders.js';

let folder: Folder;
let store: Store;
let controller: Controller;
let listener: BackendListener | null;
let desired: readonly DesiredAttempt[];
let failing: boolean;
let commits: number;
let nowMs: number;

beforeEach(async () => {
  folder = makeFolder();
  store = openTestStore(folder.database);
  listener = null;
  desired = [];
  failing = false;
  commits = 0;
  nowMs = 1_800_000_000_000;
  const parts = plainParts();
  const backend = toldBackend({
    started: (given) => {
      listener = given;
    },
    wanted: (wanted) => {
      desired = wanted;
    },
  });
  controller = new Controller({
    store: {
      ...store,
      latestNamed: (user, parentId, name) => {
        if (name === 'damaged') throw new RefusalError(refusal('DATABASE_CORRUPT', 'A page is damaged.'));
        return store.latestNamed(user, parentId, name);
      },
      commit: (changes) => {
        if (failing) throw new RefusalError(refusal('STORAGE_FAILED', 'The disk is full.'));
        commits += 1;
        return store.commit(changes);
      },
    },
    backend,
    ...parts,
    nowMs: () => nowMs,
  });
  await controller.start();
});
afterEach(() => {
  controller.stop();
  store.close();
  folder.remove();
});

let requests = 0;
const submit = (request: Partial<JobRequest> = {}) =>
  controller.submit({
    spec: specOf(request),
    identity: { user: 'ann' },
    requestId: `request-${(requests += 1)}`,
    retryOf: null,
  });

function report(uid: string, more: Partial<AttemptObservation>): void {
  listener?.observations([observation(uid, more.state ?? 'RUNNING', more)]);
}

async function startedUid(): Promise<string> {
  await eventually(() => desired.length).toBe(1);
  const [first] = desired;
  if (first?.kind !== 'run') throw new Error('nothing was to be run');
  return first.launch.uid;
}

test('a failed commit refuses its commands, keeps nothing, and reports of that time count later', async () => {
  const { jobId } = await submit();
  const uid = await startedUid();
  failing = true;
  expect((await refusalOf(submit())).code).toBe('STORAGE_FAILED');
  // One that comes while it lasts is refused too, and does not wait for ever.
  expect((await refusalOf(submit())).code).toBe('STORAGE_FAILED');
  expect(controller.health()).toEqual({ healthy: false, health: 'The disk is full.' });
  expect(controller.views.counts()).toMatchObject({ waiting: 0, running: 1 });
  expect([...controller.unfinishedAttempts()].map((attempt) => attempt.uid)).toEqual([uid]);
  report(uid, { state: 'FAILED', exitCode: 5, startedAtMs: nowMs, finishedAtMs: nowMs });
  failing = false;
  await eventually(() => store.jobById(jobId)?.state).toBe('FAILED');
  expect(store.jobById(jobId)?.exitCode).toBe(5);
  expect(controller.health().healthy).toBe(true);
  expect(store.loadLive().counts).toMatchObject({ finished: 1, running: 0, waiting: 0 });
});

test('a damaged row that a command meets refuses that command, and the host goes on', async () => {
  const { jobId } = await submit();
  const uid = await startedUid();
  expect(await refusalOf(submit({ name: 'damaged' }))).toMatchObject({
    code: 'DATABASE_CORRUPT',
    message: 'A page is damaged.',
  });
  report(uid, { state: 'SUCCEEDED', exitCode: 0, startedAtMs: nowMs, finishedAtMs: nowMs });
  await eventually(() => store.jobById(jobId)?.state).toBe('SUCCEEDED');
  expect((await submit({ name: 'sound' })).jobId).toBe('/ann/sound');
  expect(controller.health().healthy).toBe(true);
});

test('a request that was taken gets its answer again, whatever has become of the machines since', async () => {
  const sent = {
    spec: specOf({ cpu: 3 }),
    identity: { user: 'ann' },
    requestId: 'asked twice',
    retryOf: null,
  };
  const first = await controller.submit(sent);
  listener?.workers([{ ...fakeWorker, cpuMillicores: 2000 }]);
  expect((await refusalOf(controller.submit({ ...sent, requestId: 'another' }))).code).toBe('INFEASIBLE');
  expect(await controller.submit(sent)).toEqual(first);
});

test('a row that was read before the end of a job that memory still holds tells of the end', async () => {
  const { jobId } = await submit();
  const uid = await startedUid();
  report(uid, { startedAtMs: nowMs });
  await eventually(() => store.jobById(jobId)?.state).toBe('RUNNING');
  const before = controller.views.summaryOf(jobId);
  if (before === null) throw new Error('it is not in memory');
  await controller.stopJobs([jobId], { user: 'ann' }, 'stop it');
  expect(controller.views.has(jobId)).toBe(true);
  expect(controller.views.refreshed([before])).toMatchObject([{ id: jobId, state: 'KILLED' }]);
});

test('a task is told the name of the machine it runs on, which others reach it by', async () => {
  const identity = { user: 'ann', mayManage: true };
  const machine = { id: 'two', address: 'ssh://two', identity: null };
  await controller.enqueue({ kind: 'machine-add', requestId: 'add', identity, machine, others: [] });
  listener?.workers([fakeWorker, { ...fakeWorker, id: 'two', hostname: 'gpu-2.lab', address: 'ssh://two' }]);
  await submit({ machine: 'two' });
  await submit({ machine: fakeWorker.id });
  const told = () =>
    desired.map((item) =>
      item.kind === 'stop' ? null : [item.launch.workerId, item.launch.environment['IRIS_ADVERTISE_HOST']],
    );
  await eventually(told).toEqual([
    ['two', 'gpu-2.lab'],
    [fakeWorker.id, 'localhost'],
  ]);
});

test('reports of unknown attempts, repeats, and reports after the end change nothing', async () => {
  const { jobId } = await submit();
  const uid = await startedUid();
  report(uid, { startedAtMs: nowMs, pid: 7 });
  await eventually(() => store.jobById(jobId)?.state).toBe('RUNNING');
  await eventually(() => controller.busy()).toBe(false);
  const before = commits;
  report(uid, { startedAtMs: nowMs, pid: 7 });
  report('ffffffffffffffff', { state: 'FAILED', exitCode: 1 });
  await eventually(() => controller.busy()).toBe(false);
  expect(commits).toBe(before);
  report(uid, { state: 'SUCCEEDED', exitCode: 0, finishedAtMs: nowMs });
  await eventually(() => store.jobById(jobId)?.state).toBe('SUCCEEDED');
  await eventually(() => controller.busy()).toBe(false);
  const ended = commits;
  report(uid, { state: 'FAILED', exitCode: 9 });
  report(uid, { state: 'RUNNING' });
  await eventually(() => controller.busy()).toBe(false);
  expect(commits).toBe(ended);
  expect(store.jobById(jobId)).toMatchObject({ state: 'SUCCEEDED', exitCode: 0 });
});

test('what is to run, to be kept and to be stopped follows each commit, also after a failed one', async () => {
  const kinds = () => desired.map(({ kind }) => kind);
  const { jobId } = await submit();
  const uid = await startedUid();
  const { jobId: other } = await submit();
  await eventually(kinds).toEqual(['run', 'run']);
  report(uid, { startedAtMs: nowMs });
  await eventually(kinds).toEqual(['keep', 'run']);
  failing = true;
  expect((await refusalOf(submit())).code).toBe('STORAGE_FAILED');
  failing = false;
  await eventually(() => controller.health().healthy).toBe(true);
  await controller.stopJobs([jobId], { user: 'ann' }, 'stop');
  await eventually(() => desired.find(({ kind }) => kind === 'stop')).toMatchObject({
    uid,
    reason: 'cancelled',
    signal: 'SIGTERM',
  });
  expect(desired).toHaveLength(2);
  report(uid, { state: 'KILLED', startedAtMs: nowMs, finishedAtMs: nowMs });
  await eventually(kinds).toEqual(['run']);
  expect(desired).toMatchObject([{ launch: { taskId: `${other}/0` } }]);
});

test('who looks at the list is told of another reason to wait, though no row of that job has changed', async () => {
  const none = () => {
    throw new Error('nobody asks for that');
  };
  const publisher = new Publisher(
    {
      counts: () => controller.views.counts(),
      summary: (id) => controller.views.summaryOf(id),
      ...{ status: none, overview: none, budgets: none, queue: none, job: none, log: none, unread: none },
      ...{ question: none, images: none, machinesSeen: () => undefined },
      interest: () => undefined,
    },
    () => performance.now(),
    none,
  );
  controller.publishTo(publisher);
  const told: string[] = [];
  const handle = publisher.subscribe(1, 'jobs', {}, (frame) => {
    told.push(JSON.stringify(frame));
    const seq = frame.kind === 'delta' ? frame.seq : 0;
    setImmediate(() => handle.acknowledge(seq));
  });
  const tells = (text: string) => () => told.some((frame) => frame.includes(text));
  await submit({ cpu: 2 });
  const uid = await startedUid();
  await submit({ cpu: 2 });
  await submit({ cpu: 4, name: 'large' });
  await eventually(tells('0 of 4 free')).toBe(true);
  report(uid, { state: 'SUCCEEDED', exitCode: 0, startedAtMs: nowMs, finishedAtMs: nowMs });
  await eventually(tells('2 of 4 free')).toBe(true);
  handle.end();
});

test("another user's job is neither stopped nor run again", async () => {
  const { jobId } = await submit();
  for (const act of ['stopJobs', 'retryJobs'] as const) {
    const [answer] = await controller[act]([jobId], { user: 'bob' }, `request-of-bob-${act}`);
    expect(answer?.refusal).toMatchObject({
      code: 'PERMISSION_DENIED',
      message: `${jobId} belongs to ann, not to bob.`,
    });
  }
});
