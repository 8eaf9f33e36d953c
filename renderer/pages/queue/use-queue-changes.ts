/** Changes of waiting jobs: who may, what is under way, and what was refused, by job. */
import { useCallback, useState } from 'react';
import { refusal, type Refusal } from '../../../core/contract/errors.js';
import type { JobChange, QueuedJobView } from '../../../core/contract/queue.js';
import type { BudgetView } from '../../../core/contract/budgets.js';
import { useHost } from '../../state/desktop-context.js';
import { changeJobs } from '../../state/job-changes.js';
import { useBudgets } from '../../state/use-budgets.js';
import { queue as words } from '../../strings/queue.js';

export interface QueueChanges {
  readonly me: string | null;
  readonly may: (job: QueuedJobView) => boolean;
  readonly budgetOf: (jobs: readonly QueuedJobView[]) => BudgetView | null;
  readonly refusals: ReadonlyMap<string, Refusal>;
  readonly pending: ReadonlySet<string>;
  readonly change: (jobs: readonly QueuedJobView[], change: JobChange) => void;
}

export function useQueueChanges(): QueueChanges {
  const host = useHost();
  const budgets = useBudgets();
  const live = budgets.kind === 'live' ? budgets : null;
  const [refusals, setRefusals] = useState<ReadonlyMap<string, Refusal>>(new Map());
  const [pending, setPending] = useState<ReadonlySet<string>>(new Set());
  const may = (job: QueuedJobView) => live === null || live.mayManage || job.user === live.me;

  const send = useCallback(
    async (ids: readonly string[], change: JobChange) => {
      setPending((before) => new Set([...before, ...ids]));
      const refused = await changeJobs(host, ids, change);
      setPending((before) => new Set([...before].filter((id) => !ids.includes(id))));
      setRefusals((before) => new Map([...before, ...refused]));
    },
    [host],
  );

  return {
    me: live?.me ?? null,
    may,
    budgetOf: (jobs) => {
      const user = jobs[0]?.user;
      if (live === null || jobs.some((job) => job.user !== user)) return null;
      return live.rows.find((row) => row.user === user) ?? null;
    },
    refusals,
    pending,
    change(jobs, change) {
      const allowed = jobs.filter(may).map((job) => job.jobId);
      const others = jobs.filter((job) => !may(job));
      // What was refused before is answered by this.
      setRefusals((before) => {
        const next = new Map(before);
        for (const job of jobs) next.delete(job.jobId);
        for (const job of others) next.set(job.jobId, refusal('PERMISSION_DENIED', words.notYours));
        return next;
      });
      if (allowed.length > 0) void send(allowed, change);
    },
  };
}
