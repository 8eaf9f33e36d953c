/** Two change sets of one round as one transaction: of a row changed twice the second version counts. */
import type { ChangeSet } from '../../core/model/entities.js';

export const noChanges: ChangeSet = {
  jobs: [],
  tasks: [],
  attempts: [],
  budgets: [],
  uses: [],
  machines: [],
  audit: [],
  inbox: [],
  receipts: [],
  meta: {},
};

export function mergeChanges(first: ChangeSet, second: ChangeSet): ChangeSet {
  return {
    jobs: lastOf(first.jobs, second.jobs, (job) => job.id),
    tasks: lastOf(first.tasks, second.tasks, (task) => task.id),
    attempts: lastOf(first.attempts, second.attempts, (attempt) => attempt.uid),
    budgets: lastOf(first.budgets, second.budgets, (budget) => budget.user),
    uses: lastOf(first.uses, second.uses, (use) => use.user),
    machines: lastOf(first.machines, second.machines, (machine) => machine.id),
    audit: [...first.audit, ...second.audit],
    inbox: [...first.inbox, ...second.inbox],
    receipts: [...first.receipts, ...second.receipts],
    meta: { ...first.meta, ...second.meta },
  };
}

function lastOf<Row>(
  first: readonly Row[],
  second: readonly Row[],
  key: (row: Row) => string,
): readonly Row[] {
  if (second.length === 0) return first;
  if (first.length === 0) return second;
  const rows = new Map(first.map((row) => [key(row), row]));
  for (const row of second) rows.set(key(row), row);
  return [...rows.values()];
}

/** True when there is nothing to write. */
export function isEmpty(changes: ChangeSet): boolean {
  return (
    changes.jobs.length === 0 &&
    changes.tasks.length === 0 &&
    changes.attempts.length === 0 &&
    changes.budgets.length === 0 &&
    changes.uses.length === 0 &&
    changes.machines.length === 0 &&
    changes.audit.length === 0 &&
    changes.inbox.length === 0 &&
    changes.receipts.length === 0 &&
    Object.keys(changes.meta).length === 0
  );
}
