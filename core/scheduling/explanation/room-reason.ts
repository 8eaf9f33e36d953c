/** Why there is no room for a task or a gang: the machines compared with what it needs. */
import type { WaitReason } from '../../contract/explanation.js';
import type { Cluster } from '../cluster.js';
import type { Decision, Placed } from '../decision.js';
import { closedCause, taintCause } from '../closed.js';
import { showConstraint } from '../constraints.js';
import { describeCards, describeWorker } from '../feasible.js';
import type { JobEntry } from '../queue.js';
import type { Rules } from '../rules.js';
import { isCandidate, passing } from '../shape.js';
import { compareOffers, needOf, Offers } from './offers.js';

export interface ExplainContext {
  readonly cluster: Cluster;
  /** The last one about that cluster; null before the first. */
  readonly decision: Decision | null;
  /** What it placed, while that is not carried out in the cluster yet. */
  readonly placed?: readonly Placed[];
  readonly rules: Rules;
  readonly nowMs: number;
  /** By when an attempt that was told to leave is stopped; null when nobody knows. */
  readonly deadlineOf?: (uid: string) => number | null;
}

export function roomReason(context: ExplainContext, entry: JobEntry): WaitReason {
  const { table } = context.cluster;
  entry.shape.refresh(table);
  const closed = closedCause(
    {
      ...needOf(entry, context.cluster),
      constraints: entry.job.constraints,
      container: entry.shape.contained,
    },
    table.workers,
  );
  if (closed !== null) return { kind: 'backend', ...closed };
  if (!table.healthy.includes(1))
    return { kind: 'no-machine', workerIds: table.workers.map(({ id }) => id).slice(0, 20) };
  if (entry.shape.impossible) return impossibleReason(context, entry);
  return entry.job.gangBy === null ? taskReason(context, entry) : gangReason(context, entry);
}

function impossibleReason({ cluster }: ExplainContext, entry: JobEntry): WaitReason {
  const { table } = cluster;
  const required = entry.job.constraints.filter(({ mode }) => mode === 'REQUIRED');
  const passes = required.map((constraint) => passing(table, constraint));
  const allowed: number[] = [];
  for (let worker = 0; worker < table.count; worker += 1)
    if (passes.every((pass) => pass(worker))) allowed.push(worker);
  if (allowed.length === 0 && required.length > 0) {
    const constraints = required.map((constraint, at) => {
      let allows = 0;
      for (let worker = 0; worker < table.count; worker += 1) if (passes[at]?.(worker) === true) allows += 1;
      const { key } = constraint;
      const values = [...new Set(table.column(key).values.map(String))].slice(0, 10);
      return { text: showConstraint(constraint), key, allows, values };
    });
    return { kind: 'constraint', constraints, machines: table.count, together: 0 };
  }
  const tainted = taintCause(
    entry.job,
    allowed.flatMap((worker) => table.workers[worker] ?? []),
  );
  if (tainted !== null) return { kind: 'backend', ...tainted };
  const row = entry.shape.row * table.count;
  const need = needOf(entry, cluster);
  // A model nobody has: cards of others do not count.
  const unknownModel = entry.shape.row === 0 && need.gpuVariant !== null && need.gpuCount > 0;
  const cardsOf = (worker: number) => (unknownModel ? 0 : (table.cards[row + worker] ?? 0));
  const holds = (worker: number) =>
    (table.cpu[worker] ?? 0) >= need.cpuMillicores &&
    (table.memory[worker] ?? 0) >= need.memoryBytes &&
    cardsOf(worker) >= need.gpuCount;
  if (allowed.some((worker) => table.healthy[worker] !== 1 && holds(worker))) {
    const message = 'Waits for a machine that could run it to become healthy.';
    return { kind: 'backend', code: 'WAITS_FOR_CAPACITY', message };
  }
  const most = (column: (worker: number) => number) => Math.max(0, ...allowed.map(column));
  const largest = {
    cpuMillicores: most((worker) => table.cpu[worker] ?? 0),
    memoryBytes: most((worker) => table.memory[worker] ?? 0),
    gpuCount: most(cardsOf),
    gpuVariant: need.gpuVariant,
  };
  const each = allowed.flatMap((worker) => table.workers[worker] ?? []);
  const together =
    need.cpuMillicores <= largest.cpuMillicores &&
    need.memoryBytes <= largest.memoryBytes &&
    need.gpuCount <= largest.gpuCount;
  const cards = together ? each.slice(0, 5).map(describeWorker).join('; ') : describeCards(each);
  return { kind: 'too-large', need, largest, cards };
}

function taskReason(context: ExplainContext, entry: JobEntry): WaitReason {
  const { cluster, rules } = context;
  const { table } = cluster;
  const { shape } = entry;
  const offers = new Offers(cluster, context.nowMs, context.placed);
  const kept = keptForOthers(context, entry);
  let best = null;
  let possible = 0;
  let free: string | null = null;
  let waitsForSlot: string | null = null;
  let full = 0;
  for (let worker = 0; worker < table.count; worker += 1) {
    if (!isCandidate(shape, worker)) continue;
    possible += 1;
    const id = table.workers[worker]?.id ?? '';
    if (offers.fits(shape, worker)) {
      if (kept.has(worker) || offers.hasSlot(worker, rules.buildSlots)) free ??= id;
      else {
        full += 1;
        waitsForSlot ??= id;
      }
      continue;
    }
    const offer = offers.offer(shape, worker);
    if (best === null || compareOffers(offer, best) < 0) best = offer;
  }
  if (waitsForSlot !== null) return { kind: 'build-slots', workerId: waitsForSlot, machines: full };
  if (free !== null || best === null) return { kind: 'turn', workerId: free };
  return { kind: 'capacity', need: needOf(entry, cluster), possible, best };
}

function gangReason(context: ExplainContext, entry: JobEntry): WaitReason {
  const { cluster } = context;
  const { shape, job } = entry;
  const { table } = cluster;
  const by = job.gangBy ?? '';
  const offers = new Offers(cluster, context.nowMs, context.placed);
  const kept = keptForOthers(context, entry);
  const size = Math.max(entry.indexes.length, entry.claims.length);
  let fits = 0;
  let largest = 0;
  let group: string | null = null;
  const { members } = table.groups(by);
  for (const machines of members) {
    let room = 0;
    let empty = 0;
    for (const worker of machines) {
      if (!isCandidate(shape, worker)) continue;
      empty += offers.emptyRoom(shape, worker);
      if (!kept.has(worker)) room += offers.room(shape, worker);
    }
    largest = Math.max(largest, empty);
    if (room <= fits && group !== null) continue;
    fits = room;
    const first = table.workers[machines[0] ?? 0];
    group = by === 'worker' ? (first?.id ?? '') : String(first?.attributes[by] ?? '');
  }
  if (fits >= size) return { kind: 'turn', workerId: null };
  return {
    kind: 'gang',
    size,
    fits,
    largest,
    groupBy: by,
    group,
    groups: members.length,
    need: needOf(entry, cluster),
  };
}

/** Machines reserved for another job: what is free there is nobody else's. */
export function keptForOthers({ cluster, decision }: ExplainContext, entry: JobEntry): Set<number> {
  const kept = new Set<number>();
  for (const { jobId, workerIds } of decision?.reservations ?? []) {
    if (jobId === entry.job.id) continue;
    for (const id of workerIds) kept.add(cluster.table.positions.get(id) ?? -1);
  }
  return kept;
}
