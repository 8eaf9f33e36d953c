import { describe, expect, test } from 'vitest';
import type { SchedulingGpu, SchedulingWorker } from './free.js';
import { look as round, Rows, rowsOf as jobs, type Looked } from './test-rows.js';

const gib = 2 ** 30;

function card(index: number, more: Partial<SchedulingGpu> = {}): SchedulingGpu {
  return { uuid: `GPU-${index}`, index, variant: 'rtx-4090', usable: true, busyByOthers: false, ...more };
}

function worker(more: Partial<SchedulingWorker> = {}): SchedulingWorker {
  return {
    id: 'w1',
    healthy: true,
    cpuMillicores: 4000,
    memoryBytes: 16 * gib,
    gpus: [],
    gpuNote: null,
    attributes: {},
    ...more,
  };
}

const placed = (result: Looked) => result.assignments.map(({ taskId, workerId }) => `${taskId} ${workerId}`);
const reasons = (result: Looked): (readonly [string | undefined, string | undefined])[] =>
  result.waiting.map(({ cause }) => [cause?.code, cause?.message]);

describe('order', () => {
  test('better bands first, whatever their age; then age', () => {
    const world = jobs({}, {}, { priority: 'batch' }, { priority: 'production' }, { priority: 'system' });
    const result = round(world, [worker()]);
    expect(result.assignments.map(({ jobId }) => jobId)).toEqual([
      '/ann/e',
      '/ann/d',
      '/ann/a',
      '/ann/b',
      '/ann/c',
    ]);
  });

  test('a child before its parent, an older tree before a newer one', () => {
    const world = jobs({}, {});
    world.submit({ name: 'child', parent: '/ann/b' });
    const order = round(world, [worker()]).assignments.map(({ jobId }) => jobId);
    expect(order).toEqual(['/ann/b/child', '/ann/a', '/ann/b']);
  });

  test('replicas in index order, also after one came back', () => {
    const world = jobs({ replicas: 3, maxRetries: 1 });
    const uids = [0, 1, 2].map((index) => world.run(`/ann/a/${index}`));
    world.observe(uids[2] ?? '', 'FAILED', { exitCode: 1 });
    world.observe(uids[0] ?? '', 'FAILED', { exitCode: 1 });
    expect(placed(round(world, [worker()]))).toEqual(['/ann/a/0 w1', '/ann/a/2 w1']);
  });

  test('the order holds across shapes', () => {
    const world = jobs({ cpu: 1 }, { cpu: 0.5 }, { cpu: 1, priority: 'production' }, { cpu: 0.5 });
    const order = round(world, [worker()]).assignments.map(({ jobId }) => jobId);
    expect(order).toEqual(['/ann/c', '/ann/a', '/ann/b', '/ann/d']);
  });
});

describe('first fit', () => {
  test('4-CPU worker; jobs of 8 and 2 CPUs: only the 2', () => {
    expect(placed(round(jobs({ cpu: 8 }, { cpu: 2 }), [worker()]))).toEqual(['/ann/b/0 w1']);
  });

  test('4-CPU worker; three 2-CPU jobs: two placed, one waits', () => {
    const result = round(jobs({ cpu: 2 }, { cpu: 2 }, { cpu: 2 }), [worker()]);
    expect(placed(result)).toEqual(['/ann/a/0 w1', '/ann/b/0 w1']);
    expect(result.waiting).toMatchObject([{ taskId: '/ann/c/0', cause: { code: 'WAITS_FOR_CAPACITY' } }]);
  });

  test('3 of 4 CPUs running; 2-CPU job: none', () => {
    const world = jobs({ cpu: 3 }, { cpu: 2 });
    world.run('/ann/a/0');
    const result = round(world, [worker()]);
    expect(placed(result)).toEqual([]);
    expect(reasons(result)).toEqual([['WAITS_FOR_CAPACITY', 'Waits for 2 CPU cores (1 of 4 free).']]);
  });

  test('what a stopped attempt still holds is not free until it is verified gone', () => {
    const world = jobs({ cpu: 3 }, { cpu: 2 });
    const uid = world.run('/ann/a/0');
    world.cancel('/ann/a');
    expect(placed(round(world, [worker()]))).toEqual([]);
    world.observe(uid, 'KILLED');
    expect(placed(round(world, [worker()]))).toEqual(['/ann/b/0 w1']);
  });

  test('two workers, one unhealthy: the healthy one', () => {
    const workers = [worker({ id: 'a', healthy: false }), worker({ id: 'b' })];
    expect(placed(round(jobs({}), workers))).toEqual(['/ann/a/0 b']);
  });

  test('workers by id, whatever the order given', () => {
    const workers = [worker({ id: 'w2' }), worker({ id: 'w1' })];
    expect(placed(round(jobs({ cpu: 3, replicas: 2 }), workers))).toEqual(['/ann/a/0 w1', '/ann/a/1 w2']);
  });

  test('a big job that waits does not hold up a small one behind it', () => {
    expect(placed(round(jobs({ cpu: 4.5 }, { cpu: 1 }), [worker()]))).toEqual(['/ann/b/0 w1']);
  });

  test('memory counts, asked for or not', () => {
    const world = jobs({ memory: '15GiB' }, {}, {});
    const result = round(world, [worker()]);
    expect(placed(result)).toEqual(['/ann/a/0 w1', '/ann/b/0 w1']);
    expect(result.waiting[0]?.cause?.message).toBe('Waits for 954 MiB of memory (70.3 MiB of 16 GiB free).');
  });

  test('a machine that shrank below what is used has nothing free', () => {
    const world = jobs({ cpu: 4 }, { cpu: 1 });
    world.run('/ann/a/0');
    const result = round(world, [worker({ cpuMillicores: 2000 })]);
    expect(reasons(result)).toEqual([['WAITS_FOR_CAPACITY', 'Waits for 1 CPU core (0 of 2 free).']]);
  });

  test('a round stops at its cap and says that there is more', () => {
    const world = jobs({ replicas: 5, cpu: 0.1 });
    const result = round(world, [worker()], 3);
    expect(result.assignments.length).toBe(3);
    expect(result.decision.more).toBe(true);
    const rest = round(world, [worker()], 5);
    expect([rest.assignments.length, rest.decision.more]).toEqual([2, false]);
  });
});

describe('GPUs', () => {
  const gpus = [card(2), card(0), card(1), card(3, { variant: 'h100' })];

  test('chosen by UUID, lowest index free first', () => {
    const result = round(jobs({ gpu: 2 }, { gpu: 1 }), [worker({ gpus })]);
    expect(result.assignments.map(({ devices }) => devices)).toEqual([['GPU-0', 'GPU-1'], ['GPU-2']]);
  });

  test('a model asked for by a short form', () => {
    const result = round(jobs({ gpu: 'H100' }, { gpu: '4090x2' }), [worker({ gpus })]);
    expect(result.assignments.map(({ devices }) => devices)).toEqual([['GPU-3'], ['GPU-0', 'GPU-1']]);
  });

  test('a number above 16 is tried as a model first', () => {
    const result = round(jobs({ gpu: '4090' }), [worker({ gpus })]);
    expect(result.assignments.map(({ devices }) => devices)).toEqual([['GPU-0']]);
  });

  test('held by a live attempt, busy by others, or not answering: not given', () => {
    const world = jobs({ gpu: 1 }, { gpu: 1 });
    world.tryAssign('/ann/a/0', 'w1', { devices: ['GPU-0'] });
    const result = round(world, [
      worker({ gpus: [card(0), card(1, { busyByOthers: true }), card(2, { usable: false })] }),
    ]);
    expect(result.assignments).toEqual([]);
    expect(reasons(result)).toEqual([
      ['WAITS_FOR_CAPACITY', 'Waits for 1 GPU (0 of 3 free, 1 used by others, 1 not answering).'],
    ]);
  });

  test('a device is given once in a round', () => {
    const result = round(jobs({ gpu: 1, replicas: 6 }), [worker({ gpus })]);
    const devices = result.assignments.flatMap((assignment) => assignment.devices);
    expect(devices).toEqual(['GPU-0', 'GPU-1', 'GPU-2', 'GPU-3']);
  });
});

describe('reasons', () => {
  test('more than any machine has', () => {
    expect(reasons(round(jobs({ cpu: 999 }), [worker({ cpuMillicores: 2000 })]))).toEqual([
      ['WAITS_NO_WORKER_FITS', 'Asked for 999 CPU cores; the largest machine has 2.'],
    ]);
    expect(reasons(round(jobs({ memory: '1TiB' }), [worker()]))).toEqual([
      ['WAITS_NO_WORKER_FITS', 'Asked for 1 TiB of memory; the largest machine has 16 GiB.'],
    ]);
  });

  test('a GPU model there is not, with those there are', () => {
    expect(
      reasons(round(jobs({ gpu: 'A100x2' }), [worker({ gpus: [card(0), card(1, { variant: 'h100' })] })])),
    ).toEqual([['WAITS_NO_WORKER_FITS', 'Asked for 2 a100 GPUs; what there is: 1 h100, 1 rtx-4090.']]);
    expect(reasons(round(jobs({ gpu: 1 }), [worker({ gpuNote: 'nvidia-smi was not found' })]))).toEqual([
      ['WAITS_NO_WORKER_FITS', 'Asked for 1 GPU; what there is: no GPU: nvidia-smi was not found.'],
    ]);
  });

  test('each thing somewhere, never together', () => {
    const workers = [worker({ id: 'a', cpuMillicores: 16_000 }), worker({ id: 'b', gpus: [card(0)] })];
    const [reason] = reasons(round(jobs({ cpu: 8, gpu: 1 }), workers));
    expect(reason?.[0]).toBe('WAITS_NO_WORKER_FITS');
    expect(reason?.[1]).toContain(
      'a has 16 CPU cores, 16 GiB, no GPU; b has 4 CPU cores, 16 GiB, 1 rtx-4090',
    );
  });

  test('no machine, or none healthy', () => {
    expect(reasons(round(jobs({}), []))).toEqual([
      ['WAITS_BACKEND_NOT_READY', 'No machine has reported yet.'],
    ]);
    expect(reasons(round(jobs({}), [worker({ healthy: false })]))).toEqual([
      ['WAITS_BACKEND_NOT_READY', 'No machine is ready: w1 not healthy.'],
    ]);
  });

  test('the only machine that could hold it is not healthy', () => {
    const workers = [worker({ id: 'big', cpuMillicores: 64_000, healthy: false }), worker()];
    expect(reasons(round(jobs({ cpu: 32 }), workers))).toEqual([
      ['WAITS_FOR_CAPACITY', 'Waits for a machine that could run it to become healthy.'],
    ]);
  });

  test('several things at once, on the machine that lacks least', () => {
    const world = jobs({ cpu: 4, memory: '12GiB' }, { cpu: 3 }, { cpu: 2, memory: '8GiB' });
    world.run('/ann/a/0', 'w1');
    world.run('/ann/b/0', 'w2');
    expect(reasons(round(world, [worker(), worker({ id: 'w2' })]))).toEqual([
      ['WAITS_FOR_CAPACITY', 'Waits for 2 CPU cores (1 of 4 free), on w2.'],
    ]);
  });

  test('a predecessor that still lives', () => {
    const world = jobs({});
    world.run('/ann/a/0');
    world.submit({ name: 'a', existingJobPolicy: 'RECREATE' });
    const result = round(world, [worker()]);
    expect(result.assignments).toEqual([]);
    expect(world.causes.of('/ann/a-s2/0')?.code).toBe('WAITS_FOR_PREDECESSOR');
  });

  test('tells what changed of those ahead, and forgets them when nothing waits', () => {
    const world = jobs({ cpu: 8, replicas: 2 }, { cpu: 1 });
    const workers = [worker()];
    expect(world.causes.of('/ann/a/1')).toBeNull();
    round(world, workers);
    expect(world.causes.changed()).toEqual(['/ann/a']);
    expect(world.causes.of('/ann/a/1')?.message).toBe('Asked for 8 CPU cores; the largest machine has 4.');
    round(world, workers);
    expect(world.causes.changed()).toEqual([]);
    round(world, [worker({ cpuMillicores: 32_000 })]);
    expect(world.causes.changed()).toEqual([]);
    expect(world.causes.of('/ann/a/1')).toBeNull();
  });
});

describe('constraints', () => {
  const here = worker({ id: 'here', attributes: { region: 'eu', rank: 5 } });
  const there = worker({ id: 'there', attributes: { region: 'us' } });
  const region = (value: string, mode: 'REQUIRED' | 'PREFERRED' = 'REQUIRED') => ({
    constraints: [{ key: 'region', op: 'EQ' as const, values: [value], mode }],
  });

  test('required ones filter', () => {
    expect(placed(round(jobs(region('US')), [here, there]))).toEqual(['/ann/a/0 there']);
  });

  test('preferred ones only rank', () => {
    expect(placed(round(jobs(region('us', 'PREFERRED')), [here, there]))).toEqual(['/ann/a/0 there']);
    expect(placed(round(jobs(region('asia', 'PREFERRED')), [here, there]))).toEqual(['/ann/a/0 here']);
  });

  test('unmet: the constraint and what there is', () => {
    expect(reasons(round(jobs(region('asia')), [here, there]))).toEqual([
      ['WAITS_FOR_CONSTRAINT', 'Asked for region = "asia"; region is eu, us.'],
    ]);
    const zone = { constraints: [{ key: 'zone', op: 'EXISTS' as const }] };
    expect(reasons(round(jobs(zone), [here, there]))).toEqual([
      ['WAITS_FOR_CONSTRAINT', 'Asked for attribute zone; no machine says anything of zone.'],
    ]);
  });
});

describe('gangs', () => {
  const racks = [
    worker({ id: 'a1', attributes: { rack: 'a' } }),
    worker({ id: 'b1', attributes: { rack: 'b' } }),
    worker({ id: 'b2', attributes: { rack: 'B ' } }),
  ];

  test('all in one group', () => {
    expect(placed(round(jobs({ cpu: 3, replicas: 2, gangBy: 'rack' }), racks))).toEqual([
      '/ann/a/0 b1',
      '/ann/a/1 b2',
    ]);
  });

  test('all or none', () => {
    const world = jobs({ cpu: 3, replicas: 3, gangBy: 'rack' }, { cpu: 3 });
    const result = round(world, racks);
    expect(placed(result)).toEqual(['/ann/b/0 a1']);
    expect(reasons(result)).toEqual([
      [
        'WAITS_NO_WORKER_FITS',
        'Asked for 3 tasks at once, each with 3 CPU cores, 954 MiB; the largest group of machines holds 2.',
      ],
    ]);
  });

  test('waits while another holds the room', () => {
    const world = jobs({ cpu: 2 }, { cpu: 3, replicas: 2, gangBy: 'rack' });
    world.run('/ann/a/0', 'b2');
    expect(reasons(round(world, racks))[0]?.[0]).toBe('WAITS_FOR_CAPACITY');
  });

  test('members may share one machine, and `worker` groups by machine', () => {
    expect(placed(round(jobs({ cpu: 2, replicas: 2, gangBy: 'worker' }), racks))).toEqual([
      '/ann/a/0 a1',
      '/ann/a/1 a1',
    ]);
  });

  test('an attribute no machine has', () => {
    expect(reasons(round(jobs({ replicas: 2, gangBy: 'pod' }), racks))).toEqual([
      ['WAITS_FOR_CONSTRAINT', 'Asked for a gang grouped by pod; no machine has that attribute.'],
    ]);
  });

  test('what a gang took is not free for the next', () => {
    const world = jobs({ cpu: 2, replicas: 2, gangBy: 'worker' }, { cpu: 2, replicas: 2, gangBy: 'worker' });
    expect(placed(round(world, racks))).toEqual(['/ann/a/0 a1', '/ann/a/1 a1', '/ann/b/0 b1', '/ann/b/1 b1']);
  });
});

describe('cost', () => {
  test('10,000 waiting tasks of one shape on a full machine: one fit check', () => {
    const world = new Rows();
    world.submit({ name: 'big', cpu: 4 });
    world.run('/ann/big/0');
    for (let at = 0; at < 100; at += 1) world.submit({ name: `j${at}`, replicas: 100 });
    expect(world.scheduler.cluster.queue.tasks).toBe(10_000);
    const result = round(world, [worker()]);
    expect(result.decision.fitChecks).toBe(1);
    expect(result.waiting.length).toBe(100);
  });

  test('10,000 waiting tasks, room for some: one check each and one that fails', () => {
    const world = new Rows();
    world.submit({ name: 'many', replicas: 10_000, cpu: 0.1 });
    const result = round(world, [worker()]);
    expect(result.assignments.length).toBe(17);
    expect(result.decision.fitChecks).toBe(18);
  });

  test('what no machine could ever hold costs no check', () => {
    const world = new Rows();
    for (let at = 1; at <= 200; at += 1) world.submit({ name: `j${at}`, cpu: 4 + at });
    expect(round(world, [worker()]).decision.fitChecks).toBe(0);
  });
});

test('the plan is accepted by the applier, as a whole', () => {
  const world = jobs({ cpu: 1, gpu: 1, replicas: 3 }, { cpu: 1 }, { cpu: 1 });
  round(world, [worker({ gpus: [card(0), card(1)] })]);
  expect(world.moved).toEqual([]);
  expect(world.state.used('w1')).toMatchObject({ cpuMillicores: 4000, attempts: 4 });
  expect(world.violations()).toEqual([]);
});
