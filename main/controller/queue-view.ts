/** The queue in its order and what runs where, from the controller's memory. */
import { bands } from '../../core/contract/states.js';
import type { LaneItem, QueuedJobView, QueueView } from '../../core/contract/queue.js';
import { chargedIdentity } from '../../core/budget/spend.js';
import type { ModelState } from '../../core/model/draft.js';
import type { Attempt, Job, Task } from '../../core/model/entities.js';
import { queueOrder, type QueuedTurn } from '../../core/scheduling/queue-order.js';
import type { Placement } from './placement.js';

/** Jobs of a band that are shown; of more nobody reads the end. */
const maxJobsABand = 200;

export function queueView(state: ModelState, placement: Placement, nowMs: number): QueueView {
  const { cluster } = placement.scheduler;
  const items: LaneItem[] = [];
  for (const attempt of state.unfinishedAttempts()) {
    const task = state.task(attempt.taskId);
    const job = state.job(attempt.jobId);
    if (task !== undefined && job !== undefined) items.push(heldItem(attempt, task, job));
  }
  for (const claim of cluster.holdings.allClaims()) {
    const job = state.job(claim.jobId);
    if (job === undefined) continue;
    items.push({
      uid: null,
      taskId: claim.taskId,
      ...ownerOf(job),
      band: claim.band,
      workerId: claim.workerId,
      devices: [...claim.devices],
      state: 'PROMISED',
      fromMs: state.task(claim.taskId)?.claim?.sinceMs ?? nowMs,
      toMs: null,
    });
  }
  return {
    atMs: nowMs,
    bands: bands.map((band) => {
      const { total, turns } = queueOrder(cluster, band, maxJobsABand);
      return { band, total, jobs: turns.flatMap((turn) => queuedView(turn, state, placement)) };
    }),
    items,
    reservations: cluster.reservations.map((each) => ({ ...each, workerIds: [...each.workerIds] })),
  };
}

function laneItem(attempt: Attempt, task: Pick<Task, 'band'>, job: Job, toMs: number | null): LaneItem {
  return {
    uid: attempt.uid,
    taskId: attempt.taskId,
    ...ownerOf(job),
    band: task.band,
    workerId: attempt.workerId,
    devices: [...attempt.devices],
    state: attempt.state,
    fromMs: attempt.startedAtMs ?? attempt.createdAtMs,
    toMs,
  };
}

function heldItem(attempt: Attempt, task: Task, job: Job): LaneItem {
  const limitMs = job.spec.timeoutMs;
  const startedAtMs = attempt.startedAtMs ?? attempt.createdAtMs;
  // What was told to leave is gone when its grace is over.
  const leavesMs = attempt.noticeAtMs === null ? null : attempt.noticeAtMs + job.spec.graceMs;
  return laneItem(attempt, task, job, leavesMs ?? (limitMs === null ? null : startedAtMs + limitMs));
}

function ownerOf(job: Job): Pick<LaneItem, 'jobId' | 'jobName' | 'user'> {
  return { jobId: job.id, jobName: job.name, user: chargedIdentity(job.submittedBy, job.user) };
}

function queuedView(turn: QueuedTurn, state: ModelState, placement: Placement): QueuedJobView[] {
  const job = state.job(turn.job.id);
  if (job === undefined) return [];
  const waits = state.tasksOf(job.id).find((task) => task.state === 'PENDING');
  return [
    {
      jobId: job.id,
      name: job.name,
      user: turn.job.user,
      requestedBand: job.band,
      waitingTasks: turn.waitingTasks,
      numTasks: job.numTasks,
      gpuCount: job.spec.gpuCount * job.numTasks,
      submittedAtMs: job.submittedAtMs,
      held: job.held,
      rank: job.rank,
      waiting: waits === undefined ? null : placement.causeOf(waits.id),
    },
  ];
}
