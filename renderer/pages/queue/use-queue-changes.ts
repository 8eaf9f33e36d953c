/** Changes of waiting jobs: who may, what is under way, and what was refused, by job. */
import { useCallback, useState } from 'react';
import { refusal, type Refusal } from '../../../core/contract/errors.js';
import type { JobChange, QueuedJobView } from '../../../core/contract/queue.js';
import type { BudgetView } from '../../../core/contract/budgets.js';
import { useToast } from '../../components/toasts.js';
import { useIsShown } from '../../components/use-is-shown.js';
import { useHost } from '../../state/desktop-context.js';
import { changeJobs } from '../../state/job-changes.js';
import { useBudgets } from '../../state/use-budgets.js';
import { jobs } from '../../strings/jobs.js';
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
  const toast = useToast();
  const isShown = useIsShown();
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
      if (isShown.current) {
        setRefusals((before) => new Map([...before, ...refused]));
        return;
      }
      const [first] = refused;
      if (first === undefined) return;
      const [id, { message }] = first;
      const text =
        ids.length === 1
          ? jobs.changeFailed(id.slice(id.lastIndexOf('/') + 1), message)
          : jobs.changeFailedMany(refused.size, ids.length, message);
      toast({ tone: 'error', text });
    },
    [host, isShown, toast],
  );

  return {
    me: live?.me ?? null,
    may,
    budgetOf: (of) => {
      const user = of[0]?.user;
      if (live === null || of.some((job) => job.user !== user)) return null;
      return live.rows.find((row) => row.user === user) ?? null;
    },
    refusals,
    pending,
    change(wanted, change) {
      const allowed = wanted.filter(may).map((job) => job.jobId);
      const others = wanted.filter((job) => !may(job));
      // What was refused before is answered by this.
      setRefusals((before) => {
        const next = new Map(before);
        for (const job of wanted) next.delete(job.jobId);
        for (const job of others) next.set(job.jobId, refusal('PERMISSION_DENIED', words.notYours));
        return next;
      });
      if (allowed.length > 0) void send(allowed, change);
    },
  };
}
