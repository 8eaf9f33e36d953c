/** Made-up clusters for the scheduler's bench: the same for the same numbers, on every machine. */
import { bands } from '../../core/contract/states.js';
import type { SchedulingWorker } from '../../core/scheduling/free.js';
import type { Decision } from '../../core/scheduling/decision.js';
import type { HeldAttempt, QueuedJob } from '../../core/scheduling/inputs.js';
import { ourRules } from '../../core/scheduling/rules.js';
import { Scheduler } from '../../core/scheduling/scheduler.js';

export const nowMs = 1_700_000_000_000;
const gib = 2 ** 30;
const minuteMs = 60_000;

export interface Load {
  readonly workers: number;
  readonly running: number;
  readonly pending: number;
  readonly jobs: number;
  readonly users: number;
  readonly shapes: number;
}

export const standardLoad: Load = {
  workers: 1000,
  running: 5000,
  pending: 10_000,
  jobs: 2000,
  users: 50,
  shapes: 200,
};

/** Mulberry32: a small generator with a period that is long enough here. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const variants = ['h100', 'a100-80gb', 'rtx-4090'] as const;
const zones = ['a', 'b', 'c', 'd'] as const;

/** Three of four machines have eight cards; sixteen make a rack. */
export function machine(at: number): SchedulingWorker {
  const variant = variants[at % 3] ?? 'h100';
  const cards = at % 4 === 3 ? 0 : 8;
  return {
    id: `worker-${String(at).padStart(6, '0')}`,
    healthy: true,
    cpuMillicores: 64_000,
    memoryBytes: 512 * gib,
    gpuNote: null,
    gpus: Array.from({ length: cards }, (_, index) => ({
      uuid: `GPU-${at}-${index}`,
      index,
      variant,
      usable: true,
      busyByOthers: false,
      numaNode: index >> 2,
      linkGroup: 0,
    })),
    attributes: {
      'device-type': cards === 0 ? 'cpu' : 'gpu',
      zone: zones[at % 4] ?? 'a',
      rack: `rack-${at >> 4}`,
      cores: 64,
      ...(at % 2 === 0 ? { 'local-ssd': 'yes' } : {}),
    },
  };
}

interface Request {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly gpuCount: number;
  readonly gpuVariant: string | null;
  readonly constraints: QueuedJob['constraints'];
}

/** A quarter has constraints, hard or soft. */
function request(at: number): Request {
  const gpuCount = [0, 1, 1, 1, 2, 4, 8][at % 7] ?? 0;
  const constraints: QueuedJob['constraints'][] = [
    [{ key: 'zone', op: 'IN', values: [zones[at % 3] ?? 'a', 'd'], mode: 'REQUIRED' }],
    [{ key: 'local-ssd', op: 'EXISTS', values: [], mode: 'PREFERRED' }],
    [{ key: 'cores', op: 'GE', values: [32], mode: 'REQUIRED' }],
    [{ key: 'rack', op: 'NE', values: ['rack-0'], mode: 'REQUIRED' }],
  ];
  return {
    cpuMillicores: [1000, 2000, 4000, 8000, 16_000][at % 5] ?? 1000,
    memoryBytes: ([4, 8, 16, 32, 64][(at >> 2) % 5] ?? 4) * gib + (at >> 3),
    gpuCount,
    gpuVariant: gpuCount > 0 && at % 2 === 0 ? (variants[at % 3] ?? null) : null,
    constraints: at % 4 === 0 ? (constraints[(at >> 2) % 4] ?? []) : [],
  };
}

export function queuedJob(id: string, user: string, at: number, asked: Partial<QueuedJob>): QueuedJob {
  return {
    id,
    user,
    band: 'INTERACTIVE',
    depth: 1,
    rootSubmittedAtMs: nowMs - 30 * minuteMs + at,
    submittedAtMs: nowMs - 30 * minuteMs + at,
    rank: 0,
    cpuMillicores: 1000,
    memoryBytes: gib,
    gpuCount: 0,
    gpuVariant: null,
    constraints: [],
    gangBy: null,
    limitMs: null,
    startByMs: null,
    finishByMs: null,
    startNotBeforeMs: null,
    held: false,
    dependencies: [],
    maxActive: null,
    blocked: null,
    waitingSinceMs: nowMs - 30 * minuteMs + at,
    ...asked,
  };
}

/** Attempts on machines as long as there is room, so that the cluster is as full as its load says. */
export function fill(scheduler: Scheduler, load: Load, random: () => number): void {
  const { cluster } = scheduler;
  const free = cluster.table.workers.map((worker) => ({ worker, cpu: 64_000, cards: [...worker.gpus] }));
  let made = 0;
  for (let at = 0; made < load.running && at < load.running * 4; at += 1) {
    const place = free[Math.floor(random() * free.length)];
    if (place === undefined) break;
    const wanted = place.cards.length === 0 ? 0 : ([1, 1, 2, 4][Math.floor(random() * 4)] ?? 1);
    const cpu = ([2000, 4000, 8000][Math.floor(random() * 3)] ?? 2000) * Math.max(1, wanted / 2);
    if (place.cpu < cpu || place.cards.length < wanted) continue;
    place.cpu -= cpu;
    const attempt: HeldAttempt = {
      uid: `run-${made}`,
      taskId: `/user-${made % load.users}/running-${made}/0`,
      jobId: `/user-${made % load.users}/running-${made}`,
      user: `user-${made % load.users}`,
      workerId: place.worker.id,
      state: 'RUNNING',
      band: bands[made % 4] ?? 'BATCH',
      requestedBand: bands[made % 4] ?? 'BATCH',
      gang: false,
      cpuMillicores: cpu,
      memoryBytes: 16 * gib,
      devices: place.cards.splice(0, wanted).map((card) => card.uuid),
      startedAtMs: nowMs - Math.floor(random() * 240) * minuteMs,
      checkpointAtMs: null,
      limitMs: random() < 0.5 ? Math.floor(1 + random() * 24) * 60 * minuteMs : null,
      preemptions: Math.floor(random() * 3),
      leaving: 'no',
      evictableBy: null,
    };
    cluster.putAttempt(attempt);
    made += 1;
  }
}

/** Jobs of four bands; one in ten is a gang of 2 to 16. */
export function queueUp(scheduler: Scheduler, load: Load, random: () => number): void {
  const { cluster } = scheduler;
  let left = load.pending;
  for (let at = 0; at < load.jobs && left > 0; at += 1) {
    const user = `user-${at % load.users}`;
    const gang = at % 10 === 9;
    const even = Math.ceil(left / (load.jobs - at));
    const tasks = Math.min(left, gang ? 2 ** (1 + Math.floor(random() * 4)) : Math.ceil(even * 2 * random()));
    if (tasks === 0) continue;
    const id = `/${user}/job-${at}`;
    cluster.putJob(
      queuedJob(id, user, at, {
        ...request(Math.floor(random() * load.shapes)),
        band: bands[Math.floor(random() * 4)] ?? 'BATCH',
        gangBy: gang ? 'rack' : null,
        limitMs: random() < 0.5 ? Math.floor(1 + random() * 24) * 60 * minuteMs : null,
      }),
    );
    for (let index = 0; index < tasks; index += 1) cluster.addTask(id, index);
    left -= tasks;
  }
}

export function loadedScheduler(load: Load, seed: number): Scheduler {
  const random = randomFrom(seed);
  const scheduler = new Scheduler();
  scheduler.cluster.setWorkers(Array.from({ length: load.workers }, (_, at) => machine(at)));
  scheduler.cluster.setBudgets([], 20_000);
  fill(scheduler, load, random);
  queueUp(scheduler, load, random);
  return scheduler;
}

/** Carries a decision out at once: victims are gone, what was placed runs. */
export function carryOut(scheduler: Scheduler, decision: Decision, atMs: number): void {
  const { cluster } = scheduler;
  for (const { uid } of decision.evictions) cluster.removeAttempt(uid);
  for (const placed of decision.placed) {
    const job = cluster.queue.jobs.get(placed.jobId)?.job;
    if (job === undefined) continue;
    cluster.removeTask(placed.jobId, placed.index);
    cluster.putAttempt({
      uid: `${placed.taskId} ${atMs}`,
      taskId: placed.taskId,
      jobId: placed.jobId,
      user: job.user,
      workerId: placed.workerId,
      state: 'RUNNING',
      band: placed.band,
      requestedBand: job.band,
      gang: job.gangBy !== null,
      cpuMillicores: job.cpuMillicores,
      memoryBytes: job.memoryBytes,
      devices: placed.devices,
      startedAtMs: atMs,
      checkpointAtMs: null,
      limitMs: job.limitMs,
      preemptions: 0,
      leaving: 'no',
      evictableBy: null,
    });
    if (cluster.queue.jobs.get(placed.jobId)?.indexes.length === 0) cluster.removeJob(placed.jobId);
  }
  cluster.setReservations(decision.reservations);
}

/**
 * A cluster as it stands: what could be placed or evicted has been, and so many tasks still wait. A decision over it is what every
 * submission to a busy cluster costs.
 */
export function standingScheduler(load: Load, seed: number): Scheduler {
  const scheduler = loadedScheduler(load, seed);
  for (let round = 0; round < 20; round += 1) {
    const decision = scheduler.decide(nowMs, ourRules);
    if (decision.placed.length === 0) break;
    carryOut(scheduler, decision, nowMs);
  }
  return scheduler;
}

/** Every machine full of BATCH, and that many PRODUCTION gangs of two to eight whole machines' halves. */
export function storm(workers: number, gangs: number): Scheduler {
  const scheduler = new Scheduler();
  const { cluster } = scheduler;
  cluster.setWorkers(Array.from({ length: workers }, (_, at) => machine(at)));
  cluster.setBudgets([], 0);
  for (const [at, worker] of cluster.table.workers.entries()) {
    for (let part = 0; part < 4; part += 1) {
      const id = `/batch-${at % 20}/filler-${at}-${part}`;
      cluster.putAttempt({
        uid: `filler-${at}-${part}`,
        taskId: `${id}/0`,
        jobId: id,
        user: `batch-${at % 20}`,
        workerId: worker.id,
        state: 'RUNNING',
        band: 'BATCH',
        requestedBand: 'BATCH',
        gang: false,
        cpuMillicores: 16_000,
        memoryBytes: 128 * gib,
        devices: worker.gpus.slice(part * 2, part * 2 + 2).map((gpu) => gpu.uuid),
        startedAtMs: nowMs - ((at * 7 + part * 3) % 600) * minuteMs,
        checkpointAtMs: null,
        limitMs: null,
        preemptions: (at + part) % 2,
        leaving: 'no',
        evictableBy: null,
      });
    }
  }
  for (let at = 0; at < gangs; at += 1) {
    const id = `/user-${at % 25}/gang-${at}`;
    cluster.putJob(
      queuedJob(id, `user-${at % 25}`, at, {
        band: 'PRODUCTION',
        gangBy: 'rack',
        cpuMillicores: [8000, 16_000][at % 2] ?? 8000,
        memoryBytes: 32 * gib,
        gpuCount: [1, 2, 4][at % 3] ?? 1,
      }),
    );
    for (let index = 0; index < 2 ** (1 + (at % 2)); index += 1) cluster.addTask(id, index);
  }
  return scheduler;
}
