/** What runs where as rows of bars: one row a machine for work without a GPU, one a GPU, side by side what was there at once. */
import type { LaneItem, QueueView } from '../../../core/contract/queue.js';
import type { MachineView } from '../../../core/contract/machines.js';
import { queue as words } from '../../strings/queue.js';
import type { TimeRange } from './time-scale.js';

export interface Bar {
  readonly item: LaneItem;
  /** Which of the row's tracks it is in, from the top. */
  readonly track: number;
  /** Of a promised place: the time it is drawn from. */
  readonly fromMs: number;
  /** Infinity when its end is not known. */
  readonly toMs: number;
}

export interface LaneRow {
  readonly key: string;
  /** Only over a machine's first row. */
  readonly machine: string | null;
  readonly label: string;
  /** Machine and label, for the table and screen readers. */
  readonly fullLabel: string;
  readonly bars: readonly Bar[];
  readonly tracks: number;
  readonly barHeight: number;
  readonly top: number;
  readonly height: number;
  readonly reserved: readonly QueueView['reservations'][number][];
}

export interface Lanes {
  readonly rows: readonly LaneRow[];
  readonly height: number;
  readonly bars: number;
}

export interface LaneSource {
  readonly machines: readonly Pick<MachineView, 'id' | 'gpus'>[];
  readonly items: readonly LaneItem[];
  readonly reservations: QueueView['reservations'];
}

export const rowPadding = 4;
/** Heights of bars: fewer tracks get more of it, so that a busy machine does not fill the page. */
const barHeights = [
  { tracks: 2, height: 16 },
  { tracks: 4, height: 11 },
  { tracks: 10, height: 6 },
] as const;
const leastBarHeight = 3;

function barHeightOf(tracks: number): number {
  return barHeights.find((step) => tracks <= step.tracks)?.height ?? leastBarHeight;
}

const isOver = (item: LaneItem): boolean =>
  item.state !== 'PROMISED' &&
  item.state !== 'ASSIGNED' &&
  item.state !== 'BUILDING' &&
  item.state !== 'RUNNING';

/** A promised place begins now; what runs beyond its expected end is still there now. */
function spanOf(item: LaneItem, nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  if (item.state === 'PROMISED') return { fromMs: Math.max(item.fromMs, nowMs), toMs: Infinity };
  if (isOver(item)) return { fromMs: item.fromMs, toMs: item.toMs ?? item.fromMs };
  return { fromMs: item.fromMs, toMs: item.toMs === null ? Infinity : Math.max(item.toMs, nowMs) };
}

/** Each bar in the first track that is free at its start. */
function stacked(items: readonly LaneItem[], nowMs: number): { bars: Bar[]; tracks: number } {
  const spans = items
    .map((item) => ({ item, ...spanOf(item, nowMs) }))
    .sort((a, b) => a.fromMs - b.fromMs || (a.item.taskId < b.item.taskId ? -1 : 1));
  const free: number[] = [];
  const bars = spans.map(({ item, fromMs, toMs }): Bar => {
    let track = free.findIndex((until) => until <= fromMs);
    if (track < 0) track = free.length;
    free[track] = toMs;
    return { item, track, fromMs, toMs };
  });
  return { bars, tracks: Math.max(1, free.length) };
}

interface RowSeed {
  readonly key: string;
  readonly machine: string | null;
  readonly label: string;
  readonly fullLabel: string;
  readonly workerId: string;
  readonly items: LaneItem[];
}

export function laneRows(source: LaneSource, range: TimeRange, nowMs: number): Lanes {
  const seeds = new Map<string, RowSeed>();
  const addMachine = (id: string) => {
    seeds.set(`cpu ${id}`, {
      key: `cpu ${id}`,
      machine: id,
      label: words.processors,
      fullLabel: words.processorsOf(id),
      workerId: id,
      items: [],
    });
  };
  const addGpu = (id: string, uuid: string, label: string, isGone = false) => {
    seeds.set(`gpu ${uuid}`, {
      key: `gpu ${uuid}`,
      machine: isGone ? id : null,
      label,
      fullLabel: words.gpuOf(id, label),
      workerId: id,
      items: [],
    });
  };
  for (const machine of source.machines) {
    addMachine(machine.id);
    for (const gpu of machine.gpus) addGpu(machine.id, gpu.uuid, words.gpu(gpu.index, gpu.variant));
  }
  const seen = source.items.filter((item) => {
    const { fromMs, toMs } = spanOf(item, nowMs);
    return fromMs < range.endMs && toMs >= range.startMs;
  });
  // Machines and cards that are gone by now come last.
  for (const item of seen) {
    if (!seeds.has(`cpu ${item.workerId}`)) addMachine(item.workerId);
    for (const uuid of item.devices)
      if (!seeds.has(`gpu ${uuid}`)) addGpu(item.workerId, uuid, words.goneGpu(uuid), true);
  }
  for (const item of seen) {
    if (item.devices.length === 0) seeds.get(`cpu ${item.workerId}`)?.items.push(item);
    for (const uuid of item.devices) seeds.get(`gpu ${uuid}`)?.items.push(item);
  }
  let top = 0;
  let bars = 0;
  const rows = [...seeds.values()].map((seed): LaneRow => {
    const packed = stacked(seed.items, nowMs);
    const barHeight = barHeightOf(packed.tracks);
    const height = Math.max(24, packed.tracks * (barHeight + 1) + 2 * rowPadding);
    const row: LaneRow = {
      key: seed.key,
      machine: seed.machine,
      label: seed.label,
      fullLabel: seed.fullLabel,
      ...packed,
      barHeight,
      top,
      height,
      reserved: source.reservations.filter((each) => each.workerIds.includes(seed.workerId)),
    };
    top += height;
    bars += packed.bars.length;
    return row;
  });
  return { rows, height: top, bars };
}

/** The row at a height, by halving. */
export function rowAt(rows: readonly LaneRow[], y: number): number {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((rows[middle]?.top ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function barAt(row: LaneRow, y: number, atMs: number, slackMs: number): Bar | null {
  const track = Math.floor((y - row.top - rowPadding) / (row.barHeight + 1));
  const near = row.bars.filter(
    (bar) => bar.track === track && bar.fromMs - slackMs <= atMs && atMs <= bar.toMs + slackMs,
  );
  return near.find((bar) => bar.fromMs <= atMs && atMs <= bar.toMs) ?? near.at(-1) ?? null;
}
