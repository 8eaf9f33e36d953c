/** The controller's rows with the scheduler over them, for tests: decisions made and carried out as the controller does. */
import type { JobRequest } from '../contract/job-request.js';
import type { Cause } from '../contract/views.js';
import type { ChangeSet } from '../model/entities.js';
import { World } from '../model/test-world.js';
import { carryOut } from './carry-out.js';
import type { Decision, Placed } from './decision.js';
import { demotionOf } from './explanation/place-in-queue.js';
import { ClusterFeed } from './feed.js';
import type { SchedulingWorker } from './free.js';
import { originalRules, ourRules, type Rules } from './rules.js';
import { Scheduler } from './scheduler.js';
import { WaitCauses } from './wait-causes.js';
import { inputOf, type RoundInput } from './replay.js';

export const noLimit = 0;

export class Rows extends World {
  readonly scheduler = new Scheduler();
  readonly feed = new ClusterFeed(this.scheduler.cluster, this.state);
  private decided: Decision | null = null;
  readonly causes = new WaitCauses(this.state, this.scheduler.cluster, () => ({
    cluster: this.scheduler.cluster,
    decision: this.decided,
    rules: this.rules,
    nowMs: this.nowMs,
  }));
  readonly moved: string[] = [];
  /** Tasks that still get the ports they need. */
  portsLeft = Number.POSITIVE_INFINITY;
  rules: Rules = ourRules;
  private minted = 0;

  constructor(readonly defaultLimit = noLimit) {
    super();
    this.feed.load(defaultLimit);
  }

  override commit(change: ChangeSet): void {
    super.commit(change);
    // The first row is written before the feed is there, which loads it.
    if (!Object.hasOwn(this, 'feed')) return;
    this.feed.update(change);
    if (change.budgets.length > 0) this.feed.setBudgets(this.defaultLimit);
  }

  decide(workers: readonly SchedulingWorker[], rules: Rules = this.rules): Decision {
    this.feed.setWorkers(workers);
    const decision = this.scheduler.decide(this.nowMs, rules);
    this.decided = decision;
    this.causes.decided(decision);
    return decision;
  }

  /** Decides and carries it out. */
  round(workers: readonly SchedulingWorker[]): Decision {
    const decision = this.decide(workers);
    this.step((draft) => {
      carryOut(draft, decision, {
        nowMs: this.nowMs,
        backendId: 'local',
        uid: () => `u${String((this.minted += 1)).padStart(15, '0')}`,
        ports: (_, tasks) => (tasks > this.portsLeft ? null : Array.from({ length: tasks }, () => ({}))),
        worker: (id) => workers.find((worker) => worker.id === id),
        demotionOf: (jobId) => {
          const entry = this.scheduler.cluster.queue.jobs.get(jobId);
          return entry === undefined ? null : demotionOf(entry, this.nowMs);
        },
        moved: (taskId, why) => this.moved.push(`${taskId} ${why}`),
      });
    });
    this.feed.setReservations(decision.reservations);
    return decision;
  }

  /** What a scheduler that starts from these rows would read. */
  loaded(workers: readonly SchedulingWorker[]): RoundInput {
    const scheduler = new Scheduler();
    const feed = new ClusterFeed(scheduler.cluster, this.state);
    feed.load(this.defaultLimit);
    feed.setWorkers(workers);
    return inputOf(scheduler.cluster, this.nowMs, originalRules);
  }

  /** What this one reads. */
  kept(workers: readonly SchedulingWorker[]): RoundInput {
    this.feed.setWorkers(workers);
    return inputOf(this.scheduler.cluster, this.nowMs, originalRules);
  }
}

/** Rows with one job a request, called a, b, c... */
export function rowsOf(...requests: Partial<JobRequest>[]): Rows {
  const rows = new Rows();
  for (const [at, request] of requests.entries()) rows.submit({ name: 'abcdefgh'[at] ?? 'z', ...request });
  return rows;
}

export interface Looked {
  readonly decision: Decision;
  readonly assignments: readonly Placed[];
  /** Of the first waiting task of each waiting job. */
  readonly waiting: readonly { readonly taskId: string; readonly cause: Cause | null }[];
}

/** Decides, carries it out, and looks at what waits. */
export function look(rows: Rows, workers: readonly SchedulingWorker[], maxAssignments?: number): Looked {
  rows.rules = { ...rows.rules, maxAssignments: maxAssignments ?? null };
  const decision = rows.round(workers);
  const waiting = decision.waiting.map(({ jobId }) => {
    const first = rows.state.tasksOf(jobId).find(({ state }) => state === 'PENDING');
    return { taskId: first?.id ?? '', cause: rows.causes.of(first?.id ?? '') };
  });
  return { decision, assignments: decision.placed, waiting };
}
