/** Machines that could run something but take nothing new: cordoned, drained, not to be reached, or without Docker for a container. */
import type { Constraint } from '../contract/job-request.js';
import type { Cause } from '../contract/views.js';
import { meetsRequired, untolerated } from './constraints.js';
import { fitsTotals } from './feasible.js';
import type { Need, SchedulingWorker } from './free.js';

const maxNamed = 3;

type Asked = Need & { readonly constraints: readonly Constraint[]; readonly container?: boolean };

/** Of the machines that could run it, when none of them takes anything; null when one does, when there is none, or none says why. */
export function closedCause(asked: Asked, workers: readonly SchedulingWorker[]): Cause | null {
  const fit = workers.filter(
    (worker) =>
      meetsRequired(asked.constraints, worker.attributes) &&
      untolerated(asked.constraints, worker.taints) === null &&
      fitsTotals(asked, worker),
  );
  const lacking = (worker: SchedulingWorker): string | null =>
    asked.container === true ? (worker.noContainers ?? null) : null;
  if (fit.some((worker) => worker.healthy && lacking(worker) === null)) return null;
  const clauses = fit.flatMap((worker) => worker.closed ?? lacking(worker) ?? []);
  if (clauses.length === 0) return null;
  const more =
    clauses.length > maxNamed ? ` and ${clauses.length - maxNamed} more take no new tasks either` : '';
  const helped = fit.some((worker) => (worker.closed ?? null) === null && lacking(worker) !== null);
  const help = helped ? ' What to do is told by irisctl docker check and on the page of the machine.' : '';
  const message = `Waits: ${clauses.slice(0, maxNamed).join(', ')}${more}.${help}`;
  return { code: 'WAITS_BACKEND_NOT_READY', message };
}

/** All machines its constraints allow are tainted with something it does not tolerate; null when one is not. */
export function taintCause(
  { constraints }: Pick<Asked, 'constraints'>,
  workers: readonly SchedulingWorker[],
): Cause | null {
  const [first] = workers;
  const taint = first === undefined ? null : untolerated(constraints, first.taints);
  if (first === undefined || taint === null) return null;
  if (workers.some((worker) => untolerated(constraints, worker.taints) === null)) return null;
  const { key, value } = taint;
  const others = workers.length === 1 ? '' : ` and ${workers.length - 1} more like it`;
  const message =
    `${first.id}${others} could run it but ${workers.length === 1 ? 'is' : 'are'} kept for jobs that say ${key}=${value}; ` +
    `to be one of them, add --constraint ${key}=${value}.`;
  return { code: 'WAITS_FOR_CONSTRAINT', message };
}
