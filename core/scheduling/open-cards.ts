/** Cards a machine could give to a task of a shape: whole ones, or a share of one. */
import type { Shape } from './shape.js';
import { couldHold } from './sharing.js';
import type { Working } from './working.js';

/** At once. */
export function cardsNow(working: Working, shape: Shape, worker: number): number {
  const { nowCards, table } = working;
  if (shape.sharedBytes === null) return nowCards[shape.row * table.count + worker] ?? 0;
  return count(working, shape, worker, isOpenNow);
}

/** When those on their way out are gone; for who shares, whole ones. */
export function cardsLater(working: Working, shape: Shape, worker: number): number {
  const { laterCards, table } = working;
  if (shape.sharedBytes === null) return laterCards[shape.row * table.count + worker] ?? 0;
  return count(working, shape, worker, isOpenLater);
}

/** Of those it could be given at once, the ones that others share already; no more than it needs. */
export function cardsToJoin(working: Working, shape: Shape, worker: number): number {
  const joins = (_: Working, __: Shape, at: number) =>
    working.shared.isShared(at) && isOpenNow(working, shape, at);
  return Math.min(shape.gpus, count(working, shape, worker, joins));
}

export function isOpenNow(working: Working, shape: Shape, at: number): boolean {
  const { shared, table } = working;
  const free = working.isNow(at);
  if (shape.sharedBytes === null || table.deviceOk[at] === 0) return free;
  return (free || shared.isShared(at)) && shared.hasShare(at, shape.sharedBytes);
}

export function isOpenLater(working: Working, shape: Shape, at: number): boolean {
  if (!working.isLater(at)) return false;
  if (shape.sharedBytes === null) return true;
  if (!couldHold(working.table.deviceMemory[at], shape.sharedBytes)) return false;
  return !working.isNow(at) || isOpenNow(working, shape, at);
}

type Opens = (working: Working, shape: Shape, at: number) => boolean;

function count(working: Working, shape: Shape, worker: number, opens: Opens): number {
  const { table } = working;
  let found = 0;
  for (let at = table.deviceStart[worker] ?? 0; at < (table.deviceStart[worker + 1] ?? 0); at += 1)
    if ((shape.row === 0 || table.deviceRow[at] === shape.row) && opens(working, shape, at)) found += 1;
  return found;
}
