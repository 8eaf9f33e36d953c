/** Cards as the tool tells of them turned into what jobs can be given: whole cards, or the slices they are divided into. */
import { plainGpu, type GpuProcessView, type GpuView } from '../../core/contract/gpus.js';
import { formatSize } from '../../core/formats/sizes.js';
import type { NvidiaCard, NvidiaProcess, NvidiaSlice } from '../../core/formats/nvidia-smi/card.js';
import type { ListedCard } from '../../core/formats/nvidia-smi/cards-list.js';
import type { CardTopology } from '../../core/formats/nvidia-smi/topology.js';

export interface GpuSurroundings {
  /** Attempt of ours that a process belongs to. */
  readonly attemptOf: (pid: number) => string | null;
  readonly userOf: (pid: number) => string | null;
  readonly hostMemoryBytes: number;
  readonly listed: readonly ListedCard[];
  /** Null: not readable here. */
  readonly topology: ReadonlyMap<number, CardTopology> | null;
  readonly cards: readonly NvidiaCard[];
}

/** One of a whole card, one of each slice of a divided card, which itself is given to nobody. */
export function viewsOf(card: NvidiaCard, around: GpuSurroundings): readonly GpuView[] {
  if (card.slices.length > 0) return card.slices.map((slice) => sliceView(card, slice, around));
  const view = cardView(card, around);
  const reason = unusable(card);
  return [reason === null ? view : { ...view, state: 'SICK', stateReason: reason }];
}

/** Why no program can compute on it as it is set; null: some can. */
function unusable({ migEnabled, computeMode }: NvidiaCard): string | null {
  if (migEnabled)
    return 'MIG is on and it has no slices: make some with nvidia-smi mig -cgi, or turn MIG off.';
  return computeMode === 'Prohibited'
    ? 'It is in prohibited mode, in which nothing can compute on it: nvidia-smi -c 0 lets programs use it again.'
    : null;
}

function cardView(card: NvidiaCard, around: GpuSurroundings): GpuView {
  const processes = card.processes.map((process) => processView(process, around));
  const own = around.topology?.get(card.index);
  const shared = card.sharesHostMemory;
  return {
    ...plainGpu,
    ...measuresOf(card),
    uuid: card.uuid,
    index: card.index,
    name: card.name,
    variant: card.variant,
    note: noteOf(card),
    memoryUsedBytes: card.memoryUsedBytes ?? (shared ? usedBy(processes) : null),
    memoryTotalBytes: card.memoryTotalBytes ?? (shared ? around.hostMemoryBytes : null),
    sharesHostMemory: shared,
    powerWatts: card.powerWatts,
    powerLimitWatts: card.powerLimitWatts,
    numaNode: own?.numaNode ?? null,
    nvlinkTo: own === undefined ? null : uuidsAt(own.nvlinkTo, around.cards),
    ...useOf(processes),
    claimedBy: [],
  };
}

function measuresOf(card: NvidiaCard) {
  const { busId, utilizationPercent, temperatureCelsius, clockMhz, memoryClockMhz, eccUncorrected } = card;
  return { busId, utilizationPercent, temperatureCelsius, clockMhz, memoryClockMhz, eccUncorrected };
}

/** The same with the figures of a later moment. */
export function measuredNow(view: GpuView, card: NvidiaCard): GpuView {
  const { temperatureCelsius, clockMhz, memoryClockMhz, utilizationPercent, powerWatts } = card;
  const moved = { ...view, temperatureCelsius, clockMhz, memoryClockMhz };
  if (view.parentUuid !== null) return moved;
  const memoryUsedBytes = card.memoryUsedBytes ?? (view.sharesHostMemory ? view.memoryUsedBytes : null);
  return { ...moved, utilizationPercent, powerWatts, memoryUsedBytes, eccUncorrected: card.eccUncorrected };
}

/** What is unknown only because the memory is the machine's is no news. */
function noteOf(card: NvidiaCard): string | null {
  if (!card.sharesHostMemory) return card.note;
  const rest = (card.note ?? '').replaceAll(/memory (?:used|total) [^,;]*(?:, )?/g, '').replace(/,? *$/, '');
  const others = rest === 'unknown:' || rest === '' ? '' : `; ${rest}`;
  return `uses the memory of the machine${others}`;
}

function usedBy(processes: readonly GpuProcessView[]): number | null {
  const known = processes.filter(({ usedBytes }) => usedBytes !== null);
  // A tool that tells of no process does not say that there is none.
  if (known.length === 0) return null;
  return known.reduce((sum, { usedBytes }) => sum + (usedBytes ?? 0), 0);
}

/** Its use and its power are those of the whole card, so it has none of its own. */
function sliceView(card: NvidiaCard, slice: NvidiaSlice, around: GpuSurroundings): GpuView {
  const listed = around.listed
    .find(({ uuid }) => uuid === card.uuid)
    ?.slices.find(({ index }) => index === slice.index);
  const profile = listed?.profile ?? sizeOf(slice);
  const instance = slice.gpuInstanceId ?? slice.index;
  const processes = card.processes
    .filter(({ gpuInstanceId }) => gpuInstanceId === null || gpuInstanceId === slice.gpuInstanceId)
    .map((process) => processView(process, around));
  const watts = card.powerWatts === null ? '' : `, which draws ${card.powerWatts} W`;
  return {
    ...cardView({ ...card, processes: [] }, around),
    // Without its UUID CUDA knows it by the card and the two instances.
    uuid: listed?.uuid ?? `MIG-${card.uuid}/${instance}/${slice.computeInstanceId ?? 0}`,
    name: `${card.name} MIG ${profile} (instance ${instance})`,
    variant: `mig-${profile}`,
    parentUuid: card.uuid,
    utilizationPercent: null,
    powerWatts: null,
    powerLimitWatts: null,
    memoryUsedBytes: slice.memoryUsedBytes,
    memoryTotalBytes: slice.memoryTotalBytes,
    eccUncorrected: slice.eccUncorrected,
    note: `a slice of ${card.uuid}${watts}; its own utilization is not told`,
    ...useOf(processes),
  };
}

function sizeOf({ index, memoryTotalBytes }: NvidiaSlice): string {
  return memoryTotalBytes === null ? `slice-${index}` : `${Math.ceil(memoryTotalBytes / 1024 ** 3)}gb`;
}

function uuidsAt(indexes: readonly number[], cards: readonly NvidiaCard[]): string[] {
  return cards.filter(({ index }) => indexes.includes(index)).map(({ uuid }) => uuid);
}

function processView(process: NvidiaProcess, around: GpuSurroundings): GpuProcessView {
  const { pid, name, usedBytes, computes } = process;
  return { pid, name, usedBytes, computes, user: around.userOf(pid), attemptUid: around.attemptOf(pid) };
}

/** Ours is what belongs to attempts of ours. */
function useOf(
  processes: readonly GpuProcessView[],
): Pick<GpuView, 'processes' | 'busyByOthers' | 'state' | 'stateReason'> {
  const others = processes.filter(({ computes, attemptUid }) => computes && attemptUid === null);
  return {
    processes: [...processes],
    busyByOthers: others.length > 0,
    state: others.length > 0 ? 'BUSY' : 'FREE',
    stateReason: others.length > 0 ? `Used by ${others.slice(0, 3).map(processName).join(', ')}.` : null,
  };
}

/** `python of ann (process 4001, 22 MiB)` */
export function processName({ pid, user, name, usedBytes }: GpuProcessView): string {
  const memory = usedBytes === null ? '' : `, ${formatSize(usedBytes)}`;
  const shown = name.length > 60 ? `${name.slice(0, 59)}…` : name;
  return `${shown}${user === null ? '' : ` of ${user}`} (process ${pid}${memory})`;
}

/** What was known stays listed, with no figures and the reason. */
export function silentView(view: GpuView, reason: string): GpuView {
  return {
    ...view,
    utilizationPercent: null,
    memoryUsedBytes: null,
    temperatureCelsius: null,
    powerWatts: null,
    clockMhz: null,
    memoryClockMhz: null,
    note: 'not answering',
    state: 'SILENT',
    stateReason: `${reason}.`,
  };
}
