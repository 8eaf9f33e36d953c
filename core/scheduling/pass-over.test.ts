/** Runs of jobs that are alike are passed over at once; what is said of them is what looking at each would say. */
import { expect, test } from 'vitest';
import type { QueuedJob } from './inputs.js';
import { minute, TestCluster, worker } from './test-cluster.js';

const patienceMs = 2 * minute;

/** Small whole numbers below `bound`, the same for the same seed. */
function numbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * bound);
  };
}

/** Nothing finds room there, and nobody may be evicted. */
function fullCluster(): TestCluster {
  const world = new TestCluster([worker('w1', { cpuMillicores: 16_000 })]);
  world.run('/bob/runs', 'w1', { cpu: 15 });
  return world;
}

test.each([1, 2, 3, 4, 5])('after each of many changes of a queue of one user (%i)', (seed) => {
  const world = fullCluster();
  const { cluster } = world;
  const random = numbers(seed);
  const waiting = new Map<string, { job: QueuedJob; tasks: Set<number> }>();
  const ids = () => [...waiting.keys()];
  for (let step = 0; step < 250; step += 1) {
    const some = ids()[random(ids().length)];
    const kind = random(10);
    if (some === undefined || kind < 5) {
      const id = world.submit(`/ann/job-${step}`, {
        // Mostly alike, and mostly behind all others.
        cpu: random(12) === 0 ? 3 : 2,
        tasks: random(15) === 0 ? 2 : 1,
        held: random(20) === 0,
        maxActive: random(20) === 0 ? 0 : null,
        rank: random(6) === 0 ? random(5) - 2 : 0,
        // None long enough to evict.
        waitingSinceMs: world.nowMs - (random(8) === 0 ? random(100) * 1000 : 0),
      });
      const entry = cluster.queue.jobs.get(id);
      if (entry !== undefined) waiting.set(id, { job: entry.job, tasks: new Set(entry.indexes) });
    } else if (kind < 8) {
      const { tasks } = waiting.get(some) ?? { tasks: new Set<number>() };
      for (const index of [...tasks].slice(0, 1)) {
        tasks.delete(index);
        cluster.removeTask(some, index);
      }
      if (tasks.size === 0) {
        waiting.delete(some);
        cluster.removeJob(some);
      }
    } else if (kind === 8) {
      const { tasks } = waiting.get(some) ?? { tasks: new Set<number>() };
      tasks.add(7);
      cluster.addTask(some, 7);
    } else {
      const before = waiting.get(some);
      if (before === undefined) continue;
      before.job = { ...before.job, held: !before.job.held, rank: random(3) - 1 };
      cluster.putJob(before.job);
    }
    const { waiting: said, wakeAtMs, placed } = world.decide();
    expect(placed).toEqual([]);
    const inOrder = [...waiting.values()].sort(
      ({ job: left }, { job: right }) => left.rank - right.rank || left.submittedAtMs - right.submittedAtMs,
    );
    const codeOf = ({ held, maxActive }: QueuedJob) =>
      held ? 'held' : maxActive === null ? 'capacity' : 'job-cap';
    expect(said).toEqual(
      inOrder.map(({ job, tasks }) => ({ jobId: job.id, code: codeOf(job), count: tasks.size })),
    );
    const ends = inOrder
      .filter(({ job }) => codeOf(job) === 'capacity')
      .map(({ job }) => job.waitingSinceMs + patienceMs);
    expect(wakeAtMs).toBe(ends.length === 0 ? null : Math.min(...ends));
  }
});

test('a long run that is alike is not looked at job by job', () => {
  const world = fullCluster();
  for (let at = 0; at < 500; at += 1) world.submit(`/ann/job-${at}`, { cpu: 2 });
  const entries = [...world.cluster.queue.jobs.values()];
  const { waiting } = world.decide();
  // What was said of one is kept with it where it was looked at.
  expect(entries.every(({ waits }) => waits === null)).toBe(true);
  expect(waiting).toHaveLength(500);
  expect(waiting.at(-1)).toEqual({ jobId: '/ann/job-499', code: 'capacity', count: 1 });
});
