/** What would make a job start: for each cluster the nearest changes, with their numbers. */
import { describe, expect, test } from 'vitest';
import { card, cards, gib, minute, TestCluster, worker } from '../test-cluster.js';
import { explainJob } from './explanation.js';

function remedies(world: TestCluster, jobId: string) {
  const context = {
    cluster: world.cluster,
    decision: world.decide(),
    rules: world.rules,
    nowMs: world.nowMs,
  };
  return explainJob(context, jobId)?.remedies ?? [];
}

describe('what would make it start', () => {
  test('fewer CPUs: the most that is free on one machine with all else', () => {
    const world = new TestCluster([worker('w1'), worker('w2')]);
    world.run('/bob/a', 'w1', { cpu: 2 });
    world.run('/bob/b', 'w2', { cpu: 1, memoryBytes: 60 * gib });
    world.submit('/ann/a', { cpu: 4, memoryBytes: 8 * gib });
    expect(remedies(world, '/ann/a')).toEqual([
      {
        kind: 'fewer-cpus',
        cpuMillicores: 2000,
        workerId: 'w1',
        text: 'With 2 CPU cores instead of 4 it fits now, on w1.',
      },
    ]);
  });

  test('less memory', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/a', 'w1', { memoryBytes: 60.5 * gib });
    world.submit('/ann/a', { memoryBytes: 8 * gib });
    expect(remedies(world, '/ann/a')).toEqual([
      {
        kind: 'less-memory',
        memoryBytes: 3 * gib,
        workerId: 'w1',
        text: 'With 3 GiB of memory instead of 8 GiB it fits now, on w1.',
      },
    ]);
  });

  test('fewer cards, another model, or the end of what holds them', () => {
    const world = new TestCluster([
      worker('w1', { gpus: cards(2) }),
      worker('w2', {
        gpus: [card(0, { variant: 'a100', uuid: 'A-0' }), card(1, { variant: 'a100', uuid: 'A-1' })],
      }),
    ]);
    world.run('/bob/a', 'w1', { devices: ['GPU-0'], startedAtMs: world.nowMs, limitMs: 90 * minute });
    world.submit('/ann/a', { gpuCount: 2, gpuVariant: 'h100' });
    const endMs = world.nowMs + 90 * minute;
    expect(remedies(world, '/ann/a')).toEqual([
      {
        kind: 'fewer-gpus',
        gpuCount: 1,
        gpuVariant: 'h100',
        workerId: 'w1',
        text: 'With 1 h100 GPU instead of 2 it fits now, on w1.',
      },
      {
        kind: 'other-gpu',
        gpuCount: 2,
        gpuVariant: 'a100',
        workerId: 'w2',
        text: 'With 2 a100 GPUs instead of h100 it fits now, on w2.',
      },
      {
        kind: 'wait-for',
        jobId: '/bob/a',
        endMs,
        workerId: 'w1',
        text: 'There is room on w1 when /bob/a ends, at 1970-01-12 15:16:40 UTC by its time limit.',
      },
    ]);
  });

  test('the earliest end that makes room, of all machines and limits', () => {
    const world = new TestCluster([worker('w1'), worker('w2'), worker('w3')]);
    const startedAtMs = world.nowMs;
    world.run('/bob/endless', 'w1', { cpu: 4 });
    world.run('/bob/a', 'w2', { cpu: 2, startedAtMs, limitMs: 10 * minute });
    world.run('/bob/b', 'w2', { cpu: 2, startedAtMs, limitMs: 30 * minute });
    world.run('/bob/c', 'w3', { cpu: 4, startedAtMs, limitMs: 40 * minute });
    world.submit('/ann/a', { cpu: 4 });
    expect(remedies(world, '/ann/a')).toMatchObject([
      { kind: 'wait-for', jobId: '/bob/b', endMs: startedAtMs + 30 * minute, workerId: 'w2' },
    ]);
  });

  test('cards that the nearest machine keeps from jobs, where they are all that is missing', () => {
    const gpus = [0, 1, 2].map((index) => card(index, index === 0 ? {} : { usable: false, kept: true }));
    const world = new TestCluster([worker('w1', { gpus })]);
    world.submit('/ann/two', { gpuCount: 2 });
    expect(remedies(world, '/ann/two').find(({ kind }) => kind === 'release-gpu')).toEqual({
      kind: 'release-gpu',
      gpuCount: 1,
      workerId: 'w1',
      text: 'It fits on w1 with 1 GPU released that it keeps from jobs; it tells of each why.',
    });
    world.submit('/ann/three', { gpuCount: 3 });
    expect(remedies(world, '/ann/three')).toContainEqual(
      expect.objectContaining({ kind: 'release-gpu', gpuCount: 2 }),
    );
    world.run('/bob/all', 'w1', { cpu: 4 });
    expect(remedies(world, '/ann/two').filter(({ kind }) => kind === 'release-gpu')).toEqual([]);
  });

  test('what never ends by a known time makes no promise', () => {
    const world = new TestCluster([worker('w1')]);
    world.run('/bob/endless', 'w1', { cpu: 4 });
    world.submit('/ann/a', { cpu: 4 });
    expect(remedies(world, '/ann/a')).toEqual([]);
  });

  test('without one of its constraints', () => {
    const world = new TestCluster([
      worker('w1', { attributes: { zone: 'a' } }),
      worker('w2', { attributes: { zone: 'b' } }),
    ]);
    world.run('/bob/a', 'w1', { cpu: 4 });
    world.submit('/ann/a', {
      constraints: [{ key: 'zone', op: 'EQ', values: ['a'], mode: 'REQUIRED' }],
    });
    expect(remedies(world, '/ann/a')).toEqual([
      {
        kind: 'drop-constraint',
        constraint: 'zone = "a"',
        workerId: 'w2',
        text: 'Without zone = "a" it fits now, on w2.',
      },
    ]);
  });

  test('fewer replicas of a gang', () => {
    const world = new TestCluster(['w1', 'w2'].map((id) => worker(id, { attributes: { rack: 'a' } })));
    world.run('/bob/a', 'w1', { cpu: 2 });
    world.submit('/ann/gang', { cpu: 2, tasks: 4, gangBy: 'rack' });
    expect(remedies(world, '/ann/gang')).toEqual([
      {
        kind: 'fewer-replicas',
        replicas: 3,
        group: 'a',
        text: 'With 3 replicas instead of 4 it fits now.',
      },
    ]);
  });

  test('a release, and a higher cap', () => {
    const world = new TestCluster([worker('w1')]);
    world.submit('/ann/held', { held: true });
    world.run('/ann/capped', 'w1', { uid: 'u', taskId: '/ann/capped/5' });
    world.submit('/ann/capped', { maxActive: 1 });
    expect(remedies(world, '/ann/held')).toEqual([
      { kind: 'release', text: 'It may start once it is released.' },
    ]);
    expect(remedies(world, '/ann/capped')).toEqual([
      {
        kind: 'raise-job-cap',
        most: 2,
        text: 'One more of its tasks may start if 2 may be active at the same time.',
      },
    ]);
  });
});

test('nothing on a machine that is kept for others: what is free there is not for everybody', () => {
  const world = new TestCluster([
    worker('w1', { cpuMillicores: 64_000, gpus: cards(8) }),
    worker('w2', { cpuMillicores: 64_000 }),
  ]);
  const runs = (name: string, at: number) =>
    world.run(`/bob/${name}`, 'w1', { cpu: 1, devices: [`GPU-${at}`], limitMs: 600 * minute });
  for (let at = 0; at < 6; at += 1) runs(`runs-${at}`, at);
  world.submit('/ann/four', { gpuCount: 4, waitingSinceMs: world.nowMs - 20 * minute });
  world.submit('/cid/three', { gpuCount: 3 });
  expect(world.decide().reservations).toMatchObject([{ jobId: '/ann/four', workerIds: ['w1'] }]);
  expect(remedies(world, '/cid/three')).toEqual([]);
  expect(remedies(world, '/ann/four').map(({ kind }) => kind)).toEqual(['fewer-gpus', 'wait-for']);
});
