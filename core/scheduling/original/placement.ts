/** Phase 4 of the original (iris-behaviour 3.7): all gangs first, whatever their band, then solo tasks; first fit, one member a machine. */
import type { Rules } from '../rules.js';
import type { Shape } from '../shape.js';
import { isCandidate } from '../shape.js';
import type { Working } from '../working.js';
import type { WorkerTable } from '../worker-table.js';

/** Machines by index, those that meet most preferences first. */
export function candidatesOf(shape: Shape, table: WorkerTable): number[] {
  const found: number[] = [];
  for (const level of shape.levels) {
    for (let worker = 0; worker < table.count; worker += 1) {
      if (((level[worker >>> 5] ?? 0) & (1 << (worker & 31))) !== 0) found.push(worker);
    }
  }
  return found;
}

/** The first machine below the cap of the pass that fits. */
export function firstFit(
  candidates: readonly number[],
  shape: Shape,
  working: Working,
  rules: Rules,
): number {
  for (const worker of candidates) {
    if (rules.maxPerWorker !== null && (working.given[worker] ?? 0) >= rules.maxPerWorker) continue;
    if (working.fitsNow(shape, worker)) return worker;
  }
  return -1;
}

/** Groups that could hold a gang of the shape, by preferences met in all, then in the order of their first machine. */
export function groupsFor(shape: Shape, table: WorkerTable): number[][] {
  const score = (worker: number) => {
    const level = shape.levels.findIndex((set) => ((set[worker >>> 5] ?? 0) & (1 << (worker & 31))) !== 0);
    return shape.scores[level] ?? 0;
  };
  return table
    .groups(shape.gangBy ?? '')
    .members.map((members) => Array.from(members).filter((worker) => isCandidate(shape, worker)))
    .filter((members) => members.length > 0)
    .map((members) => ({ members, score: members.reduce((sum, worker) => sum + score(worker), 0) }))
    .sort((left, right) => right.score - left.score)
    .map(({ members }) => members);
}

/** Machines in the order members are numbered in: by `tpu-worker-id`, 0 where there is none. */
export function inMemberOrder(workers: readonly number[], table: WorkerTable): number[] {
  const column = table.column('tpu-worker-id');
  const number = (worker: number) => Number(column.values[column.of[worker] ?? -1] ?? 0);
  return workers.toSorted((left, right) => number(left) - number(right) || left - right);
}

/** The first group with a fitting machine for each member; null when there is none. */
export function firstGroup(shape: Shape, size: number, working: Working): number[] | null {
  for (const members of groupsFor(shape, working.table)) {
    const fitting = members.filter((worker) => working.fitsNow(shape, worker));
    if (fitting.length >= size) return inMemberOrder(fitting, working.table).slice(0, size);
  }
  return null;
}
