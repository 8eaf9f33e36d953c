/** The queue of a fake host: what waits by band and age, what runs where. */
import type { QueueView } from '../../core/contract/queue.js';
import { bands } from '../../core/contract/states.js';
import type { JobSummary } from '../../core/contract/views.js';

export function fakeQueue(jobs: Iterable<JobSummary>): QueueView {
  const all = [...jobs];
  return {
    atMs: 1_700_000_600_000,
    bands: bands.map((band) => {
      const waiting = all
        .filter((job) => job.band === band && job.state === 'PENDING')
        .sort((left, right) => left.submittedAtMs - right.submittedAtMs);
      return {
        band,
        total: waiting.length,
        jobs: waiting.slice(0, 200).map((job) => ({
          jobId: job.id,
          name: job.name,
          user: job.user,
          requestedBand: job.band,
          waitingTasks: job.numTasks,
          numTasks: job.numTasks,
          gpuCount: job.gpuCount,
          submittedAtMs: job.submittedAtMs,
          held: job.held,
          rank: 0,
          waiting: job.waiting,
        })),
      };
    }),
    items: all
      .filter((job) => job.state === 'RUNNING')
      .map((job) => ({
        uid: `0000${job.id.length}`,
        taskId: `${job.id}/0`,
        jobId: job.id,
        jobName: job.name,
        user: job.user,
        band: job.band,
        workerId: job.workers[0] ?? 'ws-1',
        devices: [],
        state: 'RUNNING',
        fromMs: job.startedAtMs ?? job.submittedAtMs,
        toMs: null,
      })),
    reservations: [],
  };
}
