/** The scheduler bench's standing load as rows of the database, and its machines as a backend sees them. */
import { noQuota } from '../../core/contract/budgets.js';
import { plainGpu } from '../../core/contract/gpus.js';
import type { JobRequest, JobSpec } from '../../core/contract/job-request.js';
import { Draft, ModelState } from '../../core/model/draft.js';
import type { ChangeSet, UserBudget } from '../../core/model/entities.js';
import { taskIdOf } from '../../core/model/names.js';
import { report, specOf } from '../../core/model/test-world.js';
import { assign, observe, settle, submit } from '../../core/model/transitions.js';
import type { HeldAttempt, QueuedJob } from '../../core/scheduling/inputs.js';
import type { WorkerObservation } from '../../main/backends/backend.js';
import { fakeWorker } from '../harness/fake-backend.js';
import { machine, standardLoad, standingScheduler, type Load } from './scheduler-load.js';

const minuteMs = 60_000;

export function observedMachines(): WorkerObservation[] {
  return Array.from({ length: standardLoad.workers }, (_, at) => {
    const { id, cpuMillicores, memoryBytes, gpus, attributes } = machine(at);
    return {
      ...fakeWorker,
      id,
      hostname: id,
      cpuMillicores,
      memoryBytes,
      gpuNote: null,
      gpus: gpus.map(({ uuid, index, variant }) => ({
        ...plainGpu,
        processes: [],
        claimedBy: [],
        uuid,
        index,
        name: variant,
        variant,
        utilizationPercent: 50,
        memoryUsedBytes: 0,
        memoryTotalBytes: 8e10,
        temperatureCelsius: 50,
        powerWatts: 100,
      })),
      attributes,
      memoryAvailableBytes: memoryBytes,
    };
  });
}

interface LoadedJob {
  readonly user: string;
  readonly queued: QueuedJob | null;
  readonly held: HeldAttempt[];
}

/** One transaction that makes an empty database the standing one: submitted, assigned and running by the model's own rules. */
export function standingRows(nowMs: number, backendId: string): ChangeSet {
  // Half as many more than shall wait: some find a place.
  const load: Load = { ...standardLoad, pending: standardLoad.pending * 1.5, jobs: standardLoad.jobs * 1.5 };
  const { queue, holdings } = standingScheduler(load, 1).cluster;
  const jobs = new Map<string, LoadedJob>();
  for (const { job } of queue.jobs.values()) jobs.set(job.id, { user: job.user, queued: job, held: [] });
  for (const { attempt } of holdings.held.values()) {
    const known = jobs.get(attempt.jobId);
    if (known === undefined) jobs.set(attempt.jobId, { user: attempt.user, queued: null, held: [attempt] });
    else known.held.push(attempt);
  }
  const state = new ModelState();
  state.apply({ ...new Draft(state).changeSet(), budgets: budgetsOf(load.users, nowMs) });
  const draft = new Draft(state);
  let uids = 0;
  for (const [id, { user, queued, held }] of jobs) {
    const waiting = queue.jobs.get(id)?.indexes.length ?? 0;
    const submitted = submit(draft, {
      spec: specOfLoad(queued, held, waiting + held.length, id.slice(user.length + 2)),
      user,
      submittedBy: user,
      nowMs: nowMs - 30 * minuteMs,
      suffix: 'again',
      retryOf: null,
    });
    if (!submitted.ok) throw new Error(submitted.refusal.message);
    for (const [index, attempt] of held.entries()) {
      uids += 1;
      const uid = uids.toString(16).padStart(16, '0');
      const assigned = assign(draft, {
        taskId: taskIdOf(submitted.value.jobId, index),
        workerId: attempt.workerId,
        backendId,
        uid,
        devices: attempt.devices,
        band: attempt.band,
        ports: {},
        nowMs: nowMs - 20 * minuteMs,
        worker: null,
      });
      if (!assigned.ok) throw new Error(assigned.refusal.message);
      // The last ten minutes at most, so that no time limit ends one of them while it is measured.
      const startedAtMs = nowMs - (uids % 10) * minuteMs;
      observe(draft, report(uid, 'RUNNING', { startedAtMs }), startedAtMs);
    }
  }
  settle(draft, nowMs);
  return { ...draft.changeSet(), budgets: budgetsOf(load.users, nowMs) };
}

/** Everybody may ask for every band. */
function budgetsOf(users: number, updatedAtMs: number): UserBudget[] {
  return Array.from({ length: users }, (_, at) => ({
    user: `user-${at}`,
    limit: 'default',
    maxBand: 'INTERACTIVE',
    allow: ['SYSTEM', 'PRODUCTION'],
    quota: noQuota,
    updatedAtMs,
  }));
}

function specOfLoad(
  queued: QueuedJob | null,
  held: readonly HeldAttempt[],
  replicas: number,
  name: string,
): JobSpec {
  const [first] = held;
  const limitMs = queued?.limitMs ?? first?.limitMs ?? null;
  return {
    ...askedSpec({ name, replicas, priority: queued?.band ?? first?.requestedBand ?? 'BATCH' }),
    cpuMillicores: queued?.cpuMillicores ?? first?.cpuMillicores ?? 1000,
    memoryBytes: queued?.memoryBytes ?? first?.memoryBytes ?? 1e9,
    gpuCount: queued?.gpuCount ?? first?.devices.length ?? 0,
    gpuVariant: queued?.gpuVariant ?? null,
    constraints: queued?.constraints ?? [],
    // A gang that runs has its place; whether its rows say that it is one changes nothing for the others.
    gangBy: queued?.gangBy ?? null,
    // Long enough that none ends while it is measured.
    timeoutMs: limitMs === null ? null : limitMs + 60 * minuteMs,
  };
}

export function askedSpec(request: Partial<JobRequest>): JobSpec {
  return specOf({ command: ['python', 'train.py'], ...request });
}
