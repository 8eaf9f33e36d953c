/** What would make a waiting task start: the nearest change of each kind, each by itself. */
import type { Remedy, WaitReason } from '../../contract/explanation.js';
import { formatSize } from '../../formats/sizes.js';
import { timeText } from '../../formats/times.js';
import { showConstraint, untolerated } from '../constraints.js';
import { formatCores, formatGpus } from '../feasible.js';
import type { JobEntry } from '../queue.js';
import { isCandidate, passing, Shape } from '../shape.js';
import { Offers } from './offers.js';
import { earliestRoom } from './known-ends.js';
import { keptForOthers, type ExplainContext } from './room-reason.js';

const gib = 2 ** 30;
const mib = 2 ** 20;

export function remediesOf(
  context: ExplainContext,
  entry: JobEntry,
  reasons: readonly WaitReason[],
): Remedy[] {
  const kinds = new Set(reasons.map(({ kind }) => kind));
  const remedies: Remedy[] = [];
  if (kinds.has('hold')) remedies.push({ kind: 'release', text: 'It may start once it is released.' });
  for (const reason of reasons) {
    if (reason.kind === 'job-cap')
      remedies.push({
        kind: 'raise-job-cap',
        most: reason.active + 1,
        text: `One more of its tasks may start if ${reason.active + 1} may be active at the same time.`,
      });
  }
  const lacksRoom = ['capacity', 'too-large', 'constraint'].some((kind) =>
    kinds.has(kind as WaitReason['kind']),
  );
  if (lacksRoom && entry.job.gangBy === null)
    remedies.push(...smaller(context, entry), ...otherwise(context, entry));
  remedies.push(...reasons.flatMap(released));
  for (const reason of reasons) {
    if (reason.kind === 'gang' && reason.fits > 0 && reason.fits < reason.size)
      remedies.push({
        kind: 'fewer-replicas',
        replicas: reason.fits,
        group: reason.group,
        text: `With ${reason.fits} ${reason.fits === 1 ? 'replica' : 'replicas'} instead of ${reason.size} it fits now.`,
      });
  }
  if (kinds.has('capacity') || kinds.has('gang')) remedies.push(...waiting(context, entry));
  for (const reason of reasons) {
    if (reason.kind === 'demoted')
      remedies.push({
        kind: 'raise-limit',
        user: reason.user,
        limit: reason.spend,
        spend: reason.spend,
        text:
          `It competes as ${reason.asked} again when ${reason.user} uses no more than ${reason.limit}, ` +
          `or with a limit of at least ${reason.spend}.`,
      });
  }
  return remedies;
}

/** Cards that are kept from jobs on the machine that is nearest to having room, if nothing but cards is missing there. */
function released(reason: WaitReason): Remedy[] {
  if (reason.kind !== 'capacity') return [];
  const { lacks, gpusKept, workerId } = reason.best;
  const [lack] = lacks;
  if (lack?.resource !== 'gpu' || lacks.length > 1 || reason.need.sharedGpuBytes !== undefined) return [];
  const gpuCount = lack.needed - lack.free;
  if (gpuCount > gpusKept) return [];
  const cards = gpuCount === 1 ? '1 GPU' : `${gpuCount} GPUs`;
  const text = `It fits on ${workerId} with ${cards} released that it keeps from jobs; it tells of each why.`;
  return [{ kind: 'release-gpu', gpuCount, workerId, text }];
}

/** The same task with less of one resource: the most that fits on one machine now. */
function smaller(context: ExplainContext, entry: JobEntry): Remedy[] {
  const { cluster, placed, nowMs } = context;
  const { shape, job } = entry;
  const { table } = cluster;
  const kept = keptForOthers(context, entry);
  const offers = new Offers(cluster, nowMs, placed);
  const best = { cpu: 0, cpuOn: '', memory: 0, memoryOn: '', gpus: 0, gpusOn: '' };
  const passes = job.constraints
    .filter(({ mode }) => mode === 'REQUIRED')
    .map((constraint) => passing(table, constraint));
  for (let worker = 0; worker < table.count; worker += 1) {
    if (shape.contained && table.containers[worker] !== 1) continue;
    if (table.healthy[worker] !== 1 || kept.has(worker) || !passes.every((pass) => pass(worker))) continue;
    if (untolerated(job.constraints, table.workers[worker]?.taints) !== null) continue;
    const [cpu, memory] = [offers.cpu(worker), offers.memory(worker)];
    const cards = shape.gpus === 0 ? 0 : offers.cards(worker, shape);
    const [enoughCpu, enoughMemory] = [cpu >= shape.cpu, memory >= shape.memory];
    const enoughCards = cards >= shape.gpus;
    const id = table.workers[worker]?.id ?? '';
    if (!enoughCpu && enoughMemory && enoughCards && cpu > best.cpu) [best.cpu, best.cpuOn] = [cpu, id];
    if (enoughCpu && !enoughMemory && enoughCards && memory > best.memory)
      [best.memory, best.memoryOn] = [memory, id];
    if (enoughCpu && enoughMemory && !enoughCards && cards > best.gpus)
      [best.gpus, best.gpusOn] = [cards, id];
  }
  const remedies: Remedy[] = [];
  const cpuMillicores = best.cpu >= 1000 ? best.cpu - (best.cpu % 1000) : best.cpu - (best.cpu % 100);
  if (cpuMillicores > 0) {
    const text = `With ${formatCores(cpuMillicores)} instead of ${shape.cpu / 1000} it fits now, on ${best.cpuOn}.`;
    remedies.push({ kind: 'fewer-cpus', cpuMillicores, workerId: best.cpuOn, text });
  }
  const memoryBytes = best.memory - (best.memory % (best.memory >= gib ? gib : mib));
  if (memoryBytes > 0) {
    const text = `With ${formatSize(memoryBytes)} of memory instead of ${formatSize(shape.memory)} it fits now, on ${best.memoryOn}.`;
    remedies.push({ kind: 'less-memory', memoryBytes, workerId: best.memoryOn, text });
  }
  if (best.gpus > 0) {
    const gpuVariant = table.variants[shape.row - 1] ?? null;
    const text = `With ${formatGpus(best.gpus, gpuVariant)} instead of ${shape.gpus} it fits now, on ${best.gpusOn}.`;
    remedies.push({ kind: 'fewer-gpus', gpuCount: best.gpus, gpuVariant, workerId: best.gpusOn, text });
  }
  return remedies;
}

/** The same task on other cards, or without one of its constraints. */
function otherwise(context: ExplainContext, entry: JobEntry): Remedy[] {
  const { cluster, placed, nowMs } = context;
  const { shape, job } = entry;
  const { table } = cluster;
  const kept = keptForOthers(context, entry);
  const offers = new Offers(cluster, nowMs, placed);
  const firstFor = (wanted: Shape): string | null => {
    wanted.refresh(table);
    for (let worker = 0; worker < table.count; worker += 1)
      if (!kept.has(worker) && isCandidate(wanted, worker) && offers.fits(wanted, worker))
        return table.workers[worker]?.id ?? null;
    return null;
  };
  const remedies: Remedy[] = [];
  const own = table.variants[shape.row - 1] ?? job.gpuVariant;
  // A card asked for by name tends to be a constraint as well: that goes with it.
  const constraints = job.constraints.filter(({ key }) => key !== 'device-variant');
  for (const gpuVariant of shape.gpus > 0 && own !== null ? table.variants : []) {
    if (gpuVariant === own) continue;
    const workerId = firstFor(new Shape('', { ...job, gpuCount: shape.gpus, gpuVariant, constraints }));
    if (workerId === null) continue;
    const text = `With ${formatGpus(shape.gpus, gpuVariant)} instead of ${own} it fits now, on ${workerId}.`;
    remedies.push({ kind: 'other-gpu', gpuCount: shape.gpus, gpuVariant, workerId, text });
  }
  for (const constraint of job.constraints) {
    if (constraint.mode !== 'REQUIRED') continue;
    const rest = job.constraints.filter((other) => other !== constraint);
    const workerId = firstFor(new Shape('', { ...job, constraints: rest }));
    if (workerId === null) continue;
    const shown = showConstraint(constraint);
    const text = `Without ${shown} it fits now, on ${workerId}.`;
    remedies.push({ kind: 'drop-constraint', constraint: shown, workerId, text });
  }
  return remedies;
}

function waiting(context: ExplainContext, entry: JobEntry): Remedy[] {
  const found = earliestRoom(context, entry);
  if (found === null) return [];
  const { jobId, endMs, workerId } = found;
  const text = `There is room on ${workerId} when ${jobId} ends, at ${timeText(endMs)} by its time limit.`;
  return [{ kind: 'wait-for', jobId, endMs, workerId, text }];
}
