/** From pages of root jobs and opened children to lines on the screen: positions, not contents. */
import type { Refusal } from '../../../core/contract/errors.js';
import type { SlotsView } from './slots.js';

export interface ChildList {
  readonly ids: readonly string[];
  readonly total: number | null;
  readonly loading: boolean;
  readonly error: Refusal | null;
}

export type ListRow =
  | { readonly kind: 'job'; readonly id: string; readonly depth: number; readonly open: boolean }
  | { readonly kind: 'skeleton'; readonly depth: number }
  | { readonly kind: 'more'; readonly parentId: string; readonly remaining: number; readonly depth: number }
  | { readonly kind: 'failed'; readonly parentId: string; readonly refusal: Refusal; readonly depth: number };

export interface ListStructure {
  /** Root jobs the query has; null before the first answer. */
  readonly total: number | null;
  /** Lines, opened children included. */
  readonly length: number;
  /** No tree: rows of every depth in one order. */
  readonly flat: boolean;
  readonly error: Refusal | null;
  readonly rowAt: (index: number) => ListRow;
  /** Line of a job, or -1 when it is not among the loaded ones. */
  readonly lineOf: (id: string) => number;
  /** The root job at or above a line. */
  readonly rootIndexAt: (index: number) => number;
}

export interface StructureInput {
  readonly total: number | null;
  /** As they are now, for as long as the structure is used. */
  readonly slots: SlotsView;
  readonly indexOf: ReadonlyMap<string, number>;
  readonly children: ReadonlyMap<string, ChildList>;
  readonly expanded: ReadonlySet<string>;
  readonly error: Refusal | null;
  readonly flat: boolean;
}

const skeleton: ListRow = { kind: 'skeleton', depth: 0 };

export const emptyStructure: ListStructure = {
  total: null,
  length: 0,
  flat: false,
  error: null,
  rowAt: () => skeleton,
  lineOf: () => -1,
  rootIndexAt: () => 0,
};

/** Lines below one opened root. */
interface Block {
  readonly rootIndex: number;
  /** Line of the first one. */
  readonly start: number;
  readonly rows: readonly ListRow[];
}

function descendants(input: StructureInput, parentId: string, depth: number, into: ListRow[]): void {
  const list = input.children.get(parentId);
  if (list === undefined) return;
  for (const id of list.ids) {
    const open = input.expanded.has(id);
    into.push({ kind: 'job', id, depth, open });
    if (open) descendants(input, id, depth + 1, into);
  }
  if (list.error !== null) into.push({ kind: 'failed', parentId, refusal: list.error, depth });
  else if (list.total === null) into.push({ kind: 'skeleton', depth });
  else if (list.total > list.ids.length) {
    into.push({ kind: 'more', parentId, remaining: list.total - list.ids.length, depth });
  }
}

export function buildStructure(input: StructureInput): ListStructure {
  const { slots } = input;
  // The list's own map, which goes on changing: what it says of these slots is checked, not copied for each page of rows.
  const indexOf = {
    get(id: string): number | undefined {
      const index = input.indexOf.get(id);
      return index !== undefined && slots.at(index) === id ? index : undefined;
    },
  };
  const blocks: Block[] = [];
  const childLine = new Map<string, number>();
  let extra = 0;
  if (!input.flat) {
    const opened = [...input.expanded].flatMap((id) => {
      const rootIndex = indexOf.get(id);
      return rootIndex === undefined ? [] : [{ id, rootIndex }];
    });
    opened.sort((a, b) => a.rootIndex - b.rootIndex);
    for (const { id, rootIndex } of opened) {
      const rows: ListRow[] = [];
      descendants(input, id, 1, rows);
      const start = rootIndex + extra + 1;
      rows.forEach((row, offset) => {
        if (row.kind === 'job') childLine.set(row.id, start + offset);
      });
      blocks.push({ rootIndex, start, rows });
      extra += rows.length;
    }
  }

  /** The last block that starts at or before the line, by halving. */
  function blockBefore(line: number, startOf: (block: Block) => number): Block | null {
    let low = 0;
    let high = blocks.length - 1;
    let found: Block | null = null;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const block = blocks[middle];
      if (block === undefined) break;
      if (startOf(block) <= line) {
        found = block;
        low = middle + 1;
      } else high = middle - 1;
    }
    return found;
  }

  function rootIndexAt(line: number): number {
    const block = blockBefore(line, (candidate) => candidate.start);
    if (block === null) return line;
    const past = line - block.start - block.rows.length;
    return past < 0 ? block.rootIndex : block.rootIndex + 1 + past;
  }

  return {
    total: input.total,
    length: (input.total ?? 0) + extra,
    flat: input.flat,
    error: input.error,
    rowAt(line) {
      const block = blockBefore(line, (candidate) => candidate.start);
      const child = block?.rows[line - block.start];
      if (child !== undefined) return child;
      const id = slots.at(rootIndexAt(line));
      return id === undefined
        ? skeleton
        : { kind: 'job', id, depth: 0, open: !input.flat && input.expanded.has(id) };
    },
    lineOf(id) {
      const root = indexOf.get(id);
      if (root === undefined) return childLine.get(id) ?? -1;
      const block = blockBefore(root - 1, (candidate) => candidate.rootIndex);
      return block === null ? root : block.start + block.rows.length + (root - block.rootIndex - 1);
    },
    rootIndexAt: (line) => Math.max(0, Math.min((input.total ?? 1) - 1, rootIndexAt(line))),
  };
}
