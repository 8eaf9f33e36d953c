/** All tasks of a job: the first come live with the job, and of those behind them the ones that change; the others are asked for. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { TaskView } from '../../../core/contract/views.js';
import { useHost } from '../../state/desktop-context.js';
import { mergeTasks } from '../../state/topics.js';

const pageSize = 500;

/** How many there are without a gap. */
function unbroken(tasks: readonly TaskView[]): number {
  const gap = tasks.findIndex((task, at) => task.index !== at);
  return gap === -1 ? tasks.length : gap;
}

export interface LiveTasks {
  readonly tasks: readonly TaskView[];
  /** How often the job's topic began anew, with the first tasks alone. */
  readonly snapshots: number;
}

export function useAllTasks(jobId: string, live: LiveTasks, total: number): readonly TaskView[] {
  const host = useHost();
  const { tasks, snapshots } = live;
  // What changed right behind those that come with every snapshot does not count: the next one lacks it.
  const first = unbroken(tasks.slice(0, pageSize));
  const { data } = useQuery({
    queryKey: ['task.list', 'rest', jobId, first, total, snapshots],
    queryFn: async ({ signal }) => {
      const rows: TaskView[] = [];
      while (first + rows.length < total && !signal.aborted) {
        const page = await host.call('task.list', { jobId, offset: first + rows.length, limit: pageSize });
        rows.push(...page.rows);
        if (page.rows.length === 0) break;
      }
      return rows;
    },
    enabled: first < total,
    // What changes since is told, to who listens: a snapshot, or who comes back to the page, asks anew.
    staleTime: Infinity,
    gcTime: 0,
    placeholderData: keepPreviousData,
  });
  return useMemo(() => (data === undefined ? tasks : mergeTasks(data, tasks)), [data, tasks]);
}
