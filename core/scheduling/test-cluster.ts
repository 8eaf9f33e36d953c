/** A small simulated cluster for tests: virtual time, decisions carried out as the controller does, every rule checked after each. */
import type { Decision } from './decision.js';
import type { SchedulingGpu, SchedulingWorker } from './free.js';
import type { HeldAttempt, QueuedJob } from './inputs.js';
import { originalRules, ourRules, type Rules } from './rules.js';
import { Scheduler } from './scheduler.js';

export const gib = 2 ** 30;
export const minute = 60_000;

export function card(index: number, more: Partial<SchedulingGpu> = {}): SchedulingGpu {
  return { uuid: `GPU-${index}`, index, variant: 'h100', usable: true, busyByOthers: false, ...more };
}

export function cards(
  count: number,
  more: (index: number) => Partial<SchedulingGpu> = () => ({}),
): SchedulingGpu[] {
  return Array.from({ length: count }, (_, index) => card(index, more(index)));
}

export function worker(id: string, more: Partial<SchedulingWorker> = {}): SchedulingWorker {
  return {
    id,
    healthy: true,
    cpuMillicores: 4000,
    memoryBytes: 64 * gib,
    gpus: [],
    gpuNote: null,
    attributes: {},
    ...more,
  };
}

type Asked = Partial<QueuedJob> & { readonly cpu?: number; readonly tasks?: number };

export class TestCluster {
  readonly scheduler = new Scheduler();
  nowMs = 1_000_000_000;
  rules: Rules = ourRules;
  private submitted = 0;
  private attempts = 0;

  constructor(workers: readonly SchedulingWorker[], policy: Rules['policy'] = 'ours') {
    this.cluster.setWorkers(workers);
    if (policy === 'original') this.rules = originalRules;
  }

  get cluster() {
    return this.scheduler.cluster;
  }

  /** A job `/user/name` with waiting tasks. */
  submit(path: string, asked: Asked = {}): string {
    const { cpu = 1, tasks = 1, ...more } = asked;
    this.submitted += 1;
    this.cluster.putJob({
      id: path,
      user: path.split('/')[1] ?? '',
      band: 'INTERACTIVE',
      depth: path.split('/').length - 2,
      rootSubmittedAtMs: this.submitted,
      submittedAtMs: this.submitted,
      rank: 0,
      cpuMillicores: cpu * 1000,
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
      waitingSinceMs: this.nowMs,
      ...more,
    });
    for (let index = 0; index < tasks; index += 1) this.cluster.addTask(path, index);
    return path;
  }

  /** An attempt that runs already; returns its uid, which is its job's path unless named. */
  run(path: string, workerId: string, more: Partial<HeldAttempt> & { readonly cpu?: number } = {}): string {
    const { cpu = 1, ...rest } = more;
    this.attempts += 1;
    const band = rest.band ?? 'INTERACTIVE';
    const attempt: HeldAttempt = {
      uid: `${path}/0`,
      taskId: `${path}/0`,
      jobId: path,
      user: path.split('/')[1] ?? '',
      workerId,
      state: 'RUNNING',
      band,
      requestedBand: band,
      gang: false,
      cpuMillicores: cpu * 1000,
      memoryBytes: gib,
      devices: [],
      startedAtMs: this.nowMs - 60 * minute,
      checkpointAtMs: null,
      limitMs: null,
      preemptions: 0,
      leaving: 'no',
      evictableBy: null,
      ...rest,
    };
    this.cluster.putAttempt(attempt);
    return attempt.uid;
  }

  decide(): Decision {
    return this.scheduler.decide(this.nowMs, this.rules);
  }

  /** Decides, and carries it out: victims are told to leave, provisional places claimed, the rest starts at once. */
  round(): Decision {
    const decision = this.decide();
    this.carryOut(decision);
    return decision;
  }

  private carryOut(decision: Decision): void {
    const { cluster } = this;
    for (const { uid } of decision.evictions) this.leave(uid, 'asked');
    for (const uid of decision.withdrawn) this.leave(uid, 'no');
    for (const taskId of decision.released) {
      cluster.removeClaim(taskId);
      cluster.addTask(
        taskId.slice(0, taskId.lastIndexOf('/')),
        Number(taskId.slice(taskId.lastIndexOf('/') + 1)),
      );
    }
    for (const placed of decision.placed) {
      const { taskId, jobId, index, workerId, devices, band } = placed;
      const job = cluster.queue.jobs.get(jobId)?.job;
      if (job === undefined) throw new Error(`no job ${jobId}`);
      cluster.removeClaim(taskId);
      cluster.removeTask(jobId, index);
      if (placed.waitsFor.length > 0) {
        cluster.putClaim({ taskId, jobId, index, workerId, devices, band });
        continue;
      }
      this.attempts += 1;
      this.run(jobId, workerId, {
        uid: `${taskId}:${this.attempts}`,
        taskId,
        user: job.user,
        band,
        requestedBand: job.band,
        gang: job.gangBy !== null,
        cpuMillicores: job.cpuMillicores,
        memoryBytes: job.memoryBytes,
        devices,
        sharedGpuBytes: job.sharedGpuBytes ?? null,
        startedAtMs: this.nowMs,
        limitMs: job.limitMs,
        evictableBy: placed.evictableBy,
      });
    }
    for (const { jobId } of decision.unschedulable) cluster.removeJob(jobId);
    cluster.setReservations(decision.reservations);
  }

  leave(uid: string, leaving: HeldAttempt['leaving']): void {
    const held = this.cluster.holdings.get(uid);
    if (held !== undefined) this.cluster.putAttempt({ ...held.attempt, leaving });
  }

  /** Verified gone. */
  gone(uid: string): void {
    this.cluster.removeAttempt(uid);
  }

  /** Every attempt on its way out is gone. */
  allGone(): void {
    for (const { attempt } of [...this.cluster.holdings.held.values()]) {
      if (attempt.leaving !== 'no' || attempt.state === 'ENDING') this.gone(attempt.uid);
    }
  }

  /** What is broken of the rules that hold in every state: nothing is given twice or beyond what there is. */
  violations(): string[] {
    const problems: string[] = [];
    const { table, holdings } = this.cluster;
    for (const machine of table.workers) {
      const held = [...holdings.held.values()].filter(({ attempt }) => attempt.workerId === machine.id);
      const cpu = held.reduce((sum, { attempt }) => sum + attempt.cpuMillicores, 0);
      const memory = held.reduce((sum, { attempt }) => sum + attempt.memoryBytes, 0);
      if (cpu > machine.cpuMillicores)
        problems.push(`${machine.id}: ${cpu} of ${machine.cpuMillicores} millicores`);
      if (memory > machine.memoryBytes) problems.push(`${machine.id}: memory`);
      const devices = held.flatMap(({ attempt }) => attempt.devices);
      problems.push(...this.cardProblems(machine));
      const stays = held.filter(({ attempt }) => attempt.leaving === 'no' && attempt.state !== 'ENDING');
      const claims = holdings.allClaims().filter(({ workerId }) => workerId === machine.id);
      const promised =
        stays.reduce((sum, { attempt }) => sum + attempt.cpuMillicores, 0) +
        claims.reduce(
          (sum, { jobId }) => sum + (this.cluster.queue.jobs.get(jobId)?.job.cpuMillicores ?? 0),
          0,
        );
      if (promised > machine.cpuMillicores) problems.push(`${machine.id}: ${promised} millicores promised`);
      const promisedCards = claims.flatMap((claim) => claim.devices);
      const staying = new Set(stays.flatMap(({ attempt }) => attempt.devices));
      if (
        new Set(promisedCards).size !== promisedCards.length ||
        promisedCards.some((uuid) => staying.has(uuid))
      )
        problems.push(`${machine.id}: a device promised twice`);
      for (const device of devices) {
        if (!machine.gpus.some((gpu) => gpu.uuid === device)) problems.push(`${machine.id}: no ${device}`);
      }
    }
    return problems;
  }

  /** A card belongs to one, or to several that share it and were given it within its memory. */
  private cardProblems(machine: SchedulingWorker): string[] {
    return machine.gpus.flatMap(({ uuid, memory = null, maxSharers = 4 }) => {
      const holders = [...this.cluster.holdings.held.values()]
        .map(({ attempt }) => attempt)
        .filter(({ workerId, devices }) => workerId === machine.id && devices.includes(uuid));
      if (holders.length < 2) return [];
      if (holders.some(({ sharedGpuBytes = null }) => sharedGpuBytes === null))
        return [`${machine.id}: ${uuid} twice`];
      if (memory === null) return [`${machine.id}: ${uuid} shared, its memory unknown`];
      if (holders.length > maxSharers) return [`${machine.id}: ${uuid} shared by ${holders.length}`];
      const fresh = holders.filter(
        ({ startedAtMs }) => startedAtMs === null || this.nowMs - startedAtMs < 5 * minute,
      );
      const said = fresh.reduce((sum, { sharedGpuBytes = null }) => sum + (sharedGpuBytes ?? 0), 0);
      // What was seen before the newest of them came left room for what it said.
      return fresh.length > 0 && said > memory.totalBytes * 0.95 ? [`${machine.id}: ${uuid} too full`] : [];
    });
  }
}

/** `task machine`, provisional ones with what they wait for. */
export function placesOf(decision: Decision): string[] {
  return decision.placed.map(({ taskId, workerId, waitsFor }) =>
    waitsFor.length === 0 ? `${taskId} ${workerId}` : `${taskId} ${workerId} after ${waitsFor.join(' ')}`,
  );
}

export function evictedBy(decision: Decision): string[] {
  return decision.evictions.map(({ uid }) => uid);
}

export function waitsOf(decision: Decision): string[] {
  return decision.waiting.map(({ jobId, code }) => `${jobId} ${code}`);
}
