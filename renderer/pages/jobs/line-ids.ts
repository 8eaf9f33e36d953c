/** Jobs by the lines they are on. */
import type { ListStructure } from './list-structure.js';

/** The nearest line that holds a job, going `step` from `line`. */
export function jobLine(
  structure: ListStructure,
  line: number,
  step: 1 | -1,
): { readonly line: number; readonly id: string } | null {
  for (let at = line; at >= 0 && at < structure.length; at += step) {
    const row = structure.rowAt(at);
    if (row.kind === 'job') return { line: at, id: row.id };
    // Not fetched yet: it will be there in a moment; going further would skip unseen rows.
    if (row.kind === 'skeleton') return null;
  }
  return null;
}

/** Whether, going `step` from `line`, a row that is still being fetched comes before any job. */
export function isFetched(structure: ListStructure, line: number, step: 1 | -1): boolean {
  for (let at = line; at >= 0 && at < structure.length; at += step) {
    const { kind } = structure.rowAt(at);
    if (kind === 'job' || kind === 'skeleton') return kind === 'skeleton';
  }
  return false;
}

/** Ids of the lines from one job to another. */
export function idsBetween(structure: ListStructure, from: string, to: string): string[] {
  const a = structure.lineOf(from);
  const b = structure.lineOf(to);
  if (a < 0 || b < 0) return [to];
  const ids: string[] = [];
  for (let line = Math.min(a, b); line <= Math.max(a, b); line += 1) {
    const row = structure.rowAt(line);
    if (row.kind === 'job') ids.push(row.id);
  }
  return ids;
}

/** Whether there are lines between two jobs whose rows are not loaded. */
export function hasGap(structure: ListStructure, from: string, to: string): boolean {
  const a = structure.lineOf(from);
  const b = structure.lineOf(to);
  if (a < 0 || b < 0) return false;
  for (let line = Math.min(a, b); line <= Math.max(a, b); line += 1)
    if (structure.rowAt(line).kind === 'skeleton') return true;
  return false;
}
