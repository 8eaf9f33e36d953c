/** Stopping and running again, as calls. What was asked for shows as pending until the row itself says it happened. */
import { isTerminalJobState } from '../../core/contract/states.js';
import type { JobSummary } from '../../core/contract/views.js';
import type { MethodResult } from '../../core/contract/api.js';
import type { Host } from './host.js';
import { newRequestId } from './request-id.js';

export type TargetResults = MethodResult<'job.stop'>['results'];

/** Ids of jobs whose stop was asked for and not yet seen. */
export interface PendingStops {
  readonly has: (id: string) => boolean;
  readonly subscribe: (listener: () => void) => () => void;
}

export interface JobActions {
  readonly stopping: PendingStops;
  readonly stop: (ids: readonly string[]) => Promise<TargetResults>;
  readonly runAgain: (ids: readonly string[]) => Promise<TargetResults>;
}

export const canStop = (row: JobSummary): boolean => !isTerminalJobState(row.state);
export const canRunAgain = (row: JobSummary): boolean => isTerminalJobState(row.state);

/** Above this many the oldest are forgotten: their rows have long said what became of them. */
const mostPending = 20_000;

export function createJobActions(host: Pick<Host, 'call'>): JobActions {
  const pending = new Set<string>();
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of [...listeners]) listener();
  };

  return {
    stopping: {
      has: (id) => pending.has(id),
      subscribe(listener) {
        listeners.add(listener);
        return () => {
          listeners.delete(listener);
        };
      },
    },
    async stop(ids) {
      for (const id of ids) pending.add(id);
      for (const id of pending) {
        if (pending.size <= mostPending) break;
        pending.delete(id);
      }
      notify();
      try {
        const { results } = await host.call('job.stop', { requestId: newRequestId(), jobIds: [...ids] });
        for (const result of results) if (result.refusal !== null) pending.delete(result.id);
        notify();
        return results;
      } catch (error) {
        for (const id of ids) pending.delete(id);
        notify();
        throw error;
      }
    },
    async runAgain(ids) {
      const { results } = await host.call('job.retry', { requestId: newRequestId(), jobIds: [...ids] });
      return results;
    },
  };
}
