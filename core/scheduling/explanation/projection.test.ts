/** Expected starts: the look ahead over small clusters, and what it says of its assumptions. */
import { describe, expect, test } from 'vitest';
import { gib, minute, TestCluster, worker } from '../test-cluster.js';
import { whenOf } from './expected-start.js';
import { project } from './projection.js';

function when(world: TestCluster, jobId: string, maxEvents?: number) {
  const options = maxEvents === undefined ? {} : { maxEvents };
  return whenOf(project(world.cluster, world.nowMs, world.rules, options), jobId);
}

describe('when a job starts', () => {
  test('now, when there is room', () => {
    const world = new TestCluster([worker('w1')]);
    world.submit('/ann/a');
    expect(when(world, '/ann/a')).toMatchObject({ kind: 'now', startMs: world.nowMs, text: 'Starts now.' });
  });

  test('when what runs ends by its limit, one after another', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { cpu: 4, startedAtMs: world.nowMs - 10 * minute, limitMs: 30 * minute });
    world.submit('/ann/first', { cpu: 4, limitMs: 60 * minute });
    world.submit('/ann/second', { cpu: 4 });
    expect(when(world, '/ann/first')).toMatchObject({ kind: 'at', startMs: world.nowMs + 20 * minute });
    const second = when(world, '/ann/second');
    expect(second).toEqual({
      kind: 'at',
      startMs: world.nowMs + 80 * minute,
      madeAtMs: world.nowMs,
      text: 'Expected to start at 1970-01-12 15:06:40 UTC, by known time limits.',
      assumptions: [
        { code: 'NO_NEW_WORK', text: 'Nothing more is submitted.' },
        { code: 'MACHINES_STAY', text: 'The machines stay as they are.' },
        {
          code: 'RUNS_TO_LIMIT',
          text: 'What has a time limit runs to it: 2 tasks end before.',
        },
      ],
    });
  });

  test('nobody knows, behind what has no limit', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/endless', 'w1', { cpu: 4 });
    world.submit('/ann/a', { cpu: 4 });
    const expected = when(world, '/ann/a');
    expect(expected).toMatchObject({ kind: 'unknown', startMs: null });
    expect(expected.assumptions).toContainEqual({
      code: 'ENDLESS',
      text: '1 task without a time limit does not end.',
    });
  });

  test('after the time the bound was reached', () => {
    const world = new TestCluster([worker('w1')]);
    for (let at = 0; at < 6; at += 1) world.submit(`/bob/${at}`, { cpu: 4, limitMs: 10 * minute });
    world.submit('/ann/last', { cpu: 4, rootSubmittedAtMs: 100, submittedAtMs: 100, band: 'BATCH' });
    expect(when(world, '/ann/last', 7)).toMatchObject({
      kind: 'after',
      startMs: world.nowMs + 20 * minute,
      text: 'Starts after 1970-01-12 14:06:40 UTC; further ahead nobody has looked.',
    });
    expect(when(world, '/ann/last')).toMatchObject({ kind: 'at', startMs: world.nowMs + 60 * minute });
  });

  test('after a dependency, which is taken to succeed', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/ann/prepare', 'w1', { cpu: 1, startedAtMs: world.nowMs, limitMs: 5 * minute });
    world.cluster.noteJobState('/ann/prepare', 'RUNNING');
    world.submit('/ann/train', { dependencies: [{ jobId: '/ann/prepare', on: 'success' }] });
    const expected = when(world, '/ann/train');
    expect(expected).toMatchObject({ kind: 'at', startMs: world.nowMs + 5 * minute });
    expect(expected.assumptions).toContainEqual({
      code: 'ENDS_WELL',
      text: 'The jobs it depends on succeed.',
    });
  });

  test.each([
    ['its end: right then', 'end', { kind: 'at', startMs: 1_000_000_000 + 5 * minute + 1 }],
    ['its success: never', 'success', { kind: 'unknown', startMs: null }],
  ] as const)('of what waits for a job that will not end in time, for %s', (_, on, expected) => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/endless', 'w1', { cpu: 2 });
    world.run('/bob/ends', 'w1', { cpu: 1, startedAtMs: world.nowMs, limitMs: 60 * minute });
    world.submit('/ann/late', { cpu: 4, finishByMs: world.nowMs + 10 * minute, limitMs: 5 * minute });
    world.cluster.noteJobState('/ann/late', 'PENDING');
    world.submit('/ann/after', { dependencies: [{ jobId: '/ann/late', on }] });
    expect(when(world, '/ann/after')).toMatchObject(expected);
  });

  test('at the time it is not to start before, and never while it is held', () => {
    const world = new TestCluster([worker('w1')]);
    world.submit('/ann/later', { startNotBeforeMs: world.nowMs + 90 * minute });
    world.submit('/ann/held', { held: true });
    expect(when(world, '/ann/later')).toMatchObject({ kind: 'at', startMs: world.nowMs + 90 * minute });
    expect(when(world, '/ann/held')).toMatchObject({ kind: 'unknown' });
  });

  test('who is evicted for others waits again behind them', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/batch', 'w1', { cpu: 4, band: 'BATCH', startedAtMs: world.nowMs, limitMs: 20 * minute });
    world.submit('/ann/urgent', { cpu: 4, band: 'PRODUCTION', limitMs: 10 * minute });
    world.submit('/cid/batch', { cpu: 4, band: 'BATCH', rootSubmittedAtMs: 2e12 });
    const urgent = when(world, '/ann/urgent');
    expect(urgent).toMatchObject({ kind: 'now' });
    expect(urgent.assumptions).toContainEqual({
      code: 'LEAVES_AT_ONCE',
      text: 'What has to leave does so at once.',
    });
    // bob runs again for its whole limit.
    expect(when(world, '/bob/batch')).toMatchObject({ kind: 'at', startMs: world.nowMs + 10 * minute });
    expect(when(world, '/cid/batch')).toMatchObject({ kind: 'at', startMs: world.nowMs + 30 * minute });
  });

  test('the cluster itself is left as it is, and the same look ahead says the same', () => {
    const world = new TestCluster([worker('w1'), worker('w2')]);
    world.run('/bob/a', 'w1', { cpu: 4, limitMs: 90 * minute });
    for (let at = 0; at < 10; at += 1)
      world.submit(`/ann/${at}`, { cpu: 1 + (at % 4), memoryBytes: gib, limitMs: (1 + at) * minute });
    const { version } = world.cluster;
    const first = project(world.cluster, world.nowMs, world.rules);
    expect(project(world.cluster, world.nowMs, world.rules)).toEqual(first);
    expect(first.starts.size).toBe(10);
    expect(world.cluster.version).toBe(version);
    expect(world.cluster.queue.tasks).toBe(10);
  });

  test('what is on its way out is taken to be gone', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { cpu: 4, leaving: 'told' });
    world.submit('/ann/a', { cpu: 4 });
    const expected = when(world, '/ann/a');
    expect(expected).toMatchObject({ kind: 'now', startMs: world.nowMs });
    expect(expected.assumptions.map(({ code }) => code)).toContain('LEAVES_AT_ONCE');
  });

  test('it may stop when the jobs asked about have started', () => {
    const world = new TestCluster([worker('w1')]);
    for (let at = 0; at < 5; at += 1) world.submit(`/ann/${at}`, { cpu: 4, limitMs: 10 * minute });
    const options = { jobIds: ['/ann/1'] };
    const { starts, untilMs } = project(world.cluster, world.nowMs, world.rules, options);
    expect([...starts.keys()]).toEqual(['/ann/0', '/ann/1']);
    expect(untilMs).toBe(world.nowMs + 10 * minute);
  });
});
