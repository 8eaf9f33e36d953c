/** Machines as the scheduler is offered them: what was observed, with what is set of each by hand. */
import type { GpuView } from '../../core/contract/gpus.js';
import type { Contact, MachineView } from '../../core/contract/machines.js';
import type { Machine } from '../../core/model/entities.js';
import { mostSharers } from '../../core/model/assign.js';
import { machineAttribute } from '../../core/model/machine-change.js';
import type { SchedulingGpu, SchedulingWorker } from '../../core/scheduling/free.js';
import type { WorkerObservation } from '../backends/backend.js';

/**
 * Observed machines, without those that were removed a moment ago, and those that were added but that no backend has told of yet:
 * these are waited for, never dropped.
 */
export function withAdded(
  observed: readonly WorkerObservation[],
  rows: Iterable<Machine>,
): readonly WorkerObservation[] {
  const missing = new Map([...rows].filter((row) => row.address !== null).map((row) => [row.id, row]));
  const members = observed.filter(({ id, address }) => missing.delete(id) || address === undefined);
  return [...members, ...[...missing.values()].map(notSeenYet)];
}

function notSeenYet({ id, address, addedAtMs }: Machine): WorkerObservation {
  return {
    id,
    hostname: id,
    state: 'DEGRADED',
    cpuMillicores: 0,
    memoryBytes: 0,
    gpus: [],
    gpuNote: null,
    attributes: {},
    platform: 'not known yet',
    cpuModel: 'not known yet',
    cpuCount: 0,
    cpuBusyPercent: null,
    memoryAvailableBytes: 0,
    disks: [],
    sampledAtMs: addedAtMs,
    address: address ?? undefined,
    contact: { state: 'CONNECTING', sinceMs: addedAtMs, lastContactMs: null, message: null },
  };
}

/** What a machine says of itself, what is set by hand over it, its taints, and its name. */
export function attributesOf(
  worker: Pick<WorkerObservation, 'id' | 'attributes'>,
  row: Machine | undefined,
): Readonly<Record<string, string | number>> {
  const taints = Object.fromEntries((row?.taints ?? []).map(({ key, value }) => [key, value]));
  return { ...worker.attributes, ...row?.attributes, ...taints, [machineAttribute]: worker.id };
}

export function offerOf(worker: WorkerObservation, row: Machine | undefined): SchedulingWorker {
  const closed = closedClause(worker, row?.scheduling ?? 'OPEN');
  const attributes = attributesOf(worker, row);
  return {
    id: worker.id,
    healthy: closed === null,
    ...(closed === null ? {} : { closed }),
    cpuMillicores: worker.cpuMillicores,
    memoryBytes: worker.memoryBytes,
    ...(worker.others === undefined ? {} : { others: worker.others }),
    gpuNote: worker.gpuNote,
    gpus: cardsOf(worker.gpus, attributes),
    attributes,
    ...noContainersOn(worker),
    ...(row === undefined || row.taints.length === 0 ? {} : { taints: row.taints }),
  };
}

const schedulingWords: Readonly<Record<MachineView['scheduling'], string | null>> = {
  OPEN: null,
  CORDONED: 'is cordoned',
  DRAINING: 'is being drained',
  DRAINED: 'is drained',
};
const contactWords: Readonly<Record<Contact['state'], string>> = {
  CONNECTED: 'is not healthy',
  CONNECTING: 'is not connected yet',
  ANSWER_NEEDED: 'waits for an answer at its login',
  UNREACHABLE: 'cannot be reached',
  OFF: 'is off',
};

/** Of a machine that says nothing of Docker it is not known that it has none. */
function noContainersOn({ id, docker }: WorkerObservation): Pick<SchedulingWorker, 'noContainers'> {
  switch (docker?.state) {
    case undefined:
    case 'READY':
      return {};
    case 'ABSENT':
      return { noContainers: `${id} has no Docker` };
    case 'FAILED':
      return { noContainers: `Docker on ${id} cannot be used` };
    case 'UNKNOWN':
      return { noContainers: `Docker on ${id} was not looked at yet` };
  }
}

/** Without times or figures: it is compared to see whether anything has changed. */
function closedClause(worker: WorkerObservation, scheduling: MachineView['scheduling']): string | null {
  const asked = schedulingWords[scheduling];
  if (asked !== null) return `${worker.id} ${asked}`;
  if (worker.state === 'HEALTHY') return null;
  if (worker.startsNothing === true) return `${worker.id} could start none of the last tasks it was given`;
  return `${worker.id} ${contactWords[worker.contact?.state ?? 'CONNECTED']}`;
}

/** Set by hand to `ignore`: cards on which others compute are given out as well. */
const busyAttribute = 'busy-gpus';
/** Set by hand: cards in the order they are given out, by number or UUID, parted by blanks or commas; those not named come last. */
const orderAttribute = 'gpu-order';

/** Set by hand: tasks that may share one card at most; 1: none does. */
const sharersAttribute = 'gpu-sharers';
/** A 128th of a card and less of its memory is no news: else every sample were one. */
const memorySteps = 128;

/** What tasks that share a card need to know of it. */
function sharedPart(
  { memoryTotalBytes, memoryUsedBytes, processes }: GpuView,
  sharers: string | number | undefined,
): Pick<SchedulingGpu, 'memory' | 'maxSharers'> {
  const most = sharers === undefined ? {} : { maxSharers: mostOf(sharers) };
  if (memoryTotalBytes === null || memoryUsedBytes === null || memoryTotalBytes <= 0) return most;
  const step = memoryTotalBytes / memorySteps;
  const byAttempt: Record<string, number> = {};
  for (const { attemptUid, usedBytes } of processes)
    if (attemptUid !== null && usedBytes !== null)
      byAttempt[attemptUid] = (byAttempt[attemptUid] ?? 0) + usedBytes;
  for (const [uid, bytes] of Object.entries(byAttempt)) byAttempt[uid] = Math.floor(bytes / step) * step;
  const memory = {
    totalBytes: memoryTotalBytes,
    usedBytes: Math.ceil(memoryUsedBytes / step) * step,
    ...(Object.keys(byAttempt).length === 0 ? {} : { byAttempt }),
  };
  return { ...most, memory };
}

function mostOf(value: string | number): number {
  const number = Number(value);
  return Number.isInteger(number) && number >= 1 ? Math.min(number, mostSharers) : 1;
}

function cardsOf(gpus: readonly GpuView[], attributes: SchedulingWorker['attributes']): SchedulingGpu[] {
  const order = String(attributes[orderAttribute] ?? '')
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  const ignoresUse = attributes[busyAttribute] === 'ignore';
  return gpus.map((gpu) => {
    const card = { ...cardOf(gpu, gpus, ignoresUse), ...sharedPart(gpu, attributes[sharersAttribute]) };
    if (order.length === 0) return card;
    const place = order.findIndex((word) => word === gpu.uuid || word === String(gpu.index));
    // The user's own order goes before neighbourhoods.
    const { uuid, variant, busyByOthers, usable, kept, usedBy, memory, maxSharers } = card;
    const index = place < 0 ? order.length + gpu.index : place;
    return {
      uuid,
      index,
      variant,
      busyByOthers,
      usable,
      ...(kept === undefined ? {} : { kept }),
      ...(usedBy === undefined ? {} : { usedBy }),
      ...(memory === undefined ? {} : { memory }),
      ...(maxSharers === undefined ? {} : { maxSharers }),
    };
  });
}

function cardOf(gpu: GpuView, all: readonly GpuView[], ignoresUse: boolean): SchedulingGpu {
  const { uuid, index, variant, state, claimedBy, numaNode, processes } = gpu;
  const busy = gpu.busyByOthers && !ignoresUse;
  const users = processes.flatMap((each) =>
    each.computes && each.attemptUid === null ? (each.user ?? []) : [],
  );
  const usedBy = [...new Set([...claimedBy, ...(busy ? users : [])])].sort();
  const linkGroup = linkGroupOf(gpu, all);
  return {
    uuid,
    index,
    variant,
    busyByOthers: busy || claimedBy.length > 0,
    usable: state !== 'SICK' && state !== 'SILENT',
    ...(state === 'SICK' ? { kept: true } : {}),
    ...(usedBy.length === 0 ? {} : { usedBy }),
    ...(numaNode === null ? {} : { numaNode }),
    ...(linkGroup === null ? {} : { linkGroup }),
  };
}

/** Cards with a link to each other are a group, named by the lowest index in it. */
function linkGroupOf({ uuid, nvlinkTo }: GpuView, all: readonly GpuView[]): number | null {
  if (nvlinkTo === null || nvlinkTo.length === 0) return null;
  const linked = all.filter((other) => other.uuid === uuid || nvlinkTo.includes(other.uuid));
  return linked.length < 2 ? null : Math.min(...linked.map(({ index }) => index));
}
