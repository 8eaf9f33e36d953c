/** Commits, loads and retention on a real database. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RefusalError } from '../../core/contract/errors.js';
import { attemptStates, bands, jobStates, taskStates } from '../../core/contract/states.js';
import { causeCodes } from '../../core/contract/views.js';
import type { Attempt, Job, Task } from '../../core/model/entities.js';
import type { Store } from '../../main/store/types.js';
import {
  changes,
  lifeOfJob,
  makeAttempt,
  makeFolder,
  makeJob,
  makeSpec,
  makeTask,
  openTestStore,
  startMs,
  together,
  type Folder,
} from './builders.js';

let folder: Folder;
let store: Store;
let now: number;

beforeEach(() => {
  folder = makeFolder();
  now = startMs;
  store = openTestStore(folder.database, { nowMs: () => now });
});
afterEach(() => {
  store.close();
  folder.remove();
});

function reopen(): void {
  store.close();
  store = openTestStore(folder.database, { nowMs: () => now });
}

function refusedBy(work: () => unknown): RefusalError {
  try {
    work();
  } catch (error) {
    if (error instanceof RefusalError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('committing', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 30 });
  const time = fc.integer({ min: 0, max: 4_102_444_800_000 });
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
  const cause = maybe(fc.record({ code: fc.constantFrom(...causeCodes), message: text }));
  const exitCode = maybe(fc.integer({ min: 0, max: 255 }));

  const jobChange = fc.record({
    state: fc.constantFrom(...jobStates),
    band: fc.constantFrom(...bands),
    startedAtMs: maybe(time),
    finishedAtMs: maybe(time),
    schedulingDeadlineMs: maybe(time),
    cause,
    exitCode,
  });
  const taskChange = fc.record({
    state: fc.constantFrom(...taskStates),
    final: fc.boolean(),
    band: fc.constantFrom(...bands),
    startedAtMs: maybe(time),
    finishedAtMs: maybe(time),
    exitCode,
    cause,
    waiting: cause,
    currentAttempt: fc.integer({ min: -1, max: 50 }),
    failureCount: fc.nat(50),
    preemptionCount: fc.nat(50),
  });
  const attemptChange = fc.record({
    state: fc.constantFrom(...attemptStates),
    startedAtMs: maybe(time),
    finishedAtMs: maybe(time),
    durationMs: maybe(fc.double({ min: 0, max: 1e12, noNaN: true })),
    exitCode,
    signal: maybe(fc.constantFrom('SIGKILL', 'SIGTERM')),
    cause,
    warnings: fc.array(fc.record({ code: fc.constantFrom(...causeCodes), message: text }), { maxLength: 3 }),
    peakMemoryBytes: maybe(fc.maxSafeNat()),
    pid: maybe(fc.nat()),
  });
  const attemptAllotted = fc.record({
    workerId: text,
    devices: fc.array(text, { maxLength: 4 }),
    ports: fc.dictionary(text, fc.nat(65_535), { maxKeys: 3 }),
    cpuMillicores: fc.nat(),
    memoryBytes: fc.maxSafeNat(),
  });
  const spec = fc.record({
    environment: fc.dictionary(fc.stringMatching(/^[A-Z_]{1,8}$/), text, { maxKeys: 3 }),
    argument: text,
  });
  const step = fc.record({
    jobs: fc.array(fc.tuple(fc.nat(5), jobChange), { maxLength: 4 }),
    tasks: fc.array(fc.tuple(fc.nat(5), fc.nat(2), taskChange), { maxLength: 6 }),
    attempts: fc.array(fc.tuple(fc.nat(5), fc.nat(2), fc.nat(2), attemptChange), { maxLength: 6 }),
  });

  it('gives back exactly what was written last, after any change sets', () => {
    fc.assert(
      fc.property(
        fc.array(spec, { minLength: 6, maxLength: 6 }),
        attemptAllotted,
        fc.array(step, { maxLength: 6 }),
        (specs, allotted, steps) => {
          const own = makeFolder();
          let tested = openTestStore(own.database);
          const jobs = new Map<string, Job>();
          const tasks = new Map<string, Task>();
          const attempts = new Map<string, Attempt>();
          const ids = [
            '/ann/root',
            '/ann/root/child',
            '/ann/root/child/leaf',
            '/bob/a',
            '/bob/b',
            '/bob/b/c',
          ];
          const remember = (set: { jobs: Job[]; tasks: Task[]; attempts: Attempt[] }) => {
            for (const job of set.jobs) jobs.set(job.id, job);
            for (const task of set.tasks) tasks.set(task.id, task);
            for (const attempt of set.attempts) attempts.set(attempt.uid, attempt);
            tested.commit(changes(set));
          };
          const initial = ids.map((id, index) =>
            makeJob(id, {
              numTasks: 3,
              spec: makeSpec({
                command: ['run', specs[index]?.argument ?? ''],
                environment: specs[index]?.environment ?? {},
              }),
            }),
          );
          const initialTasks = initial.flatMap((job) => [0, 1, 2].map((index) => makeTask(job, index)));
          const initialAttempts = initialTasks.flatMap((task) =>
            [0, 1, 2].map((number) => makeAttempt(task, number, allotted)),
          );
          // Children before parents, too: the order within a set does not matter.
          remember({ jobs: [...initial].reverse(), tasks: initialTasks, attempts: initialAttempts });
          for (const { jobs: jobSteps, tasks: taskSteps, attempts: attemptSteps } of steps) {
            remember({
              jobs: jobSteps.flatMap(([at, change]) => {
                const job = jobs.get(ids[at] ?? '');
                return job === undefined ? [] : [{ ...job, ...change }];
              }),
              tasks: taskSteps.flatMap(([at, index, change]) => {
                const task = tasks.get(`${ids[at] ?? ''}/${index}`);
                return task === undefined ? [] : [{ ...task, ...change }];
              }),
              attempts: attemptSteps.flatMap(([at, index, number, change]) => {
                const found = [...attempts.values()].find(
                  (attempt) => attempt.taskId === `${ids[at] ?? ''}/${index}` && attempt.number === number,
                );
                return found === undefined ? [] : [{ ...found, ...change }];
              }),
            });
          }
          tested.close();
          tested = openTestStore(own.database);
          for (const root of ['/ann/root', '/bob/a', '/bob/b']) {
            const tree = tested.loadTree(root);
            const inTree = (jobId: string) => jobId === root || jobId.startsWith(`${root}/`);
            expect(tree?.jobs).toEqual(
              [...jobs.values()].filter((job) => inTree(job.id)).sort((a, b) => a.depth - b.depth),
            );
            expect(tree?.tasks).toEqual(
              [...tasks.values()]
                .filter((task) => inTree(task.jobId))
                .sort((a, b) => (a.jobId < b.jobId ? -1 : a.jobId > b.jobId ? 1 : a.index - b.index)),
            );
            expect(new Map(tree?.attempts.map((attempt) => [attempt.uid, attempt]))).toEqual(
              new Map([...attempts].filter(([, attempt]) => inTree(attempt.jobId))),
            );
          }
          const live = tested.loadLive();
          const liveRoots = new Set([
            ...[...jobs.values()]
              .filter((job) => job.state === 'PENDING' || job.state === 'RUNNING')
              .map((job) => job.rootId),
            ...[...attempts.values()]
              .filter((attempt) => attempt.finishedAtMs === null)
              .map((attempt) => jobs.get(attempt.jobId)?.rootId),
          ]);
          expect(new Set(live.jobs.map((job) => job.rootId))).toEqual(liveRoots);
          expect(tested.integrity()).toEqual([]);
          tested.close();
          own.remove();
        },
      ),
      { numRuns: 25 },
    );
  }, 60_000);

  it('numbers the new inbox items in order', () => {
    const entry = (jobId: string) =>
      ({ jobId, jobName: 'n', state: 'FAILED', cause: null, atMs: now, durationMs: null }) as const;
    expect(store.commit(changes({ inbox: [entry('/a/1'), entry('/a/2')] }))).toEqual({ inboxIds: [1, 2] });
    expect(store.commit(changes({ inbox: [entry('/a/3')] }))).toEqual({ inboxIds: [3] });
    expect(store.markInboxRead([1, 99])).toEqual({ unread: 2, failedUnseen: 2 });
    now += 86_400_001;
    expect(store.markInboxRead([])).toEqual({ unread: 2, failedUnseen: 0 });
    expect(store.markInboxRead(null)).toEqual({ unread: 0, failedUnseen: 0 });
  });

  it('keeps the first answer to a request', () => {
    const receipt = (answer: unknown) => ({ requestId: 'request-1', atMs: now, answer });
    store.commit(changes({ receipts: [receipt({ jobId: '/a/first' })] }));
    store.commit(changes({ receipts: [receipt({ jobId: '/a/second' })] }));
    expect(store.findReceipt('request-1')).toEqual(receipt({ jobId: '/a/first' }));
    expect(store.findReceipt('request-2')).toBeNull();
  });

  it('keeps nothing of a set of which one row is wrong', () => {
    const job = makeJob('/a/one');
    const task = makeTask(job);
    const orphan = makeTask(makeJob('/a/nowhere'));
    const refused = refusedBy(() =>
      store.commit(changes({ jobs: [job], tasks: [task, orphan], meta: { n: 1 } })),
    );
    expect(refused.refusal.code).toBe('INTERNAL');
    expect(refused.refusal.message).toContain('FOREIGN KEY');
    expect(store.findJob('/a/one')).toBeNull();
    expect(store.loadLive().meta).toEqual({});
    store.commit(changes({ jobs: [job], tasks: [task] }));
    expect(store.findJob('/a/one')).toEqual({ state: 'PENDING', rootId: '/a/one' });
  });

  it('refuses two attempts of one number, and an attempt that is of no task', () => {
    const job = makeJob('/a/one');
    const task = makeTask(job);
    store.commit(changes({ jobs: [job], tasks: [task], attempts: [makeAttempt(task)] }));
    const second = makeAttempt(task);
    for (const attempt of [second, { ...second, startedAtMs: 5 }]) {
      expect(refusedBy(() => store.commit(changes({ attempts: [attempt] }))).message).toContain(
        `The attempt ${second.uid} could be neither inserted nor updated`,
      );
    }
    const stray = { ...makeAttempt(task, 1), taskId: '/a/one/x' };
    expect(refusedBy(() => store.commit(changes({ attempts: [stray] }))).message).toContain('/a/one/x');
    expect(store.loadTree('/a/one')?.attempts).toHaveLength(1);
  });

  it('refuses to write after it was closed', () => {
    store.close();
    expect(refusedBy(() => store.commit(changes({ meta: { n: 1 } }))).refusal.code).toBe('INTERNAL');
  });
});

describe('what a controller starts from', () => {
  it('is every tree with something left to do, whatever the state of its root', () => {
    const over = together(lifeOfJob('/a/over'));
    const root = makeJob('/a/ended', { state: 'FAILED', finishedAtMs: now });
    const child = makeJob('/a/ended/goes-on', { state: 'RUNNING' });
    const stopping = makeJob('/a/stopping', { state: 'KILLED', finishedAtMs: now });
    const stoppingTask = makeTask(stopping, 0, { state: 'KILLED', final: true, currentAttempt: 0 });
    const waiting = makeJob('/a/waiting');
    store.commit(over);
    store.commit(
      changes({
        jobs: [child, root, stopping, waiting],
        tasks: [makeTask(root), makeTask(child), stoppingTask, makeTask(waiting)],
        attempts: [makeAttempt(stoppingTask, 0, { state: 'KILLED' })],
      }),
    );
    reopen();
    const live = store.loadLive();
    expect(live.jobs.map((job) => job.id)).toEqual([
      '/a/ended',
      '/a/stopping',
      '/a/waiting',
      '/a/ended/goes-on',
    ]);
    expect(live.tasks.map((task) => task.id)).toEqual([
      '/a/ended/0',
      '/a/ended/goes-on/0',
      '/a/stopping/0',
      '/a/waiting/0',
    ]);
    expect(live.attempts.map((attempt) => attempt.taskId)).toEqual(['/a/stopping/0']);
    expect(live.counts).toEqual({ running: 1, waiting: 1, finished: 3, failedUnseen: 0 });
    expect(store.loadTree('/a/over')?.jobs).toEqual([over.jobs.at(-1)]);
    expect(store.loadTree('/a/none')).toBeNull();
  });

  it('holds the receipts of the last hour', () => {
    const receipt = (requestId: string, atMs: number) => ({ requestId, atMs, answer: null });
    store.commit(
      changes({
        receipts: [receipt('request-old', now - 3_600_001), receipt('request-new', now - 3_600_000)],
      }),
    );
    expect(store.loadLive().receipts.map((item) => item.requestId)).toEqual(['request-new']);
    expect(store.findReceipt('request-old')).not.toBeNull();
  });
});

describe('retention', () => {
  it('deletes whole trees that are over for long enough, oldest first, and tells which folders can go', () => {
    const day = 86_400_000;
    const tree = (name: string, finishedAtMs: number, childFinishedAtMs: number | null) => {
      const root = makeJob(`/a/${name}`, { state: 'SUCCEEDED', finishedAtMs });
      const child = makeJob(`/a/${name}/child`, {
        state: childFinishedAtMs === null ? 'RUNNING' : 'SUCCEEDED',
        finishedAtMs: childFinishedAtMs,
      });
      const tasks = [makeTask(root), makeTask(child)];
      const attempts = tasks.map((task) => makeAttempt(task, 0, { state: 'SUCCEEDED', finishedAtMs }));
      store.commit(changes({ jobs: [root, child], tasks, attempts }));
      return attempts.map((attempt) => attempt.uid).sort();
    };
    const oldest = tree('oldest', now - 10 * day, now - 10 * day);
    const old = tree('old', now - 9 * day, now - 9 * day);
    tree('young', now - day, now - 9 * day);
    tree('child-ended-late', now - 9 * day, now - day);
    tree('child-lives', now - 9 * day, null);
    const stuck = makeJob('/a/stuck', { state: 'KILLED', finishedAtMs: now - 9 * day });
    const stuckTask = makeTask(stuck, 0, { state: 'KILLED' });
    store.commit(
      changes({
        jobs: [stuck],
        tasks: [stuckTask],
        attempts: [makeAttempt(stuckTask, 0, { state: 'KILLED' })],
      }),
    );

    const first = store.prune(now - 7 * day, 1);
    expect(first.rootIds).toEqual(['/a/oldest']);
    expect([...first.attemptUids].sort()).toEqual(oldest);
    expect(first.jobIds).toEqual(['/a/oldest', '/a/oldest/child']);
    expect(store.prune(now - 7 * day, 100, ['/a/old', '/a/no such job']).rootIds).toEqual([]);
    expect(store.unknownAttempts([...oldest, ...old])).toEqual(oldest);
    const second = store.prune(now - 7 * day, 100);
    expect(second.rootIds).toEqual(['/a/old']);
    expect([...second.attemptUids].sort()).toEqual(old);
    expect(store.prune(now - 7 * day, 100)).toEqual({ rootIds: [], jobIds: [], attemptUids: [] });
    for (const gone of ['/a/oldest', '/a/oldest/child', '/a/old']) expect(store.findJob(gone)).toBeNull();
    for (const kept of ['/a/young', '/a/child-ended-late', '/a/child-lives', '/a/stuck']) {
      expect(store.findJob(kept)?.rootId).toBe(kept);
    }
    expect(store.loadTree('/a/old')).toBeNull();
    expect(store.integrity()).toEqual([]);
  });

  it('deletes old receipts, messages and activity, a bounded number at a time', () => {
    const at = (atMs: number) => ({
      receipts: [{ requestId: `request-${atMs}`, atMs, answer: 1 }],
      audit: [{ atMs, actor: 'a', action: 'job_submitted', entity: '/a/b', detail: {} } as const],
      inbox: [{ jobId: '/a/b', jobName: 'b', state: 'SUCCEEDED', cause: null, atMs, durationMs: 1 } as const],
    });
    for (const atMs of [10, 20, 30, 40]) store.commit(changes(at(atMs)));
    const before = { receiptsMs: 40, inboxMs: 30, auditMs: 20 };
    expect(store.pruneRecords(before, 2)).toBe(2 + 2 + 1);
    expect(store.pruneRecords(before, 2)).toBe(1);
    expect(store.pruneRecords(before, 2)).toBe(0);
    expect(store.findReceipt('request-30')).toBeNull();
    expect(store.findReceipt('request-40')).not.toBeNull();
    expect(store.markInboxRead([])).toEqual({ unread: 2, failedUnseen: 0 });
  });
});

describe('the write-ahead log', () => {
  it('is moved into the database when idle', () => {
    store.commit(together(lifeOfJob('/a/one')));
    expect(store.checkpoint()).toBe(true);
    store.commit(together(lifeOfJob('/a/two')));
    expect(store.checkpoint()).toBe(true);
  });
});
