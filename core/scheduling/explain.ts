/** Why a task was not placed: one sentence that names what was asked and what there is. */
import type { Cause } from '../contract/views.js';
import { formatSize } from '../formats/sizes.js';
import { closedCause, taintCause } from './closed.js';
import { machineOf, meetsRequired, meetsConstraint, showConstraint, untolerated } from './constraints.js';
import { describeCards, fitsTotals, formatCores, formatGpus, infeasibleFields } from './feasible.js';
import { matchingCards, type FreeWorker, type Need, type SchedulingWorker } from './free.js';
import type { JobSpec } from '../contract/job-request.js';

type Asked = Need & Pick<JobSpec, 'constraints'> & Partial<Pick<JobSpec, 'sharedGpuBytes'>>;

/** No machine is fit to take work; null when there is one. */
export function explainNoWorker(workers: readonly SchedulingWorker[]): Cause | null {
  if (workers.some((worker) => worker.healthy)) return null;
  const message =
    workers.length === 0
      ? 'No machine has reported yet.'
      : `No machine is ready: ${workers.map((worker) => worker.id).join(', ')} not healthy.`;
  return { code: 'WAITS_BACKEND_NOT_READY', message };
}

/** Why one task finds no place on these workers. `free` holds the healthy ones as the round left them. */
export function explain(
  asked: Asked,
  workers: readonly SchedulingWorker[],
  free: readonly FreeWorker[],
): Cause {
  const notReady = closedCause(asked, workers) ?? explainNoWorker(workers);
  if (notReady !== null) return notReady;
  const allowed = workers.filter((worker) => meetsRequired(asked.constraints, worker.attributes));
  if (allowed.length === 0) return explainConstraints(asked, workers);
  const tainted = taintCause(asked, allowed);
  if (tainted !== null) return tainted;
  if (!allowed.some((worker) => fitsTotals(asked, worker))) {
    return { code: 'WAITS_NO_WORKER_FITS', message: explainTotals(asked, allowed) };
  }
  const candidates = free.filter(
    ({ worker }) =>
      meetsRequired(asked.constraints, worker.attributes) &&
      untolerated(asked.constraints, worker.taints) === null &&
      fitsTotals(asked, worker),
  );
  return { code: 'WAITS_FOR_CAPACITY', message: explainCapacity(asked, candidates) };
}

function explainConstraints(asked: Asked, workers: readonly SchedulingWorker[]): Cause {
  const required = asked.constraints.filter((constraint) => constraint.mode === 'REQUIRED');
  const unmet = required.filter(
    (constraint) => !workers.some((worker) => meetsConstraint(constraint, worker.attributes)),
  );
  const shown = (unmet.length > 0 ? unmet : required).map(showConstraint).join(' and ');
  const there = unmet.map(({ key }) => {
    const values = [...new Set(workers.flatMap((worker) => worker.attributes[key] ?? []))];
    return values.length === 0 ? `no machine says anything of ${key}` : `${key} is ${values.join(', ')}`;
  });
  const rest = there.length === 0 ? 'no one machine meets all of it' : there.join('; ');
  return { code: 'WAITS_FOR_CONSTRAINT', message: `Asked for ${shown}; ${rest}.` };
}

function explainTotals(asked: Asked, workers: readonly SchedulingWorker[]): string {
  const fields = infeasibleFields(asked, workers);
  const [only] = fields;
  if (only === undefined) return 'No machine has what it asks for.';
  if (fields.length > 1 || only.field === 'gpu' || only.expected.startsWith('no machine')) {
    const parts = fields.map((field) => `${field.value} (there is ${field.expected})`);
    return `Asked for ${parts.join(' and ')}.`;
  }
  const largest =
    only.field === 'cpu'
      ? String(Math.max(...workers.map((worker) => worker.cpuMillicores)) / 1000)
      : formatSize(Math.max(...workers.map((worker) => worker.memoryBytes)));
  return `Asked for ${only.value}${only.field === 'memory' ? ' of memory' : ''}; the largest machine has ${largest}.`;
}

/** The worker that lacks the fewest things, and each thing it lacks. */
function explainCapacity(asked: Asked, candidates: readonly FreeWorker[]): string {
  if (candidates.length === 0) return 'Waits for a machine that could run it to become healthy.';
  let best: string[] | null = null;
  let where = '';
  for (const free of candidates) {
    const lacks = lacking(asked, free);
    if (best !== null && lacks.length >= best.length) continue;
    best = lacks;
    where = free.worker.id;
  }
  const sentence = (best ?? []).join(', ');
  // Free, but kept or promised.
  if (sentence === '') return `Waits for its turn: what is free on ${where} is kept for others.`;
  const only = machineOf(asked.constraints);
  if (only !== null) return `Waits for ${sentence}, only on ${only}.`;
  return `Waits for ${sentence}${candidates.length > 1 ? `, on ${where}` : ''}.`;
}

function lacking(asked: Asked, free: FreeWorker): string[] {
  const { worker } = free;
  const lacks: string[] = [];
  if (asked.cpuMillicores > free.cpuMillicores) {
    const counts = `${free.cpuMillicores / 1000} of ${worker.cpuMillicores / 1000} free`;
    lacks.push(`${formatCores(asked.cpuMillicores)} (${counts})`);
  }
  if (asked.memoryBytes > free.memoryBytes) {
    const counts = `${formatSize(free.memoryBytes)} of ${formatSize(worker.memoryBytes)} free`;
    lacks.push(`${formatSize(asked.memoryBytes)} of memory (${counts})`);
  }
  const all = matchingCards(worker.gpus, asked.gpuVariant);
  const open = matchingCards(free.cards, asked.gpuVariant);
  if (asked.gpuCount > open.length) {
    const busy = all.filter((gpu) => gpu.usable && gpu.busyByOthers);
    const users = [...new Set(busy.flatMap(({ usedBy }) => usedBy ?? []))].sort();
    const others = busy.length;
    const sick = all.filter((gpu) => !gpu.usable).length;
    const notes = [
      `${open.length} of ${all.length} free`,
      ...(others > 0 ? [`${others} used by ${users.length === 0 ? 'others' : users.join(', ')}`] : []),
      ...(sick > 0 ? [`${sick} not answering`] : []),
    ];
    const gpus = formatGpus(asked.gpuCount, asked.gpuVariant);
    const shared = asked.sharedGpuBytes ?? null;
    lacks.push(
      shared === null
        ? `${gpus} (${notes.join(', ')})`
        : `${formatSize(shared)} on ${gpus} it shares (${notes.join(', ')}, the others with too little left or not shared)`,
    );
  }
  return lacks;
}

/** Why a gang of `size` finds no place: `groups` are the workers by the attribute it is grouped by. */
export function explainGang(
  asked: Asked & Pick<JobSpec, 'gangBy'>,
  size: number,
  workers: readonly SchedulingWorker[],
  groups: readonly (readonly FreeWorker[])[],
  capacityOfEmptyGroup: (group: readonly FreeWorker[]) => number,
): Cause {
  const notReady = closedCause(asked, workers) ?? explainNoWorker(workers);
  if (notReady !== null) return notReady;
  if (groups.length === 0) {
    const message = `Asked for a gang grouped by ${asked.gangBy ?? ''}; no machine has that attribute.`;
    return { code: 'WAITS_FOR_CONSTRAINT', message };
  }
  const largest = Math.max(...groups.map(capacityOfEmptyGroup));
  const each = [
    formatCores(asked.cpuMillicores),
    formatSize(asked.memoryBytes),
    ...(asked.gpuCount > 0 ? [formatGpus(asked.gpuCount, asked.gpuVariant)] : []),
  ].join(', ');
  if (largest < size) {
    const there = describeCards(groups.flat().map((free) => free.worker));
    return {
      code: 'WAITS_NO_WORKER_FITS',
      message:
        `Asked for ${size} tasks at once, each with ${each}; the largest group of machines holds ${largest}` +
        `${asked.gpuCount > 0 ? ` (there is ${there})` : ''}.`,
    };
  }
  const message = `Waits for room for ${size} tasks at once, each with ${each}.`;
  return { code: 'WAITS_FOR_CAPACITY', message };
}
