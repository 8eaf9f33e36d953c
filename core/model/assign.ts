/** The applier: an assignment is checked against the current rows before it is written, so that nothing is booked twice. */
import { isTerminalJobState, type Band } from '../contract/states.js';
import { ok, refuse, type Result } from '../contract/errors.js';
import type { DemotionView } from '../contract/views.js';
import { holdsCapacity } from './capacity.js';
import type { Draft } from './draft.js';
import { controllerActor, type Attempt } from './entities.js';

/** A number of GPUs above this that no machine has may be a model (`4090`): then it means one card of that model. */
export const maxGpuCount = 16;

export interface Assignment {
  readonly taskId: string;
  readonly workerId: string;
  readonly backendId: string;
  /** 16 hex digits, given to no other. */
  readonly uid: string;
  /** UUIDs of the GPUs. */
  readonly devices: readonly string[];
  /** Effective band, stamped on the task. */
  readonly band: Band;
  readonly ports: Readonly<Record<string, number>>;
  readonly nowMs: number;
  /** Why that band is lower than the one asked for. */
  readonly demoted?: DemotionView | null;
  /** The job in whose reserved machines it is placed. */
  readonly evictableBy?: string | null;
  /** The worker as it is now, to check health and capacity against; null leaves these to the backend (Slurm, Kubernetes). */
  readonly worker: {
    readonly healthy: boolean;
    readonly cpuMillicores: number;
    readonly memoryBytes: number;
  } | null;
}

/** Tasks that share one card, however small they are and whatever was set of the machine. */
export const mostSharers = 16;

function shares(draft: Draft, uid: string): boolean {
  const attempt = draft.attempt(uid);
  const spec = attempt === undefined ? undefined : draft.job(attempt.jobId)?.spec;
  return (spec?.sharedGpuBytes ?? null) !== null;
}

/** Makes the next attempt of a PENDING task. FAILED_PRECONDITION when the world has moved on since the round was computed. */
export function assign(draft: Draft, assignment: Assignment): Result<Attempt> {
  const { taskId, workerId, uid, devices, nowMs, worker, demoted = null } = assignment;
  const moved = (message: string): Result<never> => refuse('FAILED_PRECONDITION', `${taskId}: ${message}`);
  const task = draft.task(taskId);
  const job = task === undefined ? undefined : draft.job(task.jobId);
  if (task === undefined || job === undefined) return refuse('NOT_FOUND', `There is no task ${taskId}.`);
  if (task.state !== 'PENDING' || isTerminalJobState(job.state))
    return moved(`is ${task.state}, not PENDING.`);
  if (draft.attempt(uid) !== undefined) return refuse('INTERNAL', `${taskId}: attempt uid ${uid} is taken.`);
  if (draft.attemptsOf(taskId).some(holdsCapacity)) return moved('an earlier attempt is not verified gone.');
  const { cpuMillicores, memoryBytes, gpuCount, gpuVariant } = job.spec;
  const used = draft.used(workerId);
  if (worker !== null) {
    if (!worker.healthy) return moved(`${workerId} is not healthy.`);
    if (used.cpuMillicores + cpuMillicores > worker.cpuMillicores)
      return moved(`${workerId} has not enough processors free.`);
    if (used.memoryBytes + memoryBytes > worker.memoryBytes)
      return moved(`${workerId} has not enough memory free.`);
    const isModel = gpuVariant === null && gpuCount > maxGpuCount && devices.length === 1;
    if (new Set(devices).size !== devices.length || (devices.length !== gpuCount && !isModel)) {
      return moved(`asks for ${gpuCount} GPUs, was given ${devices.length}.`);
    }
  }
  for (const device of devices) {
    const holders = used.devices.get(device) ?? [];
    if (holders.length >= mostSharers) return moved(`device ${device} is shared by ${holders.length} tasks.`);
    // Who shares takes only what others share.
    const alone =
      job.spec.sharedGpuBytes === null ? holders[0] : holders.find((each) => !shares(draft, each));
    if (alone !== undefined) return moved(`device ${device} is held by attempt ${alone}.`);
  }
  const attempt: Attempt = {
    uid,
    taskId,
    jobId: job.id,
    number: task.currentAttempt + 1,
    state: 'ASSIGNED',
    backendId: assignment.backendId,
    workerId,
    createdAtMs: nowMs,
    startedAtMs: null,
    finishedAtMs: null,
    durationMs: null,
    exitCode: null,
    signal: null,
    cause: null,
    warnings: [],
    devices: [...devices],
    cpuMillicores,
    memoryBytes,
    ports: assignment.ports,
    peakMemoryBytes: null,
    pid: null,
    checkpointAtMs: null,
    noticeAtMs: null,
    ...(demoted === null ? {} : { demoted }),
    evictableBy: assignment.evictableBy ?? null,
  };
  draft.putAttempt(attempt);
  draft.putTask({
    ...task,
    state: 'ASSIGNED',
    band: assignment.band,
    currentAttempt: attempt.number,
    waiting: null,
    claim: null,
  });
  draft.audit(nowMs, controllerActor, 'task_assigned', taskId, {
    attempt: uid,
    number: attempt.number,
    worker: workerId,
    ...(devices.length === 0 ? {} : { devices: attempt.devices }),
    ...(demoted === null ? {} : { band: assignment.band, spend: demoted.spend, limit: demoted.limit }),
  });
  return ok(attempt);
}
