/** Random histories, several things a step as rounds have them: what the scheduler keeps is what one that starts from the rows reads. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noQuota } from '../contract/budgets.js';
import type { JobChange } from '../contract/queue.js';
import { bands } from '../contract/states.js';
import type { Draft } from '../model/draft.js';
import { changeJob } from '../model/job-change.js';
import { report, specOf } from '../model/test-world.js';
import { cancel, observe, submit, workerLost } from '../model/transitions.js';
import { cards, gib, worker } from './test-cluster.js';
import { Rows } from './test-rows.js';

const at = fc.nat(1000);
const reportable = ['RUNNING', 'SUCCEEDED', 'FAILED', 'KILLED', 'WORKER_FAILED', 'MISSING'] as const;
const changes: readonly JobChange[] = [
  { kind: 'hold' },
  { kind: 'release' },
  { kind: 'move', to: 'first' },
  ...bands.map((band) => ({ kind: 'band', band }) as const),
];

const request = fc.record(
  {
    name: fc.constantFrom('a', 'b', 'c'),
    replicas: fc.integer({ min: 1, max: 4 }),
    cpu: fc.constantFrom(0.5, 1, 2),
    gpu: fc.constantFrom(0, 1, 2),
    maxRetries: fc.integer({ min: 0, max: 2 }),
    maxTaskFailures: fc.integer({ min: 0, max: 2 }),
    maxActive: fc.integer({ min: 1, max: 2 }),
    gangBy: fc.constant('worker'),
    held: fc.boolean(),
    finishBy: fc.constantFrom('10m', '2h'),
    timeout: fc.constantFrom('5m', '1h'),
    existingJobPolicy: fc.constantFrom('UNSPECIFIED' as const, 'RECREATE' as const),
    priority: fc.constantFrom('batch', 'production'),
    after: fc.constantFrom('SUCCESS' as const, 'END' as const, 'FAILURE' as const),
  },
  { requiredKeys: [] },
);

const one = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('submit' as const), request, user: fc.boolean(), at }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('observe' as const),
      at,
      state: fc.constantFrom(...reportable),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('run' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('change' as const), at, change: fc.constantFrom(...changes) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const) }) },
);
type One = typeof one extends fc.Arbitrary<infer T> ? T : never;

const step = fc.record({
  batch: fc.array(one, { minLength: 1, maxLength: 4 }),
  waitMs: fc.constantFrom(0, 1000, 10 * 60_000),
  decides: fc.boolean(),
});

const machines = ['w1', 'w2'].map((id) =>
  worker(id, {
    cpuMillicores: 3000,
    memoryBytes: 8 * gib,
    gpus: cards(2, (index) => ({ uuid: `${id}-${index}` })),
  }),
);

function pick<T>(items: readonly T[], index: number): T | undefined {
  return items[index % Math.max(1, items.length)];
}

function perform(rows: Rows, draft: Draft, next: One): void {
  const { nowMs } = rows;
  const jobId = 'at' in next ? (pick([...rows.state.jobIds()], next.at) ?? '') : '';
  switch (next.kind) {
    case 'submit': {
      const { after, maxActive, ...asked } = next.request;
      const rest = asked.gangBy === undefined && maxActive !== undefined ? { ...asked, maxActive } : asked;
      const dependencies = after === undefined || jobId === '' ? [] : [{ job: jobId, on: after }];
      const user = next.user ? 'ann' : 'bob';
      submit(draft, {
        spec: specOf({ ...rest, dependencies }),
        user,
        submittedBy: user,
        nowMs,
        suffix: `s${draft.meta('next_insertion') ?? 0}`,
        retryOf: null,
      });
      return;
    }
    case 'observe': {
      const uid = pick([...rows.attempts.keys()], next.at);
      if (uid !== undefined) observe(draft, report(uid, next.state), nowMs);
      return;
    }
    case 'run':
      for (const { uid, state } of [...draft.unfinishedAttempts()])
        if (state === 'ASSIGNED') observe(draft, report(uid, 'RUNNING'), nowMs);
      return;
    case 'change': {
      const asked = { change: next.change, actor: 'ann', mayManage: true, nowMs, ranks: () => [] };
      changeJob(draft, { ...asked, jobId });
      return;
    }
    case 'cancel':
      cancel(draft, jobId, { actor: 'ann', nowMs });
      return;
    case 'lose':
      workerLost(draft, 'w2', { code: 'WORKER_LOST', message: 'gone' }, nowMs);
  }
}

/** More of it than the quota allows, promised places among it. */
function beyondQuota(rows: Rows, user: string, tasks: number): string[] {
  const { queue, holdings } = rows.scheduler.cluster;
  const promised = holdings.allClaims().filter(({ jobId }) => queue.jobs.get(jobId)?.user.id === user).length;
  const has = (queue.users.get(user)?.tasks ?? 0) + promised;
  return has > tasks ? [`${user} has ${has} of ${tasks} tasks`] : [];
}

/** What would be decided though nothing has happened and no round was asked for, and waiting tasks of which nothing says why. */
function unfinished(rows: Rows): unknown[] {
  while (rows.round(machines).more);
  const { placed, evictions, released, unschedulable } = rows.decide(machines);
  const decided = [...placed, ...evictions, ...released, ...unschedulable];
  if (decided.length > 0) return decided;
  return [...rows.state.jobIds()]
    .flatMap((id) => rows.state.tasksOf(id))
    .filter(({ id, state }) => state === 'PENDING' && rows.causes.of(id) === null)
    .map(({ id }) => id);
}

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Found by chance before. */
const bandChangedAndStopped: Step[] = [
  {
    batch: [
      { kind: 'submit', request: { replicas: 2, gangBy: 'worker' }, user: false, at: 0 },
      { kind: 'submit', request: {}, user: false, at: 0 },
    ],
    waitMs: 0,
    decides: false,
  },
  { batch: [{ kind: 'run' }], waitMs: 0, decides: true },
  { batch: [{ kind: 'observe', at: 0, state: 'MISSING' }], waitMs: 0, decides: false },
  {
    batch: [
      { kind: 'change', at: 0, change: { kind: 'band', band: 'BATCH' } },
      { kind: 'cancel', at: 0 },
    ],
    waitMs: 0,
    decides: false,
  },
];

test('whatever comes together in one step', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
      const rows = new Rows();
      rows.setBudget('bob', { allow: ['PRODUCTION'], limit: 500, quota: { ...noQuota, tasks: 2 } });
      rows.setBudget('ann', { allow: ['SYSTEM', 'PRODUCTION'], quota: { ...noQuota, tasks: 3 } });
      for (const { batch, waitMs, decides } of steps) {
        rows.nowMs += waitMs;
        rows.step((draft) => {
          for (const each of batch) perform(rows, draft, each);
        });
        expect(rows.kept(machines)).toEqual({ ...rows.loaded(machines), reservations: expect.anything() });
        if (!decides) continue;
        rows.round(machines);
        expect(rows.moved).toEqual([]);
        expect(rows.kept(machines)).toEqual({ ...rows.loaded(machines), reservations: expect.anything() });
        expect([...beyondQuota(rows, 'ann', 3), ...beyondQuota(rows, 'bob', 2)]).toEqual([]);
        expect(unfinished(rows)).toEqual([]);
      }
    }),
    { numRuns: 300, examples: [[bandChangedAndStopped]] },
  );
});
