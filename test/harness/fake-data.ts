/** Jobs, tasks, attempts and a machine that look like a lab's, from a seed: the same every time. */
import { parseJobRequest, type JobRequest, type JobSpec } from '../../core/contract/job-request.js';
import { isTerminalJobState, type JobState, type TaskState } from '../../core/contract/states.js';
import { plainGpu } from '../../core/contract/gpus.js';
import { localMachine, type MachineView } from '../../core/contract/machines.js';
import type { Cause, JobSummary, TaskView } from '../../core/contract/views.js';

/** mulberry32: small, seeded, good enough for looks. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = state;
    value = Math.imul(value ^ (value >>> 15), value | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const fakeUser = 'anna';

const templates = [
  { name: 'train-llm', command: 'python train.py --config configs/llm-1b.yaml --seed 3', gpus: 4, tasks: 1 },
  { name: 'eval-mmlu', command: 'python -m lm_eval --tasks mmlu --model runs/llm-1b', gpus: 1, tasks: 1 },
  { name: 'lr-sweep', command: 'python sweep.py --grid lr=1e-4,3e-4,1e-3', gpus: 1, tasks: 20 },
  { name: 'tokenize-pile', command: './tokenize.sh --shards 64 /data/pile', gpus: 0, tasks: 8 },
  {
    name: 'preprocess',
    command: 'python preprocess.py --input /data/raw --output /data/clean',
    gpus: 0,
    tasks: 1,
  },
  { name: 'finetune-lora', command: 'accelerate launch finetune.py --lora-rank 16', gpus: 2, tasks: 1 },
  { name: 'plot-figures', command: 'Rscript figures.R', gpus: 0, tasks: 1 },
  { name: 'simulate', command: './build/simulate --steps 1000000 --dt 1e-4', gpus: 0, tasks: 4 },
] as const;

export const fakeCauses = {
  exit: { code: 'EXIT_CODE', message: 'The command ended with exit code 1.' },
  memory: {
    code: 'MEMORY_LIMIT',
    message: 'It used 8.1 GiB of memory; its limit is 8 GiB. Ask for more memory and run it again.',
  },
  missing: {
    code: 'PROGRAM_NOT_FOUND',
    message: 'No program named accelerate on this machine (PATH of your login shell).',
  },
  stopped: { code: 'STOPPED_BY_USER', message: 'Stopped by anna.' },
  lost: { code: 'WORKER_LOST', message: 'ws-2 did not answer for 10 minutes.' },
  never: { code: 'WAITS_NO_WORKER_FITS', message: 'Needs 16 GPUs; the largest machine has 4.' },
  capacity: { code: 'WAITS_FOR_CAPACITY', message: 'Needs 1 GPU: 3 jobs ahead, all 4 in use.' },
} as const satisfies Record<string, Cause>;

export function fakeSummary(part: Partial<JobSummary> & { readonly id: string }): JobSummary {
  const parts = part.id.split('/').filter((item) => item !== '');
  const state = part.state ?? 'RUNNING';
  const numTasks = part.numTasks ?? 1;
  const submittedAtMs = part.submittedAtMs ?? 1_790_000_000_000;
  const startedAtMs = part.startedAtMs ?? (state === 'PENDING' ? null : submittedAtMs + 4000);
  return {
    name: parts.at(-1) ?? part.id,
    user: parts[0] ?? fakeUser,
    parentId: parts.length > 2 ? `/${parts.slice(0, -1).join('/')}` : null,
    rootId: `/${parts.slice(0, 2).join('/')}`,
    depth: parts.length - 1,
    state,
    band: 'INTERACTIVE',
    submittedAtMs,
    startedAtMs,
    finishedAtMs: isTerminalJobState(state) ? (startedAtMs ?? submittedAtMs) + 60_000 : null,
    numTasks,
    taskCounts: { [taskStateOf(state)]: numTasks },
    childCount: 0,
    failureCount: 0,
    preemptionCount: 0,
    gpuCount: 0,
    exitCode: state === 'SUCCEEDED' ? 0 : state === 'FAILED' ? 1 : null,
    cause: state === 'FAILED' ? fakeCauses.exit : state === 'KILLED' ? fakeCauses.stopped : null,
    waiting: state === 'PENDING' ? fakeCauses.capacity : null,
    workers: state === 'PENDING' ? [] : ['ws-1'],
    commandLine: 'python train.py',
    retryOf: null,
    held: false,
    ...part,
  };
}

export function taskStateOf(state: JobState): TaskState {
  return state;
}

/** `count` root jobs, newest first in time, the first dozen showing every state and a tree. */
export function fakeJobs(count: number, nowMs: number, seed = 1): JobSummary[] {
  const random = seededRandom(seed);
  const rows: JobSummary[] = [];
  let atMs = nowMs - 90_000;
  const showcase: readonly JobState[] = [
    'PENDING',
    'RUNNING',
    'RUNNING',
    'PENDING',
    'FAILED',
    'SUCCEEDED',
    'KILLED',
    'WORKER_FAILED',
    'UNSCHEDULABLE',
    'SUCCEEDED',
    'FAILED',
    'SUCCEEDED',
  ];
  for (let index = 0; index < count; index += 1) {
    const template = templates[index < 8 ? index : Math.floor(random() * templates.length)] ?? templates[0];
    const drawn = random();
    const state = showcase[index] ?? (drawn < 0.78 ? 'SUCCEEDED' : drawn < 0.93 ? 'FAILED' : 'KILLED');
    const submittedAtMs = Math.round(atMs);
    atMs -= 30_000 + random() * (index < 12 ? 3_600_000 : 600_000);
    const startedAtMs =
      state === 'PENDING' || state === 'UNSCHEDULABLE' ? null : submittedAtMs + Math.round(random() * 60_000);
    const runMs = Math.round(2000 + random() ** 3 * 14_400_000);
    const finishedAtMs = isTerminalJobState(state)
      ? Math.min(nowMs - 1000, (startedAtMs ?? submittedAtMs) + runMs)
      : null;
    const suffix =
      index < 8
        ? ''
        : `-${Math.floor(random() * 65_536)
            .toString(16)
            .padStart(4, '0')}`;
    const tasks = template.tasks;
    const failing = state === 'FAILED' ? Math.max(1, Math.floor(tasks / 8)) : 0;
    const counts =
      state === 'RUNNING' && tasks > 1
        ? {
            SUCCEEDED: Math.floor(tasks * 0.6),
            RUNNING: 4,
            FAILED: 1,
            PENDING: tasks - Math.floor(tasks * 0.6) - 5,
          }
        : state === 'FAILED' && tasks > 1
          ? { FAILED: failing, KILLED: 1, SUCCEEDED: tasks - failing - 1 }
          : { [taskStateOf(state)]: tasks };
    const cause =
      state === 'FAILED'
        ? ([fakeCauses.memory, fakeCauses.exit, fakeCauses.missing][index % 3] ?? fakeCauses.exit)
        : state === 'KILLED'
          ? fakeCauses.stopped
          : state === 'WORKER_FAILED'
            ? fakeCauses.lost
            : state === 'UNSCHEDULABLE'
              ? fakeCauses.never
              : null;
    rows.push(
      fakeSummary({
        id: `/${fakeUser}/${template.name}${suffix}`,
        state,
        submittedAtMs,
        startedAtMs,
        finishedAtMs,
        numTasks: tasks,
        taskCounts: counts,
        failureCount: failing,
        gpuCount: template.gpus * tasks,
        cause,
        exitCode: state === 'SUCCEEDED' ? 0 : cause?.code === 'EXIT_CODE' ? 1 : null,
        workers: startedAtMs === null ? [] : tasks > 4 ? ['ws-1', 'ws-2'] : ['ws-1'],
        commandLine: template.command,
        childCount: index === 2 ? 3 : index === 5 ? 1 : 0,
        band: index === 3 ? 'BATCH' : 'INTERACTIVE',
      }),
    );
  }
  return rows;
}

/** Children of the jobs that say they have some. */
export function fakeChildren(parents: readonly JobSummary[]): JobSummary[] {
  return parents.flatMap((parent) =>
    Array.from({ length: parent.childCount }, (_item, index) =>
      fakeSummary({
        id: `${parent.id}/${index === 0 ? 'prepare' : `fold-${index}`}`,
        state: isTerminalJobState(parent.state) || index === 0 ? 'SUCCEEDED' : 'RUNNING',
        submittedAtMs: parent.submittedAtMs + 10_000 + index * 1000,
        commandLine: `${parent.commandLine} --fold ${index}`,
        gpuCount: 1,
      }),
    ),
  );
}

export function fakeSpec(row: JobSummary): JobSpec {
  const request: JobRequest = {
    name: row.name,
    command: row.commandLine.split(' '),
    workingDirectory: '/home/anna/work',
    environment: { WANDB_MODE: 'offline' },
    cpu: 4,
    memory: '8GiB',
    replicas: row.numTasks,
    maxRetries: 1,
    ...(row.gpuCount > 0 ? { gpu: Math.max(1, Math.round(row.gpuCount / row.numTasks)) } : {}),
  };
  const spec = parseJobRequest(request);
  if (!spec.ok) throw new Error(spec.refusal.message);
  return spec.value;
}

/** Uid of the last attempt of a task, 16 hex digits made from its id. */
export function fakeAttemptUid(taskId: string, number: number): string {
  let hash = 0xcbf29ce484222325n;
  for (const character of `${taskId}:${number}`) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(character.charCodeAt(0))) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, '0');
}

export function fakeTasks(row: JobSummary): TaskView[] {
  const states: TaskState[] = [];
  for (const [state, count] of Object.entries(row.taskCounts)) {
    for (let index = 0; index < count; index += 1) states.push(state as TaskState);
  }
  return states.slice(0, row.numTasks).map((state, index): TaskView => {
    const id = `${row.id}/${index}`;
    const waits = state === 'PENDING' || state === 'UNSCHEDULABLE';
    const ended = !waits && !['ASSIGNED', 'BUILDING', 'RUNNING'].includes(state);
    const startedAtMs = waits ? null : (row.startedAtMs ?? row.submittedAtMs) + index * 500;
    const finishedAtMs = ended ? (row.finishedAtMs ?? (startedAtMs ?? row.submittedAtMs) + 55_000) : null;
    const failed = state === 'FAILED';
    const cause = failed ? (row.cause ?? fakeCauses.exit) : state === 'KILLED' ? fakeCauses.stopped : null;
    const exitCode = state === 'SUCCEEDED' ? 0 : failed && cause?.code === 'EXIT_CODE' ? 1 : null;
    return {
      id,
      index,
      state,
      band: row.band,
      submittedAtMs: row.submittedAtMs,
      startedAtMs,
      finishedAtMs,
      exitCode,
      cause,
      waiting: state === 'PENDING' ? fakeCauses.capacity : null,
      failureCount: failed ? 1 : 0,
      preemptionCount: 0,
      attempts: waits
        ? []
        : (failed ? [0, 1] : [0]).map((number, _position, all) => ({
            uid: fakeAttemptUid(id, number),
            taskId: id,
            number,
            state,
            workerId: 'ws-1',
            createdAtMs: row.submittedAtMs,
            startedAtMs,
            finishedAtMs,
            durationMs:
              finishedAtMs === null || startedAtMs === null
                ? null
                : (finishedAtMs - startedAtMs) / all.length,
            exitCode,
            signal: state === 'KILLED' ? 'SIGTERM' : null,
            cause,
            warnings: [],
            devices: row.gpuCount > 0 ? ['GPU-6a1f2c33-0000-4000-8000-000000000001'] : [],
            peakMemoryBytes: 1_932_735_283,
            pid: ended ? null : 4211 + index,
            checkpointAtMs: null,
            noticeAtMs: null,
          })),
    };
  });
}

export function fakeMachine(nowMs: number, part: Partial<MachineView> = {}): MachineView {
  const gib = 1024 ** 3;
  return {
    ...localMachine,
    taints: [],
    id: 'ws-1',
    hostname: 'ws-1',
    state: 'HEALTHY',
    platform: 'Linux 6.8, x86-64',
    cpuModel: 'AMD Ryzen Threadripper PRO 5955WX 16-Cores',
    cpuCount: 32,
    cpuMillicoresTotal: 32_000,
    cpuMillicoresFree: 19_500,
    cpuBusyPercent: 34,
    memoryTotalBytes: 256 * gib,
    memoryAvailableBytes: 171 * gib,
    memoryFreeForJobsBytes: 160 * gib,
    disks: [
      { mountPoint: '/', purpose: 'system and logs', totalBytes: 930 * gib, freeBytes: 412 * gib },
      { mountPoint: '/data', purpose: 'working folders', totalBytes: 7300 * gib, freeBytes: 310 * gib },
    ],
    gpus: [0, 1, 2, 3].map((index) => ({
      ...plainGpu,
      processes: [],
      claimedBy: [],
      uuid: `GPU-6a1f2c33-0000-4000-8000-00000000000${index}`,
      index,
      name: 'NVIDIA GeForce RTX 4090',
      variant: 'rtx-4090',
      utilizationPercent: [97, 62, 0, 41][index] ?? 0,
      memoryUsedBytes: ([21, 14, 0, 6][index] ?? 0) * gib,
      memoryTotalBytes: 24 * gib,
      temperatureCelsius: [71, 64, 36, 52][index] ?? 40,
      powerWatts: [388, 266, 22, 140][index] ?? 20,
      heldBy: index < 2 ? fakeAttemptUid(`/${fakeUser}/eval-mmlu/0`, 0) : null,
      busyByOthers: index === 3,
      state: (['HELD', 'HELD', 'FREE', 'BUSY'] as const)[index] ?? 'FREE',
      stateReason: index === 3 ? 'bert computes on it: python3 (pid 812), 6 GiB.' : null,
    })),
    gpuNote: null,
    attributes: { 'device-type': 'gpu', preemptible: 'false' },
    runningTasks: 6,
    sampledAtMs: nowMs,
    ...part,
  };
}
