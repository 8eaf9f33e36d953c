/** The scheduler over the controller's rows: kept in step with them, asked once a round, its decision written into a draft. */
import type { Cause, DemotionView } from '../../core/contract/views.js';
import { scaledDefaultLimit } from '../../core/budget/default-limit.js';
import { chargedIdentity } from '../../core/budget/spend.js';
import { bandRank } from '../../core/contract/states.js';
import { Draft, type ModelState } from '../../core/model/draft.js';
import type { ChangeSet, Job } from '../../core/model/entities.js';
import { settle } from '../../core/model/transitions.js';
import { carryOut } from '../../core/scheduling/carry-out.js';
import type { Decision } from '../../core/scheduling/decision.js';
import { demotionOf } from '../../core/scheduling/explanation/place-in-queue.js';
import type { ExplainContext } from '../../core/scheduling/explanation/room-reason.js';
import { ClusterFeed } from '../../core/scheduling/feed.js';
import type { QueuedJob } from '../../core/scheduling/inputs.js';
import type { SchedulingWorker } from '../../core/scheduling/free.js';
import { ourRules, type Rules } from '../../core/scheduling/rules.js';
import type { RecordedRound } from '../../core/scheduling/record.js';
import { inputOf } from '../../core/scheduling/replay.js';
import { Scheduler } from '../../core/scheduling/scheduler.js';
import { WaitCauses } from '../../core/scheduling/wait-causes.js';
import type { WorkerObservation } from '../backends/backend.js';
import type { FreshText } from './fresh-text.js';
import { offerOf, withAdded } from './machine-offers.js';
import { isEmpty, noChanges } from './merge-changes.js';
import type { PortRange } from './ports.js';

/** Assignments one round makes at most; a transaction of more would delay what came in meanwhile. */
const maxAssignments = 500;

export interface PlacementInput {
  readonly nowMs: number;
  readonly backendId: string;
  readonly fresh: FreshText;
  readonly ports: PortRange;
  /** Something decided that no longer held when it was written. */
  readonly moved: (taskId: string, why: string) => void;
  /** Takes each round as it was decided; null while nobody records. */
  readonly record: ((round: RecordedRound) => void) | null;
}

export class Placement {
  readonly rules: Rules = { ...ourRules, maxAssignments };
  readonly scheduler = new Scheduler();
  readonly causes: WaitCauses;
  private readonly feed: ClusterFeed;
  private observed: readonly WorkerObservation[] = [];
  private workers = new Map<string, SchedulingWorker>();
  private limit = 0;
  private decision: Decision | null = null;
  private decidedAtMs = 0;

  constructor(private readonly state: ModelState) {
    this.feed = new ClusterFeed(this.scheduler.cluster, state);
    this.causes = new WaitCauses(state, this.scheduler.cluster, () => this.explainContext(this.decidedAtMs));
  }

  /** From the rows as they were read. */
  load(workers: readonly WorkerObservation[]): void {
    this.feed.load(this.limit);
    this.setWorkers(workers);
  }

  setWorkers(observed: readonly WorkerObservation[]): void {
    this.observed = observed;
    const workers = withAdded(observed, this.state.machines()).map((worker) =>
      offerOf(worker, this.state.machine(worker.id)),
    );
    this.workers = new Map(workers.map((worker) => [worker.id, worker]));
    this.feed.setWorkers(workers);
    const limit = defaultLimitOf(observed);
    if (limit !== this.limit) {
      this.limit = limit;
      this.feed.setBudgets(limit);
    }
  }

  /** After the state has taken over these changes. */
  applied(changes: ChangeSet): void {
    this.feed.update(changes);
    if (changes.budgets.length > 0) this.feed.setBudgets(this.limit);
    if (changes.machines.length > 0) this.setWorkers(this.observed);
  }

  /** With what is set of them by hand. */
  get machines(): readonly SchedulingWorker[] {
    return [...this.workers.values()];
  }

  /** Of a machine reached over the network; null for the controller's own. */
  hostnameOf(workerId: string): string | null {
    const worker = this.observed.find(({ id }) => id === workerId);
    return worker?.address === undefined ? null : worker.hostname;
  }

  /** Over the state as it is; the state takes the changes over by itself. */
  place(input: PlacementInput): { readonly changes: ChangeSet; readonly more: boolean } {
    this.feed.weigh(input.nowMs);
    const decision = this.scheduler.decide(input.nowMs, this.rules);
    if (decision !== this.decision)
      input.record?.({ input: inputOf(this.scheduler.cluster, input.nowMs, this.rules), decision });
    this.decision = decision;
    this.decidedAtMs = input.nowMs;
    this.causes.decided(decision);
    this.feed.setReservations(decision.reservations);
    if (changesNothing(decision)) return { changes: noChanges, more: decision.more };
    const draft = new Draft(this.state);
    carryOut(draft, decision, {
      nowMs: input.nowMs,
      backendId: input.backendId,
      uid: () => input.fresh.uid(),
      ports: (jobId, tasks) => {
        const names = draft.job(jobId)?.spec.ports ?? [];
        return input.ports.allot(names, tasks, names.length === 0 ? [] : draft.unfinishedAttempts());
      },
      worker: (id) => this.workers.get(id),
      demotionOf: (jobId) => this.demotionOf(jobId, input.nowMs),
      moved: input.moved,
    });
    settle(draft, input.nowMs);
    const changes = draft.changeSet();
    // Of which nothing could be carried out, that would be decided again and again.
    return { changes, more: decision.more && !isEmpty(changes) };
  }

  /** When time alone may change what was decided last. */
  get wakeAtMs(): number | null {
    return this.decision?.wakeAtMs ?? null;
  }

  withTrial<Seen>(job: Job, look: (queued: QueuedJob) => Seen): Seen {
    return this.feed.withTrial(job, look);
  }

  explainContext(nowMs: number): ExplainContext {
    return {
      cluster: this.scheduler.cluster,
      decision: this.decision,
      rules: this.rules,
      nowMs,
      deadlineOf: (uid) => {
        const attempt = this.state.attempt(uid);
        const graceMs = attempt === undefined ? 0 : (this.state.job(attempt.jobId)?.spec.graceMs ?? 0);
        return attempt === undefined || attempt.noticeAtMs === null ? null : attempt.noticeAtMs + graceMs;
      },
    };
  }

  /** Ranks of the other waiting jobs of that owner and band. */
  ranksBeside(job: Job): number[] {
    const user = this.scheduler.cluster.queue.users.get(chargedIdentity(job.submittedBy, job.user));
    const jobs = user?.lists[bandRank(job.band)]?.values ?? [];
    return jobs.filter((entry) => entry.job.id !== job.id).map((entry) => entry.job.rank);
  }

  /** Why a waiting job competes in a lower band than it asks for; null when it does not, or does not wait. */
  demotionOf(jobId: string, nowMs: number): DemotionView | null {
    const entry = this.scheduler.cluster.queue.jobs.get(jobId);
    return entry === undefined ? null : demotionOf(entry, nowMs);
  }

  causeOf(taskId: string): Cause | null {
    return this.causes.of(taskId);
  }
}

function changesNothing(decision: Decision): boolean {
  const { placed, evictions, withdrawn, released, unschedulable } = decision;
  return [placed, evictions, withdrawn, released, unschedulable].every((list) => list.length === 0);
}

/** The limit of who has none of their own. */
export function defaultLimitOf(workers: readonly WorkerObservation[]): number {
  return scaledDefaultLimit(
    workers.map(({ cpuMillicores, memoryBytes, gpus }) => ({
      cpuMillicores,
      memoryBytes,
      gpuCount: gpus.length,
    })),
  );
}
