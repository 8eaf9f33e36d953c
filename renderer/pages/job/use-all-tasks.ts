/** All tasks of a job: the first come live with the job, and of those behind them the ones that change; the others are asked for once. */
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { TaskView } from '../../../core/contract/views.js';
import { useHost } from '../../state/desktop-context.js';
import { mergeTasks } from '../../state/topics.js';

const pageSize = 500;

/** How many there are without a gap. */
function unbroken(tasks: readonly TaskView[]): number {
  const gap = tasks.findIndex((task, at) => task.index !== at);
  return gap === -1 ? tasks.length : gap;
}

export function useAllTasks(jobId: string, live: readonly TaskView[], total: number): readonly TaskView[] {
  const host = useHost();
  const [first] = useState(() => unbroken(live));
  const rest = useQuery({
    queryKey: ['task.list', 'rest', jobId, first, total],
    queryFn: async () => {
      const rows: TaskView[] = [];
      while (first + rows.length < total) {
        const page = await host.call('task.list', { jobId, offset: first + rows.length, limit: pageSize });
        rows.push(...page.rows);
        if (page.rows.length === 0) break;
      }
      return rows;
    },
    enabled: first < total,
    // What changes since is told; after a gap in the telling everything is asked for anew.
    staleTime: Infinity,
  });
  const { data } = rest;
  return useMemo(() => (data === undefined ? live : mergeTasks(data, live)), [data, live]);
}
