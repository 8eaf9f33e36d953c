/** Random histories: whatever is asked, reported and lost in whatever order, the rules hold after every step. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isTerminalJobState, isTerminalTaskState } from '../contract/states.js';
import type { JobRequest } from '../contract/job-request.js';
import type { SchedulingWorker } from '../scheduling/free.js';
import { Draft } from './draft.js';
import type { Attempt, Job, Task } from './entities.js';
import {
  cancel,
  complete,
  desiredAttempts,
  executionTimeouts,
  observeAll,
  preempt,
  schedulingDeadlines,
  settle,
  workerLost,
  type Observation,
} from './transitions.js';
import { pendingOf, report, type World } from './test-world.js';
import { Rows } from '../scheduling/test-rows.js';

const reportable = [
  'BUILDING',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
  'KILLED',
  'WORKER_FAILED',
  'PREEMPTED',
  'MISSING',
] as const;
const at = fc.nat(1000);

const request = fc.record(
  {
    name: fc.constantFrom('a', 'b', 'c'),
    replicas: fc.integer({ min: 1, max: 4 }),
    cpu: fc.constantFrom(0.5, 1, 2),
    gpu: fc.constantFrom(0, 1, 2),
    maxRetries: fc.integer({ min: 0, max: 2 }),
    maxRetriesPreemption: fc.integer({ min: 0, max: 2 }),
    maxTaskFailures: fc.integer({ min: 0, max: 2 }),
    timeout: fc.constantFrom('2s', '9s'),
    schedulingTimeout: fc.constantFrom('3s', '8s'),
    gangBy: fc.constant('worker'),
    preemptionPolicy: fc.constantFrom('TERMINATE_CHILDREN' as const, 'PRESERVE_CHILDREN' as const),
    existingJobPolicy: fc.constantFrom(
      'UNSPECIFIED' as const,
      'ERROR' as const,
      'KEEP' as const,
      'RECREATE' as const,
    ),
    priority: fc.constantFrom('batch', 'production'),
  },
  { requiredKeys: [] },
);

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('submit' as const), request, parent: fc.option(at) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('round' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('observe' as const),
      reports: fc.array(fc.record({ at, state: fc.constantFrom(...reportable), started: fc.boolean() }), {
        minLength: 1,
        maxLength: 4,
      }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('run' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: -500, max: 4000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('cancel' as const, 'complete' as const, 'preempt' as const),
      at,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('lose' as const), worker: fc.constantFrom('w1', 'w2') }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('gone' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('evict' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const workers: readonly SchedulingWorker[] = ['w1', 'w2'].map((id) => ({
  id,
  healthy: true,
  cpuMillicores: 3000,
  memoryBytes: 8e9,
  gpus: [0, 1].map((index) => ({
    uuid: `${id}-${index}`,
    index,
    variant: 'h100',
    usable: true,
    busyByOthers: false,
  })),
  gpuNote: null,
  attributes: {},
}));

/** A machine that any gang fits. */
const ample: readonly SchedulingWorker[] = [
  {
    id: 'w3',
    healthy: true,
    cpuMillicores: 64_000,
    memoryBytes: 64e9,
    gpus: Array.from({ length: 16 }, (_, index) => ({
      uuid: `w3-${index}`,
      index,
      variant: 'h100',
      usable: true,
      busyByOthers: false,
    })),
    gpuNote: null,
    attributes: {},
  },
];

function pick<T>(items: readonly T[], index: number): T | undefined {
  return items[index % Math.max(1, items.length)];
}

function perform(world: Rows, next: Step, machines = workers): void {
  switch (next.kind) {
    case 'submit': {
      const parent = next.parent === null ? undefined : pick([...world.jobs.keys()], next.parent);
      world.trySubmit(withoutUndefined({ ...next.request, parent }));
      return;
    }
    case 'round': {
      world.round(machines);
      expect(world.moved).toEqual([]);
      return;
    }
    case 'run':
      world.step((draft) => {
        const assigned = [...world.state.unfinishedAttempts()].filter(({ state }) => state === 'ASSIGNED');
        observeAll(
          draft,
          assigned.map(({ uid }) => report(uid, 'RUNNING')),
          world.nowMs,
        );
      });
      return;
    case 'observe':
      world.step((draft) => {
        const uids = [...world.attempts.keys()];
        const batch = next.reports.flatMap((each): Observation[] => {
          const uid = pick(uids, each.at);
          const startedAtMs = each.started ? world.nowMs : null;
          return uid === undefined
            ? []
            : [report(uid, each.state, { startedAtMs, exitCode: each.state === 'FAILED' ? 3 : null })];
        });
        observeAll(draft, batch, world.nowMs);
      });
      return;
    case 'wait':
      world.nowMs += next.ms;
      world.step((draft) => {
        executionTimeouts(draft, world.nowMs);
        schedulingDeadlines(draft, world.nowMs);
      });
      return;
    case 'cancel':
    case 'complete':
    case 'preempt': {
      const job = pick([...world.jobs.keys()], next.at);
      const uid = pick([...world.attempts.keys()], next.at);
      const by = { actor: 'ann', nowMs: world.nowMs };
      world.step((draft) => {
        if (next.kind === 'preempt') {
          if (uid !== undefined) preempt(draft, uid, { ...by, reason: 'r' });
        } else if (job !== undefined) {
          if (next.kind === 'cancel') cancel(draft, job, by);
          else complete(draft, job, by);
        }
      });
      return;
    }
    case 'lose':
      world.step((draft) =>
        workerLost(draft, next.worker, { code: 'WORKER_LOST', message: 'gone' }, world.nowMs),
      );
      return;
    case 'gone':
      world.step((draft) => {
        const stopping = desiredAttempts(world.state).filter(({ kind }) => kind === 'stop');
        observeAll(
          draft,
          stopping.map(({ uid }) => report(uid, 'MISSING')),
          world.nowMs,
        );
      });
      return;
    case 'evict':
      for (const id of [...world.state.jobIds()]) world.state.evictTree(id);
  }
}

function withoutUndefined(value: Record<string, unknown>): Partial<JobRequest> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
}

/** Rules about what a change may not undo. */
function undone(
  jobs: Map<string, Job>,
  tasks: Map<string, Task>,
  attempts: Map<string, Attempt>,
  world: World,
): string[] {
  const problems: string[] = [];
  for (const [id, job] of jobs) {
    const now = world.job(id);
    if (
      isTerminalJobState(job.state) &&
      now.state !== job.state &&
      !(job.state === 'WORKER_FAILED' && now.state === 'KILLED')
    ) {
      problems.push(`${id}: ${job.state} became ${now.state}`);
    }
    if (job.finishedAtMs !== null && now.finishedAtMs !== job.finishedAtMs)
      problems.push(`${id}: finished again`);
  }
  for (const [id, task] of tasks) {
    if (task.final && world.task(id).state !== task.state) problems.push(`${id}: ${task.state} was final`);
  }
  for (const [uid, attempt] of attempts) {
    const now = world.attempt(uid);
    if (isTerminalTaskState(attempt.state) && now.state !== attempt.state)
      problems.push(`${uid}: ${attempt.state} became ${now.state}`);
    if (attempt.finishedAtMs !== null && now.finishedAtMs !== attempt.finishedAtMs)
      problems.push(`${uid}: finished again`);
    if (attempt.startedAtMs !== null && now.startedAtMs !== attempt.startedAtMs)
      problems.push(`${uid}: started again`);
  }
  return problems;
}

/** Rules about a job and its tasks together. */
function incoherent(world: World): string[] {
  const problems: string[] = [];
  for (const job of world.jobs.values()) {
    const tasks = [...world.tasks.values()].filter((task) => task.jobId === job.id);
    if (tasks.length !== job.numTasks) problems.push(`${job.id}: ${tasks.length} tasks of ${job.numTasks}`);
    const open = tasks.filter((task) => !task.final).length;
    if (isTerminalJobState(job.state) !== (open === 0))
      problems.push(`${job.id}: ${job.state} with ${open} open tasks`);
    if (isTerminalJobState(job.state) !== (job.finishedAtMs !== null))
      problems.push(`${job.id}: ${job.state}, finished ${job.finishedAtMs}`);
    if (job.state !== 'SUCCEEDED' && isTerminalJobState(job.state) && job.cause === null)
      problems.push(`${job.id}: no cause`);
    if (job.state === 'SUCCEEDED' && job.exitCode !== 0)
      problems.push(`${job.id}: exit code ${job.exitCode}`);
  }
  for (const { id } of workers) {
    const used = world.state.used(id);
    if (used.cpuMillicores > 3000 || used.devices.size > 2) problems.push(`${id}: overbooked`);
  }
  const roots = world.changes.flatMap((change) => change.inbox.map((entry) => entry.jobId));
  if (new Set(roots).size !== roots.length) problems.push('a root job was notified twice');
  return problems;
}

test('no history breaks a rule', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const world = new Rows();
      for (const next of steps) {
        const [jobs, tasks, attempts] = [new Map(world.jobs), new Map(world.tasks), new Map(world.attempts)];
        perform(world, next);
        expect([
          ...undone(jobs, tasks, attempts, world),
          ...world.violations(),
          ...incoherent(world),
        ]).toEqual([]);
      }
    }),
    { numRuns: 400 },
  );
});

test('once nothing new comes, rounds and reports bring every job to its end, and everything can leave memory', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 25 }), (steps) => {
      const world = new Rows();
      for (const next of steps) perform(world, next);
      for (let turn = 0; turn < 200; turn += 1) {
        perform(world, { kind: 'gone' });
        perform(world, { kind: 'round' }, ample);
        world.step((draft) => {
          const uids = desiredAttempts(world.state).filter(({ kind }) => kind !== 'stop');
          observeAll(
            draft,
            uids.map(({ uid }) => report(uid, 'SUCCEEDED')),
            world.nowMs,
          );
        });
      }
      expect(
        [...world.jobs.values()]
          .filter((job) => !isTerminalJobState(job.state))
          .map((job) => [job.id, job.spec.gpuCount]),
      ).toEqual([]);
      perform(world, { kind: 'evict' });
      expect([...world.state.jobIds()]).toEqual([]);
      expect(world.state.unfinishedCount).toBe(0);
      expect(pendingOf(world.state).length).toBe(0);
      expect(world.state.nextDeadlineMs()).toBeNull();
    }),
    { numRuns: 60 },
  );
});

test('a draft thrown away leaves the state as it was', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 20 }),
      fc.array(step, { maxLength: 5 }),
      (steps, discarded) => {
        const world = new Rows();
        for (const next of steps) perform(world, next);
        const before = JSON.stringify(
          [...world.state.jobIds()].map((id) => [world.state.job(id), world.state.tasksOf(id)]),
        );
        for (const next of discarded) {
          const draft = new Draft(world.state);
          if (next.kind === 'cancel')
            for (const id of world.jobs.keys()) cancel(draft, id, { actor: 'ann', nowMs: world.nowMs });
          else if (next.kind === 'lose')
            workerLost(draft, next.worker, { code: 'WORKER_LOST', message: 'gone' }, world.nowMs);
          else
            for (const uid of world.attempts.keys()) observeAll(draft, [report(uid, 'FAILED')], world.nowMs);
          settle(draft, world.nowMs);
        }
        const after = JSON.stringify(
          [...world.state.jobIds()].map((id) => [world.state.job(id), world.state.tasksOf(id)]),
        );
        expect(after).toBe(before);
        expect(world.differences()).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});
