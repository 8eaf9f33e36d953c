/** Why tasks wait, in the words shown in lists: made when somebody asks, from the last decision and the rows it was made of. */
import { isTerminalJobState } from '../contract/states.js';
import type { Cause } from '../contract/views.js';
import { timeText } from '../formats/times.js';
import type { Job, Task } from '../model/entities.js';
import type { ModelState } from '../model/state.js';
import type { Cluster } from './cluster.js';
import type { Decision, WaitCode } from './decision.js';
import { explain, explainGang } from './explain.js';
import { freeWorkers, type FreeWorker, type Need } from './free.js';
import { resolveGpuRequest } from './gpu-models.js';
import { constraintsOf, meetsRequired, untolerated } from './constraints.js';

/** Waiting jobs whose reasons are looked at after each decision: those ahead. */
const maxWatched = 100;

export class WaitCauses {
  private decision: Decision | null = null;
  private codes: Map<string, WaitCode> | null = null;
  private free: { readonly version: number; readonly workers: readonly FreeWorker[] } | null = null;
  private shown = new Map<string, string>();
  private variants: { readonly version: number; readonly names: readonly string[] } | null = null;
  private capacity: { readonly version: number; readonly causes: Map<string, Cause> } | null = null;

  constructor(
    private readonly state: ModelState,
    private readonly cluster: Cluster,
  ) {}

  decided(decision: Decision): void {
    if (decision === this.decision) return;
    this.decision = decision;
    this.codes = null;
  }

  /** Why a PENDING task waits; null when it does not, or nobody has looked at it yet. */
  of(taskId: string): Cause | null {
    const task = this.state.task(taskId);
    const job = task === undefined ? undefined : this.state.job(task.jobId);
    if (task?.state !== 'PENDING' || job === undefined) return null;
    const predecessor = this.state.predecessorCause(taskId);
    if (predecessor !== null) return predecessor;
    if (task.claim !== null) return this.claimed(task);
    const code = this.codeOf(job.id);
    return code === undefined ? task.waiting : this.causeOf(code, job);
  }

  /** Of the jobs ahead, those that wait for another reason than when this was asked last. */
  changed(): string[] {
    const next = new Map<string, string>();
    const changed: string[] = [];
    for (const { jobId, code } of (this.decision?.waiting ?? []).slice(0, maxWatched)) {
      const job = this.state.job(jobId);
      if (job === undefined || next.has(jobId)) continue;
      const message = this.causeOf(code, job)?.message ?? '';
      next.set(jobId, message);
      if (this.shown.get(jobId) !== message) changed.push(jobId);
    }
    this.shown = next;
    return changed;
  }

  private codeOf(jobId: string): WaitCode | undefined {
    // What kept the first of its tasks counts, as lists show one reason a job.
    this.codes ??= new Map(
      (this.decision?.waiting ?? []).toReversed().map((each) => [each.jobId, each.code]),
    );
    return this.codes.get(jobId);
  }

  private causeOf(code: WaitCode, job: Job): Cause | null {
    const { spec } = job;
    switch (code) {
      case 'held':
        return { code: 'WAITS_HELD', message: 'Held: it starts after it is released.' };
      case 'not-before': {
        const at = this.cluster.queue.jobs.get(job.id)?.job.startNotBeforeMs ?? job.submittedAtMs;
        return { code: 'WAITS_FOR_TIME', message: `Starts no earlier than ${timeText(at)}.` };
      }
      case 'dependency':
        return this.dependencyCause(job);
      case 'blocked':
        return this.cluster.queue.jobs.get(job.id)?.job.blocked ?? null;
      case 'quota':
        return { code: 'WAITS_QUOTA', message: `Waits: ${job.user} has as much in use as the quota allows.` };
      case 'job-cap': {
        const most = spec.maxActive ?? 0;
        const message = `Waits: ${most} of its tasks may be active at the same time, and are.`;
        return { code: 'WAITS_JOB_CAP', message };
      }
      case 'pass-cap':
        return { code: 'WAITS_FOR_TURN', message: 'Waits for its turn: others are being placed first.' };
      case 'reserved':
        return this.reservedCause(job);
      case 'leaving':
        return { code: 'WAITS_FOR_VICTIM', message: 'Waits until what makes room for it has left.' };
      case 'impossible':
      case 'capacity':
        return this.capacityCause(job);
    }
  }

  private claimed(task: Task): Cause {
    const { workerId = '', waitsFor = [] } = task.claim ?? {};
    const living = waitsFor.flatMap((uid) => {
      const attempt = this.state.attempt(uid);
      return attempt === undefined || attempt.finishedAtMs !== null ? [] : [attempt.taskId];
    });
    const [first, ...others] = [...new Set(living)];
    const who =
      first === undefined
        ? 'for room'
        : `until ${first}${others.length === 0 ? '' : ` and ${others.length} more`} ${others.length === 0 ? 'has' : 'have'} left`;
    return { code: 'WAITS_FOR_VICTIM', message: `Starts on ${workerId}; waits ${who}.` };
  }

  private dependencyCause(job: Job): Cause {
    const words = { SUCCESS: 'to succeed', END: 'to end', FAILURE: 'to fail' } as const;
    const open = job.spec.dependencies.filter((wish) => {
      const state = this.cluster.jobState(wish.job);
      return state !== undefined && !isTerminalJobState(state);
    });
    const parts = open.map((wish) => `${wish.job} ${words[wish.on]}`);
    const more = parts.length > 2 ? ` and ${parts.length - 2} more` : '';
    return { code: 'WAITS_FOR_JOB', message: `Waits for ${parts.slice(0, 2).join(' and ')}${more}.` };
  }

  private reservedCause(job: Job): Cause {
    const kept = this.decision?.reservations.find(({ jobId }) => jobId === job.id);
    const machines = kept?.workerIds.slice(0, 4).join(', ') ?? '';
    const more = (kept?.workerIds.length ?? 0) > 4 ? ` and ${(kept?.workerIds.length ?? 0) - 4} more` : '';
    const when =
      kept === undefined || kept.startMs === null
        ? 'what runs there has no time limit, so nobody knows until when'
        : `by known time limits it starts at ${timeText(kept.startMs)}`;
    return { code: 'WAITS_RESERVED', message: `${machines}${more} kept for it; ${when}.` };
  }

  /** Jobs of one shape share the reason: it is looked for once while nothing changes. */
  private capacityCause(job: Job): Cause {
    const { version } = this.cluster;
    if (this.capacity?.version !== version) this.capacity = { version, causes: new Map() };
    const { causes } = this.capacity;
    const shape = this.cluster.queue.jobs.get(job.id)?.shape.key ?? job.id;
    const key = job.spec.gangBy === null ? shape : `${shape} ${job.numTasks}`;
    let cause = causes.get(key);
    if (cause === undefined) {
      cause = this.explainCapacity(job);
      causes.set(key, cause);
    }
    return cause;
  }

  private explainCapacity(job: Job): Cause {
    const { workers } = this.cluster.table;
    const asked = { ...job.spec, ...this.needOf(job), constraints: constraintsOf(job.spec) };
    const free = this.freeNow();
    if (job.spec.gangBy === null) return explain(asked, workers, free);
    const groups = groupsOf(job, free);
    return explainGang(asked, job.numTasks, workers, groups, (group) =>
      group.reduce((sum, each) => sum + emptySlots(each, asked), 0),
    );
  }

  /** With its GPU model in the machines' own words. */
  private needOf({ spec }: Job): Need {
    const resolution = resolveGpuRequest(spec, this.variantsNow());
    return resolution.kind === 'resolved'
      ? { ...spec, gpuCount: resolution.count, gpuVariant: resolution.variant }
      : spec;
  }

  private variantsNow(): readonly string[] {
    const { version, table } = this.cluster;
    if (this.variants?.version !== version) {
      const all = new Set<string>();
      for (const { gpus } of table.workers) for (const { variant } of gpus) all.add(variant);
      this.variants = { version, names: [...all] };
    }
    return this.variants.names;
  }

  private freeNow(): readonly FreeWorker[] {
    const { version, table } = this.cluster;
    if (this.free?.version !== version) {
      this.free = { version, workers: freeWorkers(table.workers, (id) => this.state.used(id)) };
    }
    return this.free.workers;
  }
}

/** Machines that meet its constraints, by the attribute it names; `worker` is each machine by itself. */
function groupsOf({ spec }: Job, free: readonly FreeWorker[]): FreeWorker[][] {
  const groups = new Map<string, FreeWorker[]>();
  const constraints = constraintsOf(spec);
  for (const each of free) {
    const { id, attributes, taints } = each.worker;
    if (!meetsRequired(constraints, attributes) || untolerated(constraints, taints) !== null) continue;
    const by = spec.gangBy ?? '';
    const value = by === 'worker' ? id : Object.hasOwn(attributes, by) ? attributes[by] : undefined;
    if (value === undefined) continue;
    const key = String(value).trim().toLowerCase();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return [...groups.values()];
}

/** Tasks the machine could hold if it were empty. */
function emptySlots({ worker }: FreeWorker, asked: Need): number {
  const cards = worker.gpus.filter(
    ({ variant }) => asked.gpuVariant === null || variant === asked.gpuVariant,
  ).length;
  return Math.min(
    asked.cpuMillicores === 0
      ? Number.POSITIVE_INFINITY
      : Math.floor(worker.cpuMillicores / asked.cpuMillicores),
    asked.memoryBytes === 0 ? Number.POSITIVE_INFINITY : Math.floor(worker.memoryBytes / asked.memoryBytes),
    asked.gpuCount === 0 ? Number.POSITIVE_INFINITY : Math.floor(cards / asked.gpuCount),
  );
}
