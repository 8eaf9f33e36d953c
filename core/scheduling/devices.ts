/** Which cards of a machine a task gets: those joined by a fast link, else on one memory node, else the lowest numbers. */
import type { Shape } from './shape.js';
import type { WorkerTable } from './worker-table.js';

/**
 * Positions of `shape.gpus` cards among those that `free` allows; fewer when there are not so many. From the tightest neighbourhood
 * that holds them all, so that larger ones stay whole; lowest index first within it. `byIndex` looks at no neighbourhood, and for
 * tasks that share `shared` chooses.
 */
export function chooseDevices(
  table: WorkerTable,
  worker: number,
  shape: Pick<Shape, 'gpus' | 'row'>,
  free: (at: number) => boolean,
  byIndex = false,
  shared: { pick(open: readonly number[], count: number): readonly number[] } | null = null,
): readonly number[] {
  const open: number[] = [];
  const end = table.deviceStart[worker + 1] ?? 0;
  for (let at = table.deviceStart[worker] ?? 0; at < end; at += 1) {
    if ((shape.row === 0 || table.deviceRow[at] === shape.row) && free(at)) open.push(at);
  }
  if (open.length <= shape.gpus) return open;
  if (shared !== null) return shared.pick(open, shape.gpus);
  if (byIndex) return open.slice(0, shape.gpus);
  return (
    tightest(open, table.deviceLink, shape.gpus) ??
    tightest(open, table.deviceNuma, shape.gpus) ??
    fewestNodes(open, table, shape.gpus)
  );
}

/** Null when no neighbourhood that the machine reports holds so many. */
function tightest(open: readonly number[], groupOf: Int32Array, count: number): readonly number[] | null {
  let best: number[] | null = null;
  for (const group of neighbourhoods(open, groupOf)) {
    if (group.length >= count && (best === null || group.length < best.length)) best = group;
  }
  return best === null ? null : best.slice(0, count);
}

/** In the order of their first card; cards whose neighbourhood is not reported are in none. */
function neighbourhoods(open: readonly number[], groupOf: Int32Array): number[][] {
  const groups = new Map<number, number[]>();
  for (const at of open) {
    const group = groupOf[at] ?? -1;
    if (group < 0) continue;
    const list = groups.get(group);
    if (list === undefined) groups.set(group, [at]);
    else list.push(at);
  }
  return [...groups.values()];
}

/** Whole neighbourhoods, the largest first, then the rest by index. */
function fewestNodes(open: readonly number[], table: WorkerTable, count: number): readonly number[] {
  const links = neighbourhoods(open, table.deviceLink);
  const groups = links.length > 0 ? links : neighbourhoods(open, table.deviceNuma);
  const chosen = new Set<number>();
  for (const group of groups.sort((left, right) => right.length - left.length)) {
    for (const at of group) if (chosen.size < count) chosen.add(at);
  }
  for (const at of open) if (chosen.size < count) chosen.add(at);
  return [...chosen].sort((left, right) => left - right);
}
